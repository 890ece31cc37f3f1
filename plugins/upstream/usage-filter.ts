import type { Shown } from 'guard-gateway/core'

/** An event larger than this is no usage chunk, so nothing of it is held back. */
const MAX_HELD = 65_536
const LF = 0x0a
const CR = 0x0d
const EMPTY = Buffer.alloc(0)

/** Takes the chunk that only tells usage out of a Chat Completions stream: the client did not ask for it. */
export class UsageFilter implements Shown {
  /** The current event, as far as it has arrived. */
  #held: Buffer = EMPTY
  /** The current event passes chunk by chunk. */
  #passing = false

  push(chunk: Uint8Array): Uint8Array {
    const bytes =
      this.#held.length === 0
        ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
        : Buffer.concat([this.#held, chunk])
    const shown: Buffer[] = []
    let start = 0
    for (let end = eventEnd(bytes, start); end !== -1; end = eventEnd(bytes, start)) {
      const event = bytes.subarray(start, end)
      if (this.#passing || !isUsageEvent(event)) shown.push(event)
      this.#passing = false
      start = end
    }
    this.#held = bytes.subarray(start)
    if (this.#passing || this.#held.length > MAX_HELD) {
      this.#passing = this.#passing || this.#held.length > 0
      shown.push(this.#held)
      this.#held = EMPTY
    }
    const [only] = shown
    return only !== undefined && shown.length === 1 ? only : Buffer.concat(shown)
  }

  end(): Uint8Array {
    const rest = this.#held
    this.#held = EMPTY
    return rest
  }
}

/** The end (exclusive) of the event that begins at `from`: after its blank line; -1 if it has not arrived yet. Lines end in LF, CRLF or CR. */
const eventEnd = (bytes: Buffer, from: number): number => {
  for (let at = from; at < bytes.length; at++) {
    if (bytes[at] !== LF && bytes[at] !== CR) continue
    const next = lineEnd(bytes, at)
    if (bytes[next] === LF || bytes[next] === CR) return lineEnd(bytes, next)
    at = next - 1
  }
  return -1
}

/** Behind the line break at this place, both bytes of it if they are there. */
const lineEnd = (bytes: Buffer, at: number): number => (bytes[at] === CR && bytes[at + 1] === LF ? at + 2 : at + 1)

/** A chunk without choices whose only news is usage, whatever other fields and comments stand beside its data. */
const isUsageEvent = (event: Buffer): boolean => {
  if (!event.includes('"usage"')) return false
  const lines = event.toString().split(/[\r\n]+/)
  const data = lines.filter((line) => line.startsWith('data:')).map((line) => line.slice('data:'.length))
  return isUsageChunk(data.join('\n'))
}

const isUsageChunk = (json: string): boolean => {
  try {
    const chunk: unknown = JSON.parse(json)
    if (typeof chunk !== 'object' || chunk === null) return false
    const choices: unknown = Reflect.get(chunk, 'choices')
    const usage: unknown = Reflect.get(chunk, 'usage')
    return Array.isArray(choices) && choices.length === 0 && typeof usage === 'object' && usage !== null
  } catch {
    return false
  }
}
