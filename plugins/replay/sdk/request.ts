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
    const [code, message] = late
      ? ['TIMEOUT', `The gateway did not answer within ${options.timeout_ms} ms.`]
      : ['NETWORK_ERROR', unreached(options.url, error)]
    return { taken: false, fault: { status: null, code, path: null }, message, retry: true, wait_ms: 0, cause: error }
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
    message: message ?? `The gateway answered ${status}.`,
    retry: status === 429 || status >= 500,
    wait_ms: waitOf(response.headers.get('retry-after')),
  }
}

const unreached = (url: string, error: unknown): string =>
  codeOf(error) === 'ECONNREFUSED'
    ? `Nobody answers at ${new URL(url).origin}. Start the gateway, or name its address.`
    : `The gateway at ${url} cannot be reached: ${reasonOf(error)}.`

const codeOf = (error: unknown): unknown => member(member(error, 'cause'), 'code')

/** The cause of a fetch error. */
const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  if (!(cause instanceof Error)) return error.message
  return cause.message === '' ? String(Reflect.get(cause, 'code') ?? cause.name) : cause.message
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
