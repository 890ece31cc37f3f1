import type { Gateway } from 'guard-gateway/core'
import { byHeaderName, headerText, holdsOwnKey, isCredentialName } from '#lib/http'
import { bearerToken } from './credentials.ts'

/** A request's headers without keys and `content-length`, and the client's own credentials apart. */
export interface InboundHeaders {
  /** Names in lower case, values as text. */
  readonly headers: Readonly<Record<string, string>>
  /** Name, value, name, value … as they came. */
  readonly raw: readonly string[]
  /** The client's own provider credentials, name and value in turn; never a key of the gateway. */
  readonly login: readonly string[]
}

/** Never credentials of a model provider. */
const notLogins = new Set(['cookie', 'cookie2', 'proxy-authorization', 'x-guard-key'])

/** In place of the name `content-length`, which describes the body alone. */
const LENGTH = ''
/** The name in lower case, or null for the name of a credential. */
const plainName = byHeaderName((lower) =>
  lower === 'content-length' ? LENGTH : isCredentialName(lower) ? null : lower,
)
const isKeyHeader = byHeaderName(
  (lower) => lower === 'authorization' || lower === 'x-api-key' || lower === 'x-guard-key',
)
const isAuthorization = byHeaderName((lower) => lower === 'authorization')

/** Separates credentials from the other headers of a request. `keyCount`: how many keys it showed, of which one is ours. */
export const readInboundHeaders = (
  gateway: Gateway,
  rawHeaders: readonly string[],
  keyCount: number,
): InboundHeaders => {
  const headers: Record<string, string> = Object.create(null)
  const raw: string[] = []
  let login: string[] | undefined
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    const value = rawHeaders[index + 1] ?? ''
    const lower = plainName(name)
    if (isLeftOut(lower, name, value, keyCount)) continue
    if (lower === null) login = withLogin(gateway, login, name, value)
    else if (!holdsOwnKey(gateway.secrets, value)) {
      raw.push(name, value)
      headers[lower] = joined(headers[lower], headerText(value))
    }
  }
  return { headers, raw, login: login ?? [] }
}

/** The length of the body, or the one key that was shown, which is ours. */
const isLeftOut = (lower: string | null, name: string, value: string, keyCount: number): boolean =>
  lower === LENGTH || (lower === null && keyCount <= 1 && isKeyHeader(name) && !isOtherScheme(name, value))

/** An authorization that shows no key, but may be a login: by name and password, for example. */
const isOtherScheme = (name: string, value: string): boolean =>
  isAuthorization(name) && bearerToken(value) === undefined

const joined = (before: string | undefined, value: string): string =>
  before === undefined ? value : `${before}, ${value}`

const withLogin = (
  gateway: Gateway,
  login: string[] | undefined,
  name: string,
  value: string,
): string[] | undefined => {
  const bare = bearerToken(value) ?? value
  if (
    notLogins.has(name.toLowerCase()) ||
    holdsOwnKey(gateway.secrets, value) ||
    gateway.keys.identify([bare]) !== undefined
  )
    return login
  return [...(login ?? []), name, value]
}
