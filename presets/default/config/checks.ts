import { isLoopback, peerError } from 'guard-gateway/plugins/http'
import { isCredentialName } from '#lib/http'
import { isTimeZone } from '#lib/time'
import { PLAYGROUND_UPSTREAM } from '#lib/trace'
import { addressError, headerError, originErrors } from './check-http.ts'
import { mcpErrors } from './checks-mcp.ts'
import { notifyErrors } from './checks-notify.ts'
import { at, type ConfigError, type Path } from './config-errors.ts'
import { proxyError } from './network.ts'
import type { Config } from './schema.ts'
import type { AuditPlaceConfig, OtlpReceiverConfig } from './schema-otlp.ts'
import type { UpstreamConfig } from './schema-upstreams.ts'

const placeholders = /^(<.*>|change[-_]?me|your[-_]?key|gateway[-_]?key|secret|password|x+|\.+)$/i

/** Error of a gateway key, without the key itself; undefined if it is valid. */
export const keyError = (key: string): string | undefined => {
  if (key === '') return 'the key is empty; any client could use the gateway'
  if (placeholders.test(key) || key.includes('${'))
    return 'the key is a placeholder; replace it by a secret of your own'
  if (!/^[\x21-\x7e]+$/.test(key))
    return 'the key holds a blank or a character outside printable ASCII, which no client can send in a header'
}

/** Error of an approver key, without the key itself. */
const approverKeyError = ({ gateway_key, mcp: { approver_key } }: Config): string | undefined => {
  if (approver_key === '' || /^sha256:[0-9a-f]{64}$/i.test(approver_key)) return undefined
  if (/^sha256:/i.test(approver_key)) return 'expected 64 hexadecimal digits behind sha256:'
  if (approver_key === gateway_key) return 'is the gateway key, which every agent has'
  if (!/^[\x21-\x7e]+( +[\x21-\x7e]+)*$/.test(approver_key))
    return 'begins or ends with a blank, or holds a character outside printable ASCII, which no client can send in a header'
}

/** Checks beyond the schema, for a configuration that matches it. */
export const configErrors = (config: Config): readonly ConfigError[] => {
  const names = config.upstreams.map(({ name }) => name)
  return [
    ...at(['gateway_key'], keyError(config.gateway_key)),
    ...at(['mcp', 'approver_key'], approverKeyError(config)),
    ...authProxyErrors(config.server.auth_proxy),
    ...tlsErrors(config.server.tls),
    ...originErrors(config.server.allowed_origins, ['server', 'allowed_origins']),
    ...at(['network', 'proxy'], proxyError(config.network.proxy)),
    ...at(['budgets', 'time_zone'], zoneError(config.budgets.time_zone)),
    ...config.upstreams.flatMap((upstream, index) => upstreamErrors(upstream, names, ['upstreams', index])),
    ...config.replay.otlp_export.flatMap((receiver, index) =>
      receiverErrors(receiver, ['replay', 'otlp_export', index]),
    ),
    ...config.mcp.audit_export.flatMap((place, index) => placeErrors(place, ['mcp', 'audit_export', index])),
    ...mcpErrors(config),
    ...notifyErrors(config),
  ]
}

const tlsErrors = ({ cert, key }: Config['server']['tls']): readonly ConfigError[] =>
  (cert === '') === (key === '')
    ? []
    : at(['server', 'tls', cert === '' ? 'cert' : 'key'], 'is missing: a certificate and its key are named together')

const zoneError = (zone: string): string | undefined =>
  zone === '' || isTimeZone(zone)
    ? undefined
    : `there is no time zone ${JSON.stringify(zone)}; name one like "Europe/Berlin" or "UTC", or leave it empty for that of the system`

const upstreamErrors = (upstream: UpstreamConfig, names: readonly string[], path: Path): readonly ConfigError[] => {
  const { name, base_url, proxy, fallback, headers, paths } = upstream
  return [
    ...at([...path, 'name'], names.indexOf(name) === path[1] ? undefined : `"${name}" names two upstreams`),
    ...at(
      [...path, 'name'],
      name === PLAYGROUND_UPSTREAM ? `"${name}" is the name of the upstream that the Playground plays` : undefined,
    ),
    ...at([...path, 'base_url'], urlError(base_url)),
    ...at([...path, 'proxy'], proxyError(proxy)),
    ...keyErrors(upstream, path),
    ...fallback.flatMap((other, index) => at([...path, 'fallback', index], fallbackError(other, name, names))),
    ...Object.entries(headers).flatMap(([key, value]) => at([...path, 'headers', key], fixedHeaderError(key, value))),
    ...Object.entries(paths).flatMap(([style, route]) =>
      at([...path, 'paths', style], route.startsWith('/') ? undefined : 'must begin with a slash'),
    ),
  ]
}

