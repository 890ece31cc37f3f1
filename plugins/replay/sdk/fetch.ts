import type { RecordedSpan } from './span.ts'

type Fetch = typeof globalThis.fetch
type Input = Parameters<Fetch>[0]
type Init = Parameters<Fetch>[1]

export interface GuardFetchOptions {
  /** Origin of the gateway. Other requests get no headers. */
  readonly origin: string
  readonly fetch: Fetch
  readonly headers: () => Readonly<Record<string, string>>
  readonly current: () => RecordedSpan | undefined
}

/** A `fetch` that adds the context headers to requests to the gateway, so that its span becomes a child of the current span. */
export const guardFetch =
  ({ origin, fetch, headers, current }: GuardFetchOptions): Fetch =>
  async (input, init) => {
    if (originOf(input) !== origin) return await fetch(input, init)
    const span = current()
    const follows = redirectOf(input, init) === 'follow'
    const ours = { ...init, headers: joined(input, init, headers()) }
    const response = await fetch(input, follows ? { ...ours, redirect: 'manual' } : ours)
    if (span !== undefined && !span.hasEnded) note(span, response.headers)
    return follows && isRedirect(response) ? await followed(fetch, input, init, response) : response
  }

const redirectOf = (input: Input, init: Init): string =>
  init?.redirect ?? (input instanceof Request ? input.redirect : 'follow')

const originOf = (input: Input): string | undefined => {
  const url = input instanceof Request ? input.url : String(input)
  return URL.canParse(url) ? new URL(url).origin : undefined
}

/** Adds the context headers. The headers of the request take precedence. */
const joined = (input: Input, init: Init, added: Readonly<Record<string, string>>): Headers => {
  const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined))
  for (const [name, value] of Object.entries(added)) if (!headers.has(name)) headers.set(name, value)
  return headers
}

const note = (span: RecordedSpan, headers: Headers): void => {
  const trace = headers.get('x-guard-trace-id')
  if (trace !== null && trace !== span.traceId) span.set({ 'sdk.linked_trace': trace })
  if (headers.get('x-guard-decision') === 'block') span.event('sdk.blocked', { reason: headers.get('x-guard-reason') })
}

const REDIRECTS = [301, 302, 303, 307, 308]
const isRedirect = (response: Response): boolean =>
  REDIRECTS.includes(response.status) && response.headers.has('location')

/** Repeats a redirected request without the context headers, because another host must not receive them. */
const followed = async (fetch: Fetch, input: Input, init: Init, response: Response): Promise<Response> => {
  await response.body?.cancel()
  const body = init?.body ?? (input instanceof Request ? input.body : null)
  if (body instanceof ReadableStream) {
    throw new TypeError('The gateway redirects a request whose body is a stream, which cannot be sent twice.')
  }
  return await fetch(input, init)
}
