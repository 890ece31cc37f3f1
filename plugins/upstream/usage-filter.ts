import type { ReplyFilter } from 'guard-gateway/core'
import { EventCutter } from '#lib/sse'

/** An event larger than this is no usage chunk, so nothing of it is held back. */
const MAX_HELD = 65_536

/** Removes the usage chunk of a Chat Completions stream that the client did not request. */
export class UsageFilter implements ReplyFilter {
  #output: Buffer[] = []
  /** The current event passes chunk by chunk. */
  #passing = false
  readonly #cutter = new EventCutter((event) => {
    if (this.#passing || !isUsageEvent(event)) this.#output.push(event)
    this.#passing = false
  })

  push(chunk: Uint8Array): Uint8Array {
    this.#cutter.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length))
    if (this.#passing || this.#cutter.length > MAX_HELD) {
      this.#passing ||= this.#cutter.length > 0
      this.#output.push(this.#cutter.take())
    }
    const output = this.#output
    this.#output = []
    const [only] = output
    return only !== undefined && output.length === 1 ? only : Buffer.concat(output)
  }

  end(): Uint8Array {
    return this.#cutter.take()
  }
}

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
