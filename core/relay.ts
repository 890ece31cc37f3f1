import type { Readable } from 'node:stream'
import type { Clock } from './clock.ts'
import type { Client, Reply } from './contracts/reply.ts'
import type { Tap } from './tap.ts'

/** How a reply's bytes got to the client. */
export interface Relayed {
  /** `whole`: everything came; `cut`: the upstream broke off; `gone`: the client left first. */
  readonly ended: 'whole' | 'cut' | 'gone'
  /** The chunk that would end the reply for the client; it waits for the record. */
  readonly held: Uint8Array | undefined
  readonly bytes: number
  /** Milliseconds since 1970; null if no byte came. */
  readonly first_byte_at: number | null
  /** The first bytes, at most as many as asked for. */
  readonly head: Uint8Array
}

/**
 * Passes a reply's chunks to the client as they come, never faster than it takes them, and shows each to the tap.
 * The end stays with the caller: `end()` is not called, and of a reply of known length the last chunk is held.
 */
export const relay = (reply: Reply, client: Client, tap: Tap, clock: Clock, keep: number): Promise<Relayed> => {
  const { body } = reply
  if (body instanceof Uint8Array) {
    tap.push(body)
    return Promise.resolve({
      ended: client.gone ? 'gone' : 'whole',
      held: body,
      bytes: body.length,
      first_byte_at: clock.now(),
      head: body.subarray(0, keep),
    })
  }
  return stream(body, reply, client, tap, clock, keep)
}

const stream = (body: Readable, reply: Reply, client: Client, tap: Tap, clock: Clock, keep: number): Promise<Relayed> =>
  new Promise((resolve) => {
    const heads: Uint8Array[] = []
    let wanted = keep
    let left = contentLength(reply.headers)
    let held: Uint8Array | undefined
    let bytes = 0
    let firstByteAt: number | null = null
    let over = false
    const finish = (ended: Relayed['ended']) => {
      if (over) return
      over = true
      resolve({
        ended,
        held,
        bytes,
        first_byte_at: firstByteAt,
        head: heads.length === 1 && heads[0] ? heads[0] : Buffer.concat(heads),
      })
    }
    body.on('data', (chunk: Uint8Array) => {
      firstByteAt ??= clock.now()
      bytes += chunk.length
      if (wanted > 0) {
        heads.push(chunk.subarray(0, wanted))
        wanted -= chunk.length
      }
      tap.push(chunk)
      if (client.gone) return
      left -= chunk.length
      if (left === 0) held = chunk
      else if (!pass(chunk, reply, client)) body.pause()
    })
    body.once('end', () => {
      held ??= reply.shown?.end()
      finish(client.gone ? 'gone' : 'whole')
    })
    body.once('error', () => finish('cut'))
    body.once('close', () => finish('cut'))
    // it broke before anybody listened
    if (body.destroyed) finish('cut')
    client.onDrain(() => body.resume())
    client.onGone(() => {
      if (reply.on_disconnect === 'drain' && !client.interrupted) return void body.resume()
      finish('gone')
      body.destroy()
    })
  })

/** Writes what the client is shown of a chunk; false: it takes no more for now. */
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

/** The first value of a header in a flat list of names and values; `name` in lower case. */
export const headerOf = (headers: readonly string[], name: string): string | undefined => {
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const candidate = headers[index]
    if (candidate !== undefined && candidate.length === name.length && candidate.toLowerCase() === name)
      return headers[index + 1]
  }
}
