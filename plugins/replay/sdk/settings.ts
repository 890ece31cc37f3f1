import type { GuardOptions } from './api.ts'
import { GuardUseError } from './errors.ts'
import type { Report } from './reports.ts'

/** Default address of a gateway. */
export const BASE_URL = 'http://127.0.0.1:8787'

/** Options with defaults filled in. */
export interface Settings {
  /** Origin of the gateway, the only receiver of `headers()`. */
  readonly origin: string
  readonly ingestUrl: string
  readonly project: string | undefined
  readonly agent: string | undefined
  readonly sessionId: string | undefined
  readonly mask: GuardOptions['mask']
  readonly flushMs: number
  readonly maxQueue: number
  readonly live: boolean
  readonly recordArguments: boolean
  readonly ingestTimeoutMs: number
  readonly enabled: boolean
  readonly handleExit: boolean
  readonly fetch: typeof globalThis.fetch
}

type Environment = Readonly<Record<string, string | undefined>>

export const keyOf = (options: GuardOptions, env: Environment): string | undefined =>
  options.key ?? env.GUARD_GATEWAY_KEY

/** Fills in options from environment and defaults. Invalid options are reported; without an address the guard is disabled. */
export const settingsOf = (options: GuardOptions, env: Environment, report: Report): Settings => {
  const base = addressOf(options.baseUrl ?? env.GUARD_URL ?? BASE_URL, report)
  const number = (name: 'flushMs' | 'maxQueue' | 'ingestTimeoutMs', otherwise: number): number => {
    const value = options[name]
    if (value === undefined || (Number.isFinite(value) && value > 0)) return value ?? otherwise
    report(new GuardUseError('INVALID_OPTION', `${name} must be a number above 0; it is ${otherwise} now.`))
    return otherwise
  }
  return {
    origin: base?.origin ?? '',
    ingestUrl: base === undefined ? '' : new URL('api/v1/traces', base).href,
    project: options.project ?? env.GUARD_PROJECT,
    agent: options.agent,
    sessionId: options.sessionId,
    mask: options.mask,
    flushMs: number('flushMs', 1_000),
    maxQueue: number('maxQueue', 2_048),
    live: options.live ?? false,
    recordArguments: options.recordArguments ?? false,
    ingestTimeoutMs: number('ingestTimeoutMs', 5_000),
    enabled: base !== undefined && (options.enabled ?? env.GUARD_DISABLED !== '1'),
    handleExit: options.handleExit ?? true,
    fetch: options.fetch ?? globalThis.fetch,
  }
}

/** Hosts of providers of models, which take no traces. */
const PROVIDERS =
  /(?:^|\.)(?:openai\.com|anthropic\.com|googleapis\.com|openrouter\.ai|x\.ai|mistral\.ai|deepseek\.com|moonshot\.(?:ai|cn)|z\.ai|groq\.com|(?:openai|services\.ai)\.azure\.com)$|^bedrock-runtime\..*\.amazonaws\.com$/

/** What clients of models append to the address of a gateway. */
const MODEL_PATH = /\/(?:v1|v1beta|v1alpha)(?:\/.*)?$/

/** The address with a trailing slash, for relative paths. */
const addressOf = (text: string, report: Report): URL | undefined => {
  const tell = (message: string): void => report(new GuardUseError('INVALID_OPTION', message))
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    tell(
      `baseUrl "${text}" is no http address, so nothing is recorded. Give the address of the gateway, such as ${BASE_URL}.`,
    )
    return undefined
  }
  if (PROVIDERS.test(url.hostname)) {
    tell(
      `baseUrl "${text}" is the address of a provider, so nothing is recorded. Give the address of the gateway, such as ${BASE_URL}.`,
    )
    return undefined
  }
  url.search = ''
  url.hash = ''
  const path = url.pathname.replace(/\/+$/, '').replace(MODEL_PATH, '')
  if (MODEL_PATH.test(url.pathname.replace(/\/+$/, '')))
    tell(
      `baseUrl "${text}" is an address for clients of models; the gateway is ${url.origin}${path}, which is used now.`,
    )
  url.pathname = `${path}/`
  return url
}
