import { EventCutter } from './event-cutter.ts'
import { LineEnds } from './line-ends.ts'

const LF = 10
const CR = 13
const COLON = 58
const SPACE = 32

/** One event of a stream: its bytes unchanged, the blank line included, and its fields. */
export interface RawEvent {
  readonly raw: Buffer
  /** Its data lines joined; empty if it has none, or if its type says that it is another thing than a message. */
  readonly data: Buffer
  /** It has an id, so that the stream can be taken up again after it. */
  readonly identified: boolean
}

const NONE = Buffer.alloc(0)

/** Reads the events of a stream: their bytes as they came, and what they say. */
export class EventReader {
  readonly #limit: number
  readonly #cutter: EventCutter
  #first = true

  /** `limit`: the largest event in bytes. */
  constructor(limit: number, onEvent: (event: RawEvent) => void) {
    this.#limit = limit
    this.#cutter = new EventCutter((raw) => {
      this.#refuseAbove(raw.length)
      const { lines, identified } = fieldsOf(raw, this.#first)
      this.#first = false
      const [only = NONE] = lines
      onEvent({ raw, data: lines.length < 2 ? only : Buffer.from(lines.join('\n')), identified })
    })
  }

  /** Takes the next bytes; throws RangeError for an event that is too large. */
  push(chunk: Buffer): void {
    this.#cutter.push(chunk)
    this.#refuseAbove(this.#cutter.length)
  }

  #refuseAbove(length: number): void {
    if (length > this.#limit) throw new RangeError(`An event of the stream is larger than ${this.#limit} bytes.`)
  }
}

/** Tells every line by its place: `end` is where its line end starts, `next` where the next line does. */
const eachLine = (raw: Buffer, tell: (start: number, end: number, next: number) => void): void => {
  const lineEnds = new LineEnds(raw)
  for (let start = 0; start < raw.length; ) {
    const end = lineEnds.from(start)
    const isCrlf = raw[end] === CR && raw[end + 1] === LF
    const next = Math.min(end + (isCrlf ? 2 : 1), raw.length)
    tell(start, end, next)
    start = next
  }
}

/** Where the value of a line of this field starts; -1 if it is another line. */
const fieldValue = (raw: Buffer, start: number, end: number, field: string): number => {
  const colon = start + field.length
  if (colon > end) return -1
  for (let at = start; at < colon; at++) if (raw[at] !== field.charCodeAt(at - start)) return -1
  if (colon === end) return end
  if (raw[colon] !== COLON) return -1
  return raw[colon + 1] === SPACE && colon + 1 < end ? colon + 2 : colon + 1
}

const fieldsOf = (raw: Buffer, first: boolean) => {
  const lines: Buffer[] = []
  let identified = false
  let type = ''
  eachLine(raw, (start, end) => {
    const from = first && start === 0 ? valueAfterColon(raw) : start
    const data = fieldValue(raw, from, end, 'data')
    if (data >= 0) lines.push(raw.subarray(data, end))
    else {
      identified ||= fieldValue(raw, from, end, 'id') >= 0
      type = typeIn(raw, from, end) ?? type
    }
  })
  // the last line that names a type counts, and an empty name is none
  return { lines: type === '' || type === 'message' ? lines : [], identified }
}

/** The type that a line names; undefined if it names none. */
const typeIn = (raw: Buffer, start: number, end: number): string | undefined => {
  const at = fieldValue(raw, start, end, 'event')
  return at < 0 ? undefined : raw.toString('utf8', at, end)
}

const valueAfterColon = (raw: Buffer): number => (raw[0] === 0xef && raw[1] === 0xbb && raw[2] === 0xbf ? 3 : 0)

/** What an event says as text; `event` is empty where no line names its type, `data` undefined where it has none. */
export interface EventTexts {
  readonly event: string
  readonly data: string | undefined
  readonly id: string | undefined
}

/** What an event says, of whichever type. A byte order mark before it is no part of it. */
export const eventTexts = (raw: Buffer): EventTexts => {
  const lines: string[] = []
  let event = ''
  let id: string | undefined
  eachLine(raw, (start, end) => {
    const from = start === 0 ? valueAfterColon(raw) : start
    const data = fieldValue(raw, from, end, 'data')
    const identifier = fieldValue(raw, from, end, 'id')
    if (data >= 0) lines.push(raw.toString('utf8', data, end))
    else if (identifier >= 0) id = raw.toString('utf8', identifier, end)
    else event = typeIn(raw, from, end) ?? event
  })
  return { event, data: lines.length === 0 ? undefined : lines.join('\n'), id }
}

/** The event with other data: every other line stays as it was. A byte order mark before data is left out with it. */
export const withData = (raw: Buffer, data: string): Buffer => {
  const parts: Buffer[] = []
  let place = 0
  let lineEnd = '\n'
  eachLine(raw, (start, end, next) => {
    const from = start === 0 ? valueAfterColon(raw) : start
    if (fieldValue(raw, from, end, 'data') < 0) parts.push(raw.subarray(start, next))
    else {
      // where the last one was: the CR of another line would make a CRLF with what follows
      place = parts.length
      lineEnd = raw.toString('latin1', end, next)
    }
  })
  return Buffer.concat(parts.toSpliced(place, 0, Buffer.from(dataLines(data, lineEnd))))
}

/** The event with another id, where it has one that is not empty: every other line stays as it was. */
export const withEventId = (raw: Buffer, idOf: (id: string) => string): Buffer => {
  const parts: Buffer[] = []
  eachLine(raw, (start, end, next) => {
    const from = start === 0 ? valueAfterColon(raw) : start
    const at = fieldValue(raw, from, end, 'id')
    if (at < 0 || at === end) parts.push(raw.subarray(start, next))
    else parts.push(raw.subarray(start, at), Buffer.from(idOf(raw.toString('utf8', at, end))), raw.subarray(end, next))
  })
  return Buffer.concat(parts)
}

const dataLines = (data: string, lineEnd: string): string =>
  data
    .split(/\r\n|\r|\n/)
    .map((line) => `data: ${line}${lineEnd}`)
    .join('')

/** A message as an event of a stream, without an id. */
export const messageEvent = (message: string): string => `event: message\n${dataLines(message, '\n')}\n`