const receiverErrors = ({ url, proxy, headers }: OtlpReceiverConfig, path: Path): readonly ConfigError[] => [
  ...at([...path, 'url'], addressError(URL.parse(url), 'headers')),
  ...at([...path, 'proxy'], proxyError(proxy)),
  ...Object.entries(headers).flatMap(([key, value]) =>
    at([...path, 'headers', key], ownHeaders.test(key) ? 'is set by the gateway itself' : headerError(key, value)),
  ),
]

const placeErrors = (place: AuditPlaceConfig, path: Path): readonly ConfigError[] => {
  const { url, file } = place
  if (url !== undefined && file !== undefined) return at(path, 'has both url and file; give each an entry of its own')
  if (url !== undefined) return receiverErrors({ ...place, url }, path)
  return file === undefined ? at(path, 'the key url or file is missing') : []
}

const ownHeaders =
  /^(?:host|connection|upgrade|expect|accept-encoding|content-(?:type|encoding|length)|transfer-encoding)$/i

const fixedHeaderError = (name: string, value: string): string | undefined =>
  /^(?:content-length|transfer-encoding)$/i.test(name)
    ? 'follows from the body, so the gateway sends it itself; remove it'
    : headerError(name, value)

const fallbackError = (other: string, name: string, names: readonly string[]): string | undefined =>
  other !== name && names.includes(other) ? undefined : `"${other}" is no other upstream; there is ${names.join(', ')}`

const urlError = (text: string): string | undefined => {
  const url = URL.parse(text)
  const tail = url?.search || url?.hash ? 'must end with the path, without ? and #' : undefined
  return addressError(url, 'api_key or headers') ?? tail
}

/** Warning about `default_mode: enforce` for projects without a policy. */
export const DEFAULT_ENFORCED =
  'default_mode: enforce holds with the default rules, which also stop a third attempt after two failures of the provider, checks that are run again after edits, and any session after 50 requests or 100,000 tokens, cache reads included. "preset: enforce-recommended" stops what is surely stuck and flags the rest.'

/** Warnings at start. */
export const configWarnings = (
  config: Config,
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] => {
  const warnings: string[] = []
  if (config.gateway_key.length < 16)
    warnings.push('gateway_key has fewer than 16 characters and can be guessed; use a longer one.')
  if (config.upstreams.length === 0) {
    warnings.push(
      'No upstream: set OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY, or add one under upstreams in the configuration file.',
    )
  }
  if (config.default_mode === 'enforce' && config.preset === 'default') warnings.push(DEFAULT_ENFORCED)
  warnings.push(...unencrypted(config))
  warnings.push(...config.upstreams.flatMap(keyWarnings), ...skippedFallbacks(config), ...unserved(config))
  if (env.NODE_TLS_REJECT_UNAUTHORIZED === '0')
    warnings.push('NODE_TLS_REJECT_UNAUTHORIZED=0: nothing checks whom the upstreams are.')
  return warnings
}

/** A client's login is sent only to its own upstream, so passthrough upstreams cannot be fallbacks. */
const skippedFallbacks = ({ upstreams }: Config): readonly string[] => {
  const onLogins = new Set(upstreams.filter(({ auth }) => auth === 'passthrough').map(({ name }) => name))
  return upstreams.flatMap(({ name, fallback }) =>
    fallback
      .filter((other) => onLogins.has(other))
      .map(
        (other) =>
          `Upstream ${name} never falls back to ${other}: auth: passthrough takes a login, and no login goes to a stand-in.`,
      ),
  )
}

/** Whether some upstream gets the requests of a project. */
export const servesProject = (upstreams: readonly UpstreamConfig[], project: string): boolean =>
  upstreams.some(({ projects }) => projects.length === 0 || projects.includes(project))

const unserved = ({ upstreams, server }: Config): readonly string[] => {
  if (upstreams.length === 0) return []
  const named = ['default', ...Object.values(server.auth_proxy?.projects ?? {}).flat()]
  return [...new Set(named)]
    .filter((project) => !servesProject(upstreams, project))
    .map(
      (project) =>
        `No upstream serves project ${project}: each entry of upstreams has projects, and none names it. Its requests get NO_UPSTREAM.`,
    )
}

