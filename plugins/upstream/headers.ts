import type { Secrets } from 'guard-gateway/core'
import { byHeaderName, holdsOwnKey, isCredentialName } from '#lib/http'
import type { Auth } from './options.ts'

const hopByHop = ['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade']
const droppedRequestHeaders = new Set([
  ...hopByHop,
  'host',
  'expect',
  'content-length',
  'forwarded',
  'via',
  'x-real-ip',
  'x-client-session-id',
  'accept-encoding',
])
const droppedResponseHeaders = new Set([
  ...hopByHop,
  'set-cookie',
  'set-cookie2',
  'alt-svc',
  'clear-site-data',
  'strict-transport-security',
])

/** What is done with a header on its way up. */
const PASS = 0
const DROP = 1
const CONNECTION = 2
const PROVIDER_VERSION = 3
const ANTHROPIC_VERSION = 4

const requestHeaderAction = (lower: string): number => {
  if (lower === 'connection') return CONNECTION
  if (lower === 'provider-version') return PROVIDER_VERSION
  if (lower === 'anthropic-version') return ANTHROPIC_VERSION
  const local = lower.startsWith('x-guard-') || lower.startsWith('x-forwarded-') || lower.startsWith('proxy-')
  return local || droppedRequestHeaders.has(lower) || isCredentialName(lower) ? DROP : PASS
}

/** What the headers of every request to one upstream have in common. */
export interface HeaderRules {
  /** Value of `host`. */
  readonly host: string
  readonly auth: Auth
  readonly api_key: string | undefined
  /** Name, value, name, value …; set last, in place of whatever else would have such a name. */
  readonly fixed: readonly string[]
  /** The names of these in lower case. */
  readonly own: ReadonlySet<string>
  /** What is done with a header of this name. */
  readonly action: (spelled: string) => number
}

export const headerRules = (
  host: string,
  auth: Auth,
  api_key: string | undefined,
  headers: Readonly<Record<string, string>>,
): HeaderRules => {
  const own = new Set(Object.keys(headers).map((name) => name.toLowerCase()))
  const action = byHeaderName((lower) => (own.has(lower) ? DROP : requestHeaderAction(lower)))
  return { host, auth, api_key, fixed: Object.entries(headers).flat(), own, action }
}

/** A request whose headers go up. */
export interface Outbound {
  /** Name, value, name, value … as they came. */
  readonly raw: readonly string[]
  /** The client's own credentials, in the same form; used only where the upstream passes logins through. */
  readonly login: readonly string[]
  readonly style: string
  /** Where the style shows its key; undefined: as a bearer token. */
  readonly key_header?: string | undefined
  /** Undefined: no body is sent. */
  readonly length: number | undefined
}

/** The only maker of an upstream's request headers. Keeps order and spelling of what passes; no result holds a key of this gateway. */
export const upstreamRequestHeaders = (rules: HeaderRules, outbound: Outbound, secrets: Secrets): string[] => {
  const { raw, style } = outbound
  const { headers, version } = forwardedHeaders(rules, raw, secrets)
  if (style === 'messages' && version !== '') headers.push('anthropic-version', version)
  if (rules.auth === 'passthrough') headers.push(...loginFor(rules, outbound, secrets))
  addFinalHeaders(headers, rules, outbound)
  return headers
}

/** What of a client's headers passes, after the upstream's `host`. */
interface ForwardedHeaders {
  readonly headers: string[]
  /** The version to add for a client that gives it under its neutral name only, or empty. */
  readonly version: string
}

const forwardedHeaders = (rules: HeaderRules, raw: readonly string[], secrets: Secrets): ForwardedHeaders => {
  const headers = rules.own.has('host') ? [] : ['host', rules.host]
  const named = connectionOptions(raw)
  let version = rules.own.has('anthropic-version') ? '' : undefined
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = raw[index] ?? ''
    const value = raw[index + 1] ?? ''
    const action = rules.action(name)
    if (action !== DROP && action !== CONNECTION && !named?.has(name.toLowerCase()) && !holdsOwnKey(secrets, value)) {
      headers.push(name, value)
      version = versionFrom(action, value, version)
    }
  }
  return { headers, version: version ?? '' }
}

