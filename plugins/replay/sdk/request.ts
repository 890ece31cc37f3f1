import type { IngestFault } from './errors.ts'

/** Result of one request. */
export type Answer =
  | { readonly taken: true }
  | {
      readonly taken: false
      readonly fault: IngestFault
      readonly message: string
      /** A retry may succeed. */
      readonly retry: boolean
      /** It may have been stored all the same. */
      readonly unknown: boolean
      /** Delay that the gateway demands, ms. */
      readonly wait_ms: number
      readonly cause?: unknown
    }

export interface RequestOptions {
  readonly url: string
  readonly fetch: typeof globalThis.fetch
  readonly timeout_ms: number
  /** Aborts the request. */
  readonly signal: AbortSignal
}

/** Posts one body. Never rejects. */
export const post = async (body: string, options: RequestOptions): Promise<Answer> => {
  const abort = new AbortController()
  let late = false
  const timer = setTimeout(() => {
    late = true
    abort.abort()
  }, options.timeout_ms)
  timer.unref()
  const onAbort = (): void => abort.abort()
  options.signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await exchange(body, options, abort.signal)
  } catch (error) {
    const { message, unsent } = unreachable(options.url, error)
    const failure = late
      ? { code: 'TIMEOUT', message: `The gateway did not answer within ${options.timeout_ms} ms.`, unknown: true }
      : { code: 'NETWORK_ERROR', message, unknown: !unsent }
    const fault = { status: null, code: failure.code, path: null }
    return { taken: false, ...failure, fault, retry: true, wait_ms: 0, cause: error }
  } finally {
    clearTimeout(timer)
    options.signal.removeEventListener('abort', onAbort)
  }
}

const exchange = async (body: string, { url, fetch }: RequestOptions, signal: AbortSignal): Promise<Answer> => {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' })
  // read completely, so that the connection is reusable
  const text = await response.text()
  if (response.ok) return { taken: true }
  const { code, message, path } = errorOf(text)
  const { status } = response
  return {
    taken: false,
    fault: { status, code: code ?? 'HTTP_ERROR', path },
    message: code === undefined ? noGateway(url, response) : (message ?? `The gateway answered ${status}.`),
    unknown: false,
    retry: status === 429 || status >= 500,
    wait_ms: waitOf(response.headers.get('retry-after')),
  }
}

/** An answer that no gateway gives: something else is there, or the gateway stands elsewhere. */
const noGateway = (address: string, { status }: Response): string => {
  const { origin, pathname, protocol } = new URL(address)
  if (status !== 404 && status !== 405 && status !== 400) return `The gateway answered ${status}.`
  const path = pathname.slice(0, -'/api/v1/traces'.length)
  const where = path === '' ? origin : `${origin}${path}, if it is not ${origin}`
  const secure = status === 400 && protocol === 'http:' ? ' Does it speak https?' : ''
  return `There is no gateway at ${where}: the answer is ${status}.${secure} Correct baseUrl, the address of the gateway.`
}

interface ErrorText {
  readonly code: string | undefined
  readonly message: string | undefined
  readonly path: string | null
}

const errorOf = (text: string): ErrorText => {
  const error = member(parsed(text), 'error')
  const [code, message, path] = ['code', 'message', 'path'].map((name) => member(error, name))
  return { code: textOr(code), message: textOr(message), path: textOr(path) ?? null }
}

const textOr = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A longer delay counts as unavailable. */
const MAX_WAIT_MS = 60_000

/** `Retry-After` (seconds or date) in ms from now. */
const waitOf = (header: string | null): number => {
  if (header === null) return 0
  const wait = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now()
  return Number.isNaN(wait) ? 0 : Math.min(Math.max(wait, 0), MAX_WAIT_MS)
}

/** Why a request got no answer. */
interface Unreachable {
  readonly message: string
  /** The request was never sent, so that it cannot have been stored. */
  readonly unsent: boolean
}

interface Cause {
  readonly test: RegExp
  readonly says: (address: string, url: URL) => string
}

/** Causes by the codes and messages of Node, Bun and Deno. No request is sent in these cases. */
const CAUSES: readonly Cause[] = [
  {
    test: /ECONNREFUSED|ConnectionRefused|connection refused|unable to connect/i,
    says: (address) => `Nobody answers at ${address}. Start the gateway, or name its address.`,
  },
  {
    test: /ENOTFOUND|EAI_AGAIN|dns error|failed to lookup|name resolution/i,
    says: (_address, { hostname }) => `There is no host "${hostname}". Correct baseUrl, the address of the gateway.`,
  },
  {
    test: /ERR_SSL|EPROTO|wrong version number|packet length|InvalidContentType|corrupt message/i,
    says: (address, { host }) => `${address} does not speak https. Is it http://${host}?`,
  },
  {
    test: /CERT|certificate|UnknownIssuer/i,
    says: (address) =>
      `The certificate of ${address} is not trusted. NODE_EXTRA_CA_CERTS names a file of further authorities.`,
  },
  {
    test: /bad port|requests to port|unsafe port/i,
    says: (_address, { port }) => `Port ${port} is not allowed to fetch. Give the gateway another one.`,
  },
  {
    test: /EHOSTUNREACH|ENETUNREACH|CONNECT_TIMEOUT|tcp connect error/i,
    says: (address) => `There is no way to ${address}. Correct baseUrl, the address of the gateway.`,
  },
]

/** What a server does that is spoken to in plain text and expects TLS; others do it too. */
const BROKEN = /HPE_|Parse Error|invalid HTTP|other side closed|ECONNRESET|socket hang up|connection closed/i

/** What an error of `fetch` means for a request to this address. */
const unreachable = (address: string, error: unknown): Unreachable => {
  const url = new URL(address)
  const words = wordsOf(error)
  const cause = CAUSES.find(({ test }) => test.test(words))
  if (cause !== undefined) return { message: cause.says(url.origin, url), unsent: true }
  const hint = url.protocol === 'http:' && BROKEN.test(words) ? ' Does it speak https?' : ''
  return { message: `The gateway at ${url.origin} broke off: ${reasonOf(error)}.${hint}`, unsent: false }
}

/** Codes and messages of an error and of its causes. */
const wordsOf = (error: unknown): string => {
  const words: unknown[] = []
  for (let one = error, depth = 0; typeof one === 'object' && one !== null && depth < 4; depth++) {
    words.push(Reflect.get(one, 'code'), Reflect.get(one, 'message'))
    one = Reflect.get(one, 'cause')
  }
  return words.join(' ')
}

const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  if (!(cause instanceof Error)) return error.message
  return cause.message === '' ? String(Reflect.get(cause, 'code') ?? cause.name) : cause.message
}
