import { memberIn, sourceOf } from '#lib/json'
import type { Frame } from './json-rpc/frame.ts'

export { errorFrame, type Frame, type FrameFault, foldName, readFrame, resultFrame } from './json-rpc/frame.ts'

/** The key of the request that a `notifications/cancelled` takes back; undefined for any other frame. */
export const cancelledKey = ({ method, text, params }: Frame): string | undefined => {
  if (method !== 'notifications/cancelled') return undefined
  const id = memberIn(params, 'requestId')?.value
  return id === undefined ? undefined : keyOfId(sourceOf(text, id))
}

/** What an id is kept under: its type, and its value where that is text. `id`: its source text. */
export const keyOfId = (id: string): string => (id.startsWith('"') ? `s${JSON.parse(id) as string}` : `n${id}`)

/**
 * The key among `keys` that an answer belongs to whose id was not repeated digit for digit:
 * many servers keep numbers as doubles, which rounds integers beyond 2^53. Undefined if none or several would do.
 */
export const roundedKey = (keys: Iterable<string>, key: string): string | undefined => {
  if (TEXT.test(key)) return numberOf(keys, key)
  if (!isRounded(key)) return undefined
  const value = Number(key.slice(1))
  let found: string | undefined
  for (const known of keys) {
    if (!known.startsWith('n') || Number(known.slice(1)) !== value) continue
    if (found !== undefined) return undefined
    found = known
  }
  return found
}

/** A text that is an integer: some servers keep every id as text. */
const TEXT = /^s(?:0|-?[1-9][0-9]*)$/

const numberOf = (keys: Iterable<string>, key: string): string | undefined => {
  for (const known of keys) if (known.startsWith('n') && known.slice(1) === key.slice(1)) return known
  return undefined
}

/** The key is that of an integer that a double may not hold. */
const isRounded = (key: string): boolean => key.startsWith('n') && !Number.isSafeInteger(Number(key.slice(1)))

const LF = 10
const CR = 13
/** How much of a line that is too long is kept of its beginning and of its end, in bytes. */
const ENDS = 256

/** What is left of a line that is too long. */
export interface LineEnds {
  readonly head: string
  readonly tail: string
}

/** Cuts what a pipe brings into lines, however it came in chunks; a line that is too long is dropped to its end. */
export class LineReader {
  readonly #limit: number
  readonly #onLine: (line: Buffer) => void
  readonly #onTooLong: (ends: LineEnds) => void
  #chunks: Buffer[] = []
  #length = 0
  #dropping = false
  #head: Buffer = Buffer.alloc(0)
  #tail: Buffer = Buffer.alloc(0)

  /** `limit`: the longest line in bytes. `onLine` gets each line that is not empty, without its end. */
  constructor(limit: number, onLine: (line: Buffer) => void, onTooLong: (ends: LineEnds) => void) {
    this.#limit = limit
    this.#onLine = onLine
    this.#onTooLong = onTooLong
  }

  push(chunk: Buffer): void {
    let from = 0
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, from)) {
      this.#end(chunk.subarray(from, end))
      from = end + 1
    }
    this.#keep(chunk.subarray(from))
  }

  /** Nothing follows: what is there without a line end counts too. */
  end(): void {
    if (this.#length > 0 || this.#dropping) this.#end(Buffer.alloc(0))
  }

  #keep(bytes: Buffer): void {
    if (bytes.length === 0) return
    if (this.#dropping) {
      this.#tail = lastOf(Buffer.concat([this.#tail, lastOf(bytes)]))
      return
    }
    this.#length += bytes.length
    this.#chunks.push(bytes)
    // a carriage return at the end does not count
    if (this.#length <= this.#limit + 1) return
    this.#dropping = true
    const whole = Buffer.concat(this.#chunks, this.#length)
    this.#head = Buffer.from(whole.subarray(0, ENDS))
    this.#tail = lastOf(whole)
    this.#chunks = []
    this.#length = 0
  }

  #end(last: Buffer): void {
    this.#keep(last)
    const whole = this.#chunks.length === 1 ? this.#chunks[0] : Buffer.concat(this.#chunks, this.#length)
    const tooLong = this.#dropping
    this.#chunks = []
    this.#length = 0
    this.#dropping = false
    if (tooLong || whole === undefined) {
      this.#onTooLong({ head: this.#head.toString(), tail: this.#tail.toString() })
      return
    }
    const line = whole.at(-1) === CR ? whole.subarray(0, -1) : whole
    if (line.length > this.#limit)
      this.#onTooLong({ head: line.toString('utf8', 0, ENDS), tail: lastOf(line).toString() })
    else if (line.length > 0) this.#onLine(line)
  }
}

/** The last bytes, apart from those they stand among. */
const lastOf = (bytes: Buffer): Buffer => Buffer.from(bytes.subarray(Math.max(0, bytes.length - ENDS)))

/** Writes messages into a pipe, each on a line of its own. */
export class LineWriter {
  /** Resolves when the reader is gone. */
  readonly over: Promise<void>
  readonly #out: NodeJS.WritableStream
  #buffer: PromiseWithResolvers<void> | undefined
  #isOver = false

  constructor(out: NodeJS.WritableStream) {
    this.#out = out
    this.over = new Promise((resolve) => {
      const onOver = () => {
        this.#isOver = true
        this.#makeRoom()
        resolve()
      }
      out
        .on('drain', () => this.#makeRoom())
        .on('error', onOver)
        .on('close', onOver)
    })
  }

  /** Resolves when there is room for more, or the reader is gone. */
  get room(): Promise<void> {
    return this.#buffer?.promise ?? ROOM
  }

  /** Writes JSON, which holds line ends only between its parts; resolves as `room` does. */
  write(json: Buffer | string): Promise<void> {
    if (this.#isOver) return ROOM
    if (!this.#out.write(lineOf(json))) this.#buffer ??= Promise.withResolvers<void>()
    return this.room
  }

  #makeRoom(): void {
    this.#buffer?.resolve()
    this.#buffer = undefined
  }
}

const ROOM = Promise.resolve()
const LINE_END = Buffer.from([LF])

const lineOf = (json: Buffer | string): Buffer | string => {
  if (typeof json === 'string') return `${json.replace(/[\r\n]/g, ' ')}\n`
  return json.includes(LF) || json.includes(CR) ? lineOf(json.toString()) : Buffer.concat([json, LINE_END])
}
