import { isThisMachine, noProxy } from './no-proxy.ts'

/** Variables of the environment by name. */
type Environment = Readonly<Record<string, string | undefined>>

/** What is said of proxies for everything that the gateway reaches. */
export interface ProxySettings {
  /** `environment`, `none`, or the address of a proxy. */
  readonly proxy: string
  /** Hosts that are reached directly, beside those in NO_PROXY and in its form. */
  readonly no_proxy: readonly string[]
}

/** How an address is reached: by `proxy`, or directly where that is undefined; and who says so. */
export interface ProxyChoice {
  /** As it was given, perhaps with user and password, perhaps no address that can be used. */
  readonly proxy: string | undefined
  /** A variable, a key of the configuration, or other words: `HTTPS_PROXY`, `NO_PROXY`, `network.proxy`, `proxy`. */
  readonly from: string
}

/**
 * Which proxy an address is reached by. `own` is what is said of this address alone; an address there holds whatever else is said.
 * Of variables, lower case goes before upper case and an empty or blank one is none; this machine is always reached directly.
 */
export const proxyChoice = (
  url: URL,
  own: string | undefined,
  settings: ProxySettings,
  env: Environment,
): ProxyChoice => {
  if (own === 'none') return { proxy: undefined, from: 'proxy' }
  if (own !== undefined && own !== 'environment') return { proxy: own, from: 'proxy' }
  const configured = own ?? settings.proxy
  if (configured === 'none') return { proxy: undefined, from: 'network.proxy' }
  const chosen =
    configured === 'environment' ? inEnvironment(url.protocol, env) : { proxy: configured, from: 'network.proxy' }
  const direct = chosen.proxy === undefined ? undefined : directBecause(url, settings, env)
  return direct === undefined ? chosen : { proxy: undefined, from: direct }
}

/** What says that an address is reached without the proxy that there is; undefined if nothing does. */
const directBecause = (url: URL, { no_proxy }: ProxySettings, env: Environment): string | undefined => {
  const { hostname } = url
  if (isThisMachine(hostname)) return 'this machine'
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  if (noProxy([env.no_proxy || env.NO_PROXY || ''])(hostname, port)) return 'NO_PROXY'
  return noProxy(no_proxy)(hostname, port) ? 'network.no_proxy' : undefined
}

const inEnvironment = (protocol: string, env: Environment): ProxyChoice => {
  const scheme = protocol === 'https:' ? 'https' : 'http'
  const from = [`${scheme}_proxy`, `${scheme}_proxy`.toUpperCase(), 'all_proxy', 'ALL_PROXY'].find((name) =>
    env[name]?.trim(),
  )
  return from === undefined ? { proxy: undefined, from: 'no proxy is set' } : { proxy: env[from], from }
}

const PROXIES = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY']
const OURS = ['127.0.0.1', 'localhost', '::1', '[::1]']

/**
 * What an environment must say beside its proxies so that a program in it reaches the gateway at `address` directly: NO_PROXY in both
 * spellings, with what was there before. Empty where no proxy is named.
 */
export const directReason = (address: string, env: Environment): Readonly<Record<string, string>> => {
  if (!PROXIES.some((name) => env[name])) return {}
  const before = (env.no_proxy || env.NO_PROXY || '').split(/[\s,]+/).filter((entry) => entry !== '')
  const hostname = URL.parse(address)?.hostname ?? ''
  const list = [...new Set([...before, ...OURS, ...(hostname === '' ? [] : [hostname])])].join(',')
  return { NO_PROXY: list, no_proxy: list }
}
