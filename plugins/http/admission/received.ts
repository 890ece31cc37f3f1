import { byHeaderName, type Gateway, holdsOwnKey, isCredentialName } from 'guard-gateway/core'
import { bearerToken } from './credentials.ts'

/** A request's headers as others may see them, and what was taken out. */
export interface Received {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Name, value, name, value … as they came. */
  readonly raw: readonly string[]
  /** The client's own provider credentials, name and value in turn; never a key of the gateway. */
  readonly login: readonly string[]
}

/** Never anybody's login at a model provider: local, or ours. */
const notLogins = new Set(['cookie', 'cookie2', 'proxy-authorization', 'x-guard-key'])

/** The name in lower case, or null for the name of a credential. */
const plainName = byHeaderName((lower) => (isCredentialName(lower) ? null : lower))

/** Parts credentials from the other headers of a request. `shown`: how many keys it showed, of which one is ours. */
export const receive = (gateway: Gateway, rawHeaders: readonly string[], shown: number): Received => {
  const headers: Record<string, string> = Object.create(null)
  const raw: string[] = []
  let login: string[] | undefined
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    const value = rawHeaders[index + 1] ?? ''
    const lower = plainName(name)
    if (lower === null) {
      // the one key that was shown is ours
      if (shown > 1 || !isKeyHeader(name)) login = withLogin(gateway, login, name, value)
    } else if (!holdsOwnKey(gateway.secrets, value)) {
      raw.push(name, value)
      headers[lower] = joined(headers[lower], value)
    }
  }
  return { headers, raw, login: login ?? [] }
}

const joined = (before: string | undefined, value: string): string =>
  before === undefined ? value : `${before}, ${value}`

const isKeyHeader = (name: string): boolean => {
  const lower = name.toLowerCase()
  return lower === 'authorization' || lower === 'x-api-key' || lower === 'x-guard-key'
}

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