/** The version to add for a client that gives it under its neutral name only; empty once it has come under its own. */
const versionFrom = (action: number, value: string, before: string | undefined): string | undefined => {
  if (action === ANTHROPIC_VERSION) return ''
  return action === PROVIDER_VERSION && before === undefined ? value : before
}

const addFinalHeaders = (headers: string[], rules: HeaderRules, { key_header, length }: Outbound): void => {
  if (!rules.own.has('accept-encoding')) headers.push('accept-encoding', 'identity')
  if (length !== undefined) headers.push('content-length', String(length))
  pushKey(headers, rules, key_header)
  for (const text of rules.fixed) headers.push(text)
}

const pushKey = (headers: string[], { auth, api_key, own }: HeaderRules, key_header = 'authorization'): void => {
  if (api_key === undefined || auth === 'none' || auth === 'passthrough') return
  const name = auth === 'auto' ? key_header : auth === 'bearer' ? 'authorization' : auth
  if (!own.has(name)) headers.push(name, name === 'authorization' ? `Bearer ${api_key}` : api_key)
}

/** The client's own login as it goes up, without anything that is a key of ours, meant for this connection alone, or set by the upstream's options. */
export const loginFor = (
  { own }: HeaderRules,
  { raw, login }: Pick<Outbound, 'raw' | 'login'>,
  secrets: Secrets,
): string[] => {
  const retained: string[] = []
  const named = connectionOptions(raw)
  for (let index = 0; index + 1 < login.length; index += 2) {
    const name = login[index] ?? ''
    const value = login[index + 1] ?? ''
    const lower = name.toLowerCase()
    const isOut = named?.has(lower) || own.has(lower)
    if (!isOut && !lower.startsWith('x-guard-') && lower !== 'cookie' && !holdsOwnKey(secrets, value))
      retained.push(name, value)
  }
  return retained
}

/** The names that `connection` headers give to this connection alone; undefined for the usual words. */
const connectionOptions = (raw: readonly string[]): ReadonlySet<string> | undefined => {
  let named: ReadonlySet<string> | undefined
  for (let index = 0; index + 1 < raw.length; index += 2)
    if (isConnection(raw[index] ?? '')) named = withOptions(named, (raw[index + 1] ?? '').toLowerCase())
  return named
}

const isConnection = (name: string): boolean =>
  name.length === 'connection'.length && name.toLowerCase() === 'connection'

const withOptions = (named: ReadonlySet<string> | undefined, value: string): ReadonlySet<string> | undefined => {
  // what nearly everybody says
  if (value === 'keep-alive' || value === 'close') return named
  const words = value.split(',').map((word) => word.trim())
  const further = words.filter((word) => word !== 'keep-alive' && word !== 'close')
  return further.length === 0 ? named : new Set([...(named ?? []), ...further])
}

const isDroppedFromResponse = byHeaderName(
  (lower) =>
    droppedResponseHeaders.has(lower) ||
    lower.startsWith('access-control-') ||
    lower.startsWith('x-guard-') ||
    lower.startsWith('proxy-'),
)

/** The headers of an upstream's reply that a client gets, in order; `whole`: the body passes as it came, so its length stays true. */
export const clientResponseHeaders = (raw: readonly string[], secrets: Secrets, whole = true): string[] => {
  const headers: string[] = []
  const named = connectionOptions(raw)
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = raw[index] ?? ''
    const value = raw[index + 1] ?? ''
    if (isDroppedFromResponse(name) || named?.has(name.toLowerCase()) || secrets.holds(value)) continue
    if (!whole && name.toLowerCase() === 'content-length') continue
    headers.push(name, value)
  }
  return headers
}
