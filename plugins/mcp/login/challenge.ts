import type { CredentialRefusal } from '#lib/mcp-transport'
import { responseOf } from './metadata-request.ts'

/** What a server says of the credential that it wants. */
export interface Challenge {
  readonly error?: string
  readonly scope?: string
  readonly resource_metadata?: string
}

/** Reads the challenge of scheme Bearer in an answer of 401 or 403; one without members if there is none. */
export const challengeOf = async ({ status, headers }: CredentialRefusal): Promise<Challenge> => {
  const { customFetch, protectedResourceRequest, WWWAuthenticateChallengeError } = await import('oauth4webapi')
  try {
    // the library reads challenges of protected resources alone
    await protectedResourceRequest('none', 'GET', new URL('https://localhost'), undefined, undefined, {
      [customFetch]: async () => responseOf({ status, headers }),
    })
    return {}
  } catch (error) {
    if (!(error instanceof WWWAuthenticateChallengeError)) return {}
    const { parameters } = error.cause.find(({ scheme }) => scheme === 'bearer') ?? {}
    const scope = scopesIn(parameters?.scope).join(' ')
    return {
      ...(parameters?.error === undefined ? {} : { error: parameters.error }),
      ...(scope === '' ? {} : { scope }),
      ...(parameters?.resource_metadata === undefined ? {} : { resource_metadata: parameters.resource_metadata }),
    }
  }
}

const MAX_SCOPES = 50
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/

/** The scopes in a text, each once; what is no scope is left out. */
export const scopesIn = (text: unknown): readonly string[] =>
  typeof text === 'string' ? scopeList(text.slice(0, 8_192).split(' ')) : []

/** The scopes of a list, each once; what is no scope is left out. */
export const scopeList = (list: unknown): readonly string[] =>
  Array.isArray(list)
    ? [...new Set(list.filter((scope): scope is string => typeof scope === 'string' && SCOPE.test(scope)))].slice(
        0,
        MAX_SCOPES,
      )
    : []
