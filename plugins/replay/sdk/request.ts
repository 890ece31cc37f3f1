import type { IngestFault } from './errors.ts'
import { unreachable } from './unreachable.ts'

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