const unencrypted = ({ upstreams, replay, mcp, notify }: Config): readonly string[] =>
  [
    ...upstreams.map(({ name, base_url }) => [`Upstream ${name} is reached`, new URL(base_url)] as const),
    ...replay.otlp_export.map(({ url }) => ['Spans are sent', new URL(url)] as const),
    ...mcp.audit_export.flatMap(({ url }) =>
      url === undefined ? [] : [['Audit records are sent', new URL(url)] as const],
    ),
    ...Object.values(notify.receivers).flatMap(({ url = '' }) => {
      const address = URL.parse(url)
      return address === null ? [] : [['Notifications are sent', address] as const]
    }),
  ]
    .filter(([, { protocol, hostname }]) => protocol === 'http:' && !isLoopback(hostname))
    .map(([what, { origin }]) => `${what} without encryption: ${origin}.`)

const PATH: Path = ['server', 'auth_proxy']
/** Headers that mean something else here. */
const TAKEN =
  /^(?:host|origin|connection|content-.*|transfer-encoding|mcp-.*|sec-.*|x-guard-.*|x-forwarded-(?:for|proto|host))$/

/** Errors of `server.auth_proxy`. */
const authProxyErrors = (options: Config['server']['auth_proxy']): readonly ConfigError[] => {
  const { header, groups_header, from, scopes, groups, projects } = options
  const isEmpty = [from, ...[scopes, groups, projects].map(Object.keys)].every(({ length }) => length === 0)
  if (header === '')
    return at(
      [...PATH, 'header'],
      isEmpty && groups_header === '' ? undefined : 'is missing: name the header that the proxy sets',
    )
  return [
    ...at([...PATH, 'header'], nameError(header)),
    ...at([...PATH, 'groups_header'], groups_header === '' ? undefined : nameError(groups_header)),
    ...at(
      [...PATH, 'groups_header'],
      groups_header.toLowerCase() === header.toLowerCase() ? 'is the header that names the person' : undefined,
    ),
    ...at(
      [...PATH, 'from'],
      from.length === 0 ? 'is empty: list the addresses of the proxies that are trusted' : undefined,
    ),
    ...from.flatMap((entry, index) => at([...PATH, 'from', index], peerError(entry))),
  ]
}

const nameError = (name: string): string | undefined => {
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]*$/.test(name)) return `"${name}" is no name of a header`
  const lower = name.toLowerCase()
  return TAKEN.test(lower) || isCredentialName(lower)
    ? `"${name}" has another meaning here; let the proxy set one like x-forwarded-user`
    : undefined
}

/** Statuses that speak of whoever logged in. */
const ofLogins: ReadonlySet<number> = new Set([401, 402, 403, 429])

/** Errors of the keys of an upstream, none of which is shown, and of when its fallbacks are used. */
const keyErrors = (upstream: UpstreamConfig, path: Path): readonly ConfigError[] => {
  const { api_key, api_keys, auth, fallback, fallback_on } = upstream
  return [
    ...at([...path, 'api_key'], api_key === undefined ? undefined : headerError('x-api-key', api_key)),
    ...api_keys.flatMap((key, index) => at([...path, 'api_keys', index], listedKeyError(key, index, api_keys))),
    ...at([...path, 'api_keys'], api_keys.length === 0 ? undefined : listError(upstream, auth)),
    ...at(
      [...path, 'fallback_on'],
      fallback_on.length > 0 && fallback.length === 0
        ? 'says when to use a fallback, and there is none; name upstreams under fallback, or remove it'
        : undefined,
    ),
  ]
}

const listedKeyError = (key: string, index: number, keys: readonly string[]): string | undefined => {
  const first = keys.indexOf(key)
  return first === index ? headerError('x-api-key', key) : `is the same key as api_keys[${first}]`
}

const listError = ({ api_key }: UpstreamConfig, auth: UpstreamConfig['auth']): string | undefined => {
  if (api_key !== undefined) return 'stands beside api_key; put all keys into api_keys, and remove api_key'
  if (auth === 'passthrough') return 'is not used with auth: passthrough, which takes the login of the client'
  return auth === 'none' ? 'is not used with auth: none; choose another auth, or remove the keys' : undefined
}

/** Warnings about upstreams with too few keys, and with statuses that never lead to a fallback. */
const keyWarnings = ({ name, api_key, api_keys, auth, fallback_on }: UpstreamConfig): readonly string[] => {
  const isKeyless =
    api_key === undefined && api_keys.length === 0 && auth !== 'auto' && auth !== 'none' && auth !== 'passthrough'
  const loginStatuses = auth === 'passthrough' ? fallback_on.filter((status) => ofLogins.has(status)) : []
  return [
    ...(isKeyless ? [`Upstream ${name} has auth: ${auth} but no api_key.`] : []),
    ...(loginStatuses.length === 0
      ? []
      : [
          `Upstream ${name} never falls back after ${loginStatuses.join(', ')}: with auth: passthrough these are about the login of the client, who is told.`,
        ]),
  ]
}
