import type { Readable } from 'node:stream'
import type { ListenedReply } from '../contracts/api-style.ts'
import type { BodyReader, Client, PushedBody, Reply, ReplyListener } from '../contracts/reply.ts'
import { readInto } from './read-into.ts'
import { StreamEnd } from './stream-end.ts'
import type { Tap } from './tap.ts'

/** How a listener can end a stream early. */
export interface EarlyEnd {
  readonly listener: ReplyListener
  readonly listened: Pick<ListenedReply, 'ending' | 'lines'>
}

/** How a reply reached the client. */
export interface RelayResult {
  /** `truncated`: the upstream broke off; `client_gone`: the client disconnected first; `stopped`: a listener ended the reply. */
  readonly ended: 'complete' | 'truncated' | 'client_gone' | 'stopped'
  /** The last chunk, which waits until the call is recorded. */
  readonly held: Uint8Array | undefined
  /** Bytes arrived after the client disconnected. */
  readonly missed: boolean
  readonly bytes: number
  /** Milliseconds since 1970; null if no byte came. */
  readonly first_byte_at: number | null
  /** The first bytes, at most as many as asked for. */
  readonly head: Uint8Array
}

/**
 * Pumps a reply to the client with back-pressure, and shows each chunk to the tap.
 * The caller ends the reply: `end()` is not called, and the last chunk of a reply of known length is held.
 * `now`: milliseconds since 1970. With `ending` a stream stops after the event in which its listener is over.
 */
export const relay = (
  reply: Reply,
  client: Client,
  tap: Pick<Tap, 'push'>,
  now: () => number,
  keep: number,
  ending?: EarlyEnd,
): RelayResult | Promise<RelayResult> => {
  const { body, filter } = reply
  if (!(body instanceof Uint8Array))
    return new Promise((resolve) => new ReplyPump(reply, body, { client, tap, now, keep, ending, resolve }).begin())
  tap.push(body)
  return {
    ended: client.gone ? 'client_gone' : 'complete',
    held: filter === undefined ? body : Buffer.concat([filter.push(body), filter.end()]),
    missed: client.gone,
    bytes: body.length,
    first_byte_at: now(),
    head: body.subarray(0, keep),
  }
}

/** What a pump needs besides the reply. */
interface PumpContext {
  readonly client: Client
  readonly tap: Pick<Tap, 'push'>
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** How many first bytes to keep. */
  readonly keep: number
  readonly ending: EarlyEnd | undefined
  readonly resolve: (relayed: RelayResult) => void
}

/** Pumps one reply to its client. */
class ReplyPump implements BodyReader {
  readonly #reply: Reply
  readonly #body: Readable | PushedBody
  readonly #context: PumpContext
  readonly #preview: Uint8Array[] = []
  #previewLeft: number
  #bytesLeft: number
  #held: Uint8Array | undefined
  /** Set once the listener ends the stream. */
  #end: StreamEnd | undefined
  #missed = false
  #bytes = 0
  #firstByteAt: number | null = null
  #over = false

  constructor(reply: Reply, body: Readable | PushedBody, context: PumpContext) {
    this.#reply = reply
    this.#body = body
    this.#context = context
    this.#previewLeft = context.keep
    this.#bytesLeft = contentLength(reply.headers)
  }

  begin(): void {
    const body = this.#body
    const { client } = this.#context
    readInto(body, this)
    client.onDrain(() => body.resume())
    client.onGone(() => {
      if (this.#reply.on_disconnect === 'drain' && !client.interrupted) return void body.resume()
      this.#finish('client_gone')
      body.destroy()
    })
  }

  data(chunk: Uint8Array): void {
    const { client, tap, now } = this.#context
    this.#firstByteAt ??= now()
    this.#bytes += chunk.length
    if (this.#previewLeft > 0) {
      this.#preview.push(chunk.subarray(0, this.#previewLeft))
      this.#previewLeft -= chunk.length
    }
    tap.push(chunk)
    if (client.gone) {
      this.#missed = true
      return
    }
    this.#bytesLeft -= chunk.length
    if (this.#bytesLeft === 0) this.#held = chunk
    else if (this.#context.ending !== undefined) this.#writeOrStop(chunk)
    else if (!pass(chunk, this.#reply, client)) this.#body.pause()
  }

  #writeOrStop(chunk: Uint8Array): void {
    const { filter } = this.#reply
    const rest = filter === undefined ? chunk : filter.push(chunk)
    if (rest.length > 0 && !this.#stops(rest) && !this.#context.client.write(rest)) this.#body.pause()
  }

  /** Whether the reply ends within this chunk: whole events are held with the dialect's end of a stream, the rest is dropped. */
  #stops(chunk: Uint8Array): boolean {
    const { ending } = this.#context
    if (ending === undefined || !ending.listener.over) return false
    this.#end ??= new StreamEnd()
    const whole = this.#end.within(chunk, ending.listened.lines)
    const last = whole === -1 ? '' : ending.listened.ending()
    if (last === '') return false
    this.#held = Buffer.concat([chunk.subarray(0, whole), Buffer.from(last)])
    this.#finish('stopped')
    this.#body.destroy()
    return true
  }

  end(): void {
    this.#held ??= this.#reply.filter?.end()
    this.#finish(this.#context.client.gone ? 'client_gone' : 'complete')
  }

  cut(): void {
    this.#finish('truncated')
  }

  #finish(ended: RelayResult['ended']): void {
    if (this.#over) return
    this.#over = true
    const [first] = this.#preview
    this.#context.resolve({
      ended,
      held: this.#held,
      missed: this.#missed || (this.#context.client.gone && (this.#held?.length ?? 0) > 0),
      bytes: this.#bytes,
      first_byte_at: this.#firstByteAt,
      head: this.#preview.length === 1 && first ? first : Buffer.concat(this.#preview),
    })
  }
}

/** Writes a chunk as the client gets it; false: wait for drain. */
const pass = (chunk: Uint8Array, { filter }: Reply, client: Client): boolean => {
  if (filter === undefined) return client.write(chunk)
  const rest = filter.push(chunk)
  return rest.length === 0 || client.write(rest)
}

/** The announced length; -1 if there is none, so that counting down never reaches 0. */
const contentLength = (headers: readonly string[]): number => {
  const value = headerOf(headers, 'content-length')
  return value === undefined || !/^\d{1,15}$/.test(value) || value === '0' ? -1 : Number(value)
}

/**
 * Whether a reply is a stream of events: it says so, or a stream was asked for and what came says of itself nothing else.
 * Clients read what they asked for as a stream, whatever its type, and some providers give none. `json`: streams may be JSON.
 */
export const isEventStream = (
  { status, headers }: { readonly status: number; readonly headers: readonly string[] },
  requested: boolean,
  json = false,
): boolean => {
  const type = headerOf(headers, 'content-type')?.toLowerCase()
  if (type?.startsWith('text/event-stream') === true) return true
  return requested && status === 200 && (json || type?.includes('json') !== true)
}

/** The first value of a header in a flat list of names and values; `name` in lower case. */
export const headerOf = (headers: readonly string[], name: string): string | undefined => {
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const candidate = headers[index]
    if (candidate !== undefined && candidate.length === name.length && candidate.toLowerCase() === name)
      return headers[index + 1]
  }
}
