import type { BodyReader, PushedBody } from 'guard-gateway/core'

const LF = 10
const CR = 13
const BLANK = 32
const BEFORE = Buffer.from('data: ')
const AFTER = Buffer.from('\n\n')

/** A message as an event of a stream, for whoever reads streams: its line breaks, which in JSON stand between values alone, become blanks. */
export const asStreamEvent = (message: Buffer): Buffer => {
  const event = Buffer.allocUnsafe(BEFORE.length + message.length + AFTER.length)
  BEFORE.copy(event)
  message.copy(event, BEFORE.length)
  AFTER.copy(event, BEFORE.length + message.length)
  const end = BEFORE.length + message.length
  if (message.includes(LF) || message.includes(CR))
    for (let at = BEFORE.length; at < end; at++) if (event[at] === LF || event[at] === CR) event[at] = BLANK
  return event
}

/** The messages of one response as the body that its call is metered and recorded by. They reach the client beside it. */
export class EventBody implements PushedBody {
  #reader: BodyReader | undefined
  readonly #early: Buffer[] = []
  #end: 'end' | 'cut' | undefined
  /** Its reader wants no more: the client has left, or a listener has ended the response. */
  isDestroyed = false

  push(message: Buffer): void {
    if (this.isDestroyed || this.#end !== undefined) return
    const event = asStreamEvent(message)
    if (this.#reader === undefined) this.#early.push(event)
    else this.#reader.data(event)
  }

  /** The response is over, or broke off. */
  finish(how: 'end' | 'cut'): void {
    if (this.isDestroyed || this.#end !== undefined) return
    this.#end = how
    this.#reader?.[how]()
  }

  read(reader: BodyReader): void {
    this.#reader = reader
    for (const event of this.#early) if (!this.isDestroyed) reader.data(event)
    this.#early.length = 0
    if (this.#end !== undefined && !this.isDestroyed) reader[this.#end]()
  }

  // a connection is held back as a whole, not one of its responses
  pause(): void {}
  resume(): void {}

  destroy(): void {
    this.isDestroyed = true
  }
}
