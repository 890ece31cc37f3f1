import { isTimeZone } from 'guard-gateway/lib/time'
import { isLoopback } from 'guard-gateway/plugins/http'
import { mcpFaults } from './checks-mcp.ts'
import { at, type ConfigFault, type Path } from './faults.ts'
import { addressFault, headerFault, originFaults } from './http-faults.ts'
import { proxyFault } from './network.ts'
import type { Config } from './schema.ts'
import type { OtlpReceiverConfig } from './schema-otlp.ts'
import type { UpstreamConfig } from './schema-upstreams.ts'

const placeholders = /^(<.*>|change[-_]?me|your[-_]?key|gateway[-_]?key|secret|password|x+|\.+)$/i

/** What is wrong with a gateway key, never the key itself; undefined if it can be used. */
export const keyFault = (key: string): string | undefined => {
  if (key === '') return 'the key is empty; any client could use the gateway'
  if (placeholders.test(key) || key.includes('${'))
    return 'the key is a placeholder; replace it by a secret of your own'
  if (!/^[\x21-\x7e]+$/.test(key))
    return 'the key holds a blank or a character outside printable ASCII, which no client can send in a header'
}

/** What is wrong with an approver key, never the key itself. */
const approverFault = ({ gateway_key, mcp: { approver_key } }: Config): string | undefined => {
  if (approver_key === '' || /^sha256:[0-9a-f]{64}$/i.test(approver_key)) return undefined
  if (/^sha256:/i.test(approver_key)) return 'expected 64 hexadecimal digits behind sha256:'
  if (approver_key === gateway_key) return 'is the gateway key, which every agent has'
  if (!/^[\x21-\x7e]+( +[\x21-\x7e]+)*$/.test(approver_key))
    return 'begins or ends with a blank, or holds a character outside printable ASCII, which no client can send in a header'
}

/** What a schema cannot say: the faults of a configuration that has the right form. */
export const configFaults = (config: Config): readonly ConfigFault[] => {
  const names = config.upstreams.map(({ name }) => name)
  return [
    ...at(['gateway_key'], keyFault(config.gateway_key)),
    ...at(['mcp', 'approver_key'], approverFault(config)),
    ...originFaults(config.server.allowed_origins, ['server', 'allowed_origins']),
    ...at(['network', 'proxy'], proxyFault(config.network.proxy)),
    ...at(['budgets', 'time_zone'], zoneFault(config.budgets.time_zone)),
    ...config.upstreams.flatMap((upstream, index) => upstreamFaults(upstream, names, ['upstreams', index])),
    ...config.replay.otlp_export.flatMap((receiver, index) =>
      receiverFaults(receiver, ['replay', 'otlp_export', index]),
    ),
    ...mcpFaults(config),
  ]
}

const zoneFault = (zone: string): string | undefined =>
  zone === '' || isTimeZone(zone)
    ? undefined
    : `there is no time zone ${JSON.stringify(zone)}; name one like "Europe/Berlin" or "UTC", or leave it empty for that of the system`

const upstreamFaults = (upstream: UpstreamConfig, names: readonly string[], path: Path): readonly ConfigFault[] => {
  const { name, base_url, proxy, api_key, fallback, headers, paths } = upstream
  return [
    ...at([...path, 'name'], names.indexOf(name) === path[1] ? undefined : `"${name}" names two upstreams`),
    ...at([...path, 'base_url'], urlFault(base_url)),
    ...at([...path, 'proxy'], proxyFault(proxy)),
    ...at([...path, 'api_key'], api_key === undefined ? undefined : headerFault('x-api-key', api_key)),
    ...fallback.flatMap((other, index) => at([...path, 'fallback', index], fallbackFault(other, name, names))),
    ...Object.entries(headers).flatMap(([key, value]) => at([...path, 'headers', key], fixedFault(key, value))),
    ...Object.entries(paths).flatMap(([style, route]) =>
      at([...path, 'paths', style], route.startsWith('/') ? undefined : 'must begin with a slash'),
    ),
  ]
}

const receiverFaults = ({ url, proxy, headers }: OtlpReceiverConfig, path: Path): readonly ConfigFault[] => [
  ...at([...path, 'url'], addressFault(URL.parse(url), 'headers')),
  ...at([...path, 'proxy'], proxyFault(proxy)),
  ...Object.entries(headers).flatMap(([key, value]) =>
    at([...path, 'headers', key], ownHeaders.test(key) ? 'is set by the gateway itself' : headerFault(key, value)),
  ),
]

const ownHeaders =
  /^(?:host|connection|upgrade|expect|accept-encoding|content-(?:type|encoding|length)|transfer-encoding)$/i

const fixedFault = (name: string, value: string): string | undefined =>
  /^(?:content-length|transfer-encoding)$/i.test(name)
    ? 'follows from the body, so the gateway sends it itself; remove it'
    : headerFault(name, value)

const fallbackFault = (other: string, name: string, names: readonly string[]): string | undefined =>
  other !== name && names.includes(other) ? undefined : `"${other}" is no other upstream; there is ${names.join(', ')}`

const urlFault = (text: string): string | undefined => {
  const url = URL.parse(text)
  const tail = url?.search || url?.hash ? 'must end with the path, without ? and #' : undefined
  return addressFault(url, 'api_key or headers') ?? tail
}

/** What `default_mode: enforce` means for projects without a policy of their own. */
export const DEFAULT_ENFORCED =
  'default_mode: enforce holds with the default rules, which also stop a third attempt after two failures of the provider, checks that are run again after edits, and any session after 50 requests or 100,000 tokens, cache reads included. "preset: enforce-recommended" stops what is surely stuck and flags the rest.'

/** What works but deserves a word at start. */
export const configWarnings = (
  config: Config,
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] => {
  const warnings: string[] = []
  if (config.gateway_key.length < 16)
    warnings.push('gateway_key has fewer than 16 characters and can be guessed; use a longer one.')
  if (config.upstreams.length === 0) {
    warnings.push(
      'No upstream: set OPENAI_API_KEY or ANTHROPIC_API_KEY, or add one under upstreams in the configuration file.',
    )
  }
  if (config.default_mode === 'enforce' && config.preset === 'default') warnings.push(DEFAULT_ENFORCED)
  warnings.push(...unencrypted(config))
  for (const { name, api_key, auth } of config.upstreams) {
    if (api_key === undefined && (auth === 'bearer' || auth === 'x-api-key'))
      warnings.push(`Upstream ${name} has auth: ${auth} but no api_key.`)
  }
  warnings.push(...skippedFallbacks(config))
  if (env.NODE_TLS_REJECT_UNAUTHORIZED === '0')
    warnings.push('NODE_TLS_REJECT_UNAUTHORIZED=0: nothing checks whom the upstreams are.')
  return warnings
}

/** A login goes to the upstream that was chosen, so that one that lives on logins cannot stand in. */
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

const unencrypted = ({ upstreams, replay }: Config): readonly string[] =>
  [
    ...upstreams.map(({ name, base_url }) => [`Upstream ${name} is reached`, new URL(base_url)] as const),
    ...replay.otlp_export.map(({ url }) => ['Spans are sent', new URL(url)] as const),
  ]
    .filter(([, { protocol, hostname }]) => protocol === 'http:' && !isLoopback(hostname))
    .map(([what, { origin }]) => `${what} without encryption: ${origin}.`)
