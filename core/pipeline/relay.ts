import type { Readable } from 'node:stream'
import type { ReplyListener } from '../contracts/listener.ts'
import type { BodyReader, Client, PushedBody, Reply } from '../contracts/reply.ts'
import { readInto } from './read-into.ts'
import { StreamEnd } from './stream-end.ts'
import type { Tap } from './tap.ts'

/** How a reply that is on its way can be ended early. */
export interface Ending {
  readonly listener: ReplyListener
  /** As `ListenedReply.ending`. */
  readonly events: () => string
}

/** How a reply's bytes got to the client. */
export interface Relayed {
  /** `whole`: everything came; `cut`: the upstream broke off; `gone`: the client left first; `stopped`: a listener ended it. */
  readonly ended: 'whole' | 'cut' | 'gone' | 'stopped'
  /** The chunk that would end the reply for the client; it waits for the record. */
  readonly held: Uint8Array | undefined
  /** Something came that the client had no chance to get, for it had left. */
  readonly missed: boolean
  readonly bytes: number
  /** Milliseconds since 1970; null if no byte came. */
  readonly first_byte_at: number | null
  /** The first bytes, at most as many as asked for. */
  readonly head: Uint8Array
}

/**
 * Passes a reply's chunks to the client as they come, never faster than it takes them, and shows each to the tap.
 * The end stays with the caller: `end()` is not called, and of a reply of known length the last chunk is held.
 * `now`: milliseconds since 1970. With `ending` a stream ends behind the event in which its listener has had enough.
 */
export const relay = (
  reply: Reply,
  client: Client,
  tap: Tap,
  now: () => number,
  keep: number,
  ending?: Ending,
): Relayed | Promise<Relayed> => {
  const { body, shown } = reply
  if (!(body instanceof Uint8Array))
    return new Promise((resolve) => new Passage(reply, body, { client, tap, now, keep, ending, resolve }).begin())
  tap.push(body)
  return {
    ended: client.gone ? 'gone' : 'whole',
    held: shown === undefined ? body : Buffer.concat([shown.push(body), shown.end()]),
    missed: client.gone,
    bytes: body.length,
    first_byte_at: now(),
    head: body.subarray(0, keep),
  }
}

/** Who has to do with a reply on its way. */
interface Parties {
  readonly client: Client
  readonly tap: Tap
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** How many first bytes are kept. */
  readonly keep: number
  readonly ending: Ending | undefined
  readonly resolve: (relayed: Relayed) => void
}

/** One reply on its way to its client. */
class Passage implements BodyReader {
  readonly #reply: Reply
  readonly #body: Readable | PushedBody
  readonly #parties: Parties
  readonly #heads: Uint8Array[] = []
  #wanted: number
  #left: number
  #held: Uint8Array | undefined
  /** There once the stream is to end. */
  #end: StreamEnd | undefined
  #missed = false
  #bytes = 0
  #firstByteAt: number | null = null
  #over = false

  constructor(reply: Reply, body: Readable | PushedBody, parties: Parties) {
    this.#reply = reply
    this.#body = body
    this.#parties = parties
    this.#wanted = parties.keep
    this.#left = contentLength(reply.headers)
  }

  begin(): void {
    const body = this.#body
    const { client } = this.#parties
    readInto(body, this)
    client.onDrain(() => body.resume())
    client.onGone(() => {
      if (this.#reply.on_disconnect === 'drain' && !client.interrupted) return void body.resume()
      this.#finish('gone')
      body.destroy()
    })
  }

  data(chunk: Uint8Array): void {
    const { client, tap, now } = this.#parties
    this.#firstByteAt ??= now()
    this.#bytes += chunk.length
    if (this.#wanted > 0) {
      this.#heads.push(chunk.subarray(0, this.#wanted))
      this.#wanted -= chunk.length
    }
    tap.push(chunk)
    if (client.gone) {
      this.#missed = true
      return
    }
    this.#left -= chunk.length
    if (this.#left === 0) this.#held = chunk
    else if (this.#parties.ending !== undefined) this.#passOrStop(chunk)
    else if (!pass(chunk, this.#reply, client)) this.#body.pause()
  }

  #passOrStop(chunk: Uint8Array): void {
    const { shown } = this.#reply
    const rest = shown === undefined ? chunk : shown.push(chunk)
    if (rest.length > 0 && !this.#stops(rest) && !this.#parties.client.write(rest)) this.#body.pause()
  }

  /** Whether the reply ends within this chunk: what belongs to whole events is held with the end that the dialect gives, and the rest given up. */
  #stops(chunk: Uint8Array): boolean {
    const { ending } = this.#parties
    if (ending === undefined || !ending.listener.over) return false
    this.#end ??= new StreamEnd()
    const whole = this.#end.within(chunk)
    const last = whole === -1 ? '' : ending.events()
    if (last === '') return false
    this.#held = Buffer.concat([chunk.subarray(0, whole), Buffer.from(last)])
    this.#finish('stopped')
    this.#body.destroy()
    return true
  }

  end(): void {
    this.#held ??= this.#reply.shown?.end()
    this.#finish(this.#parties.client.gone ? 'gone' : 'whole')
  }

  cut(): void {
    this.#finish('cut')
  }

  #finish(ended: Relayed['ended']): void {
    if (this.#over) return
    this.#over = true
    const [first] = this.#heads
    this.#parties.resolve({
      ended,
      held: this.#held,
      missed: this.#missed || (this.#parties.client.gone && (this.#held?.length ?? 0) > 0),
      bytes: this.#bytes,
      first_byte_at: this.#firstByteAt,
      head: this.#heads.length === 1 && first ? first : Buffer.concat(this.#heads),
    })
  }
}

/** Writes what the client is shown of a chunk; false: it takes no more until it has drained. */
const pass = (chunk: Uint8Array, { shown }: Reply, client: Client): boolean => {
  if (shown === undefined) return client.write(chunk)
  const rest = shown.push(chunk)
  return rest.length === 0 || client.write(rest)
}

/** The announced length; -1 if there is none, so that counting down never reaches 0. */
const contentLength = (headers: readonly string[]): number => {
  const value = headerOf(headers, 'content-length')
  return value === undefined || !/^\d{1,15}$/.test(value) || value === '0' ? -1 : Number(value)
}

/**
 * Whether a reply is a stream of events: it says so, or a stream was asked for and what came says of itself nothing else.
 * Clients read what they asked for as a stream, whatever its type, and some providers give none.
 */
export const isEventStream = (
  { status, headers }: { readonly status: number; readonly headers: readonly string[] },
  asked: boolean,
): boolean => {
  const type = headerOf(headers, 'content-type')?.toLowerCase()
  if (type?.startsWith('text/event-stream') === true) return true
  return asked && status === 200 && type?.includes('json') !== true
}

/** The first value of a header in a flat list of names and values; `name` in lower case. */
export const headerOf = (headers: readonly string[], name: string): string | undefined => {
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const candidate = headers[index]
    if (candidate !== undefined && candidate.length === name.length && candidate.toLowerCase() === name)
      return headers[index + 1]
  }
}
