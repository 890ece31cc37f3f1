import type { CreateClient } from './create-client.ts'
import type { Lanes } from './lanes.ts'
import { readUpstreamEvent, type UpstreamEvent } from './upstream-event.ts'

/** The connection as its messages from the upstream need it. */
export interface PumpTarget {
  readonly lanes: Lanes
  /** To the client. */
  send(message: Buffer, isText?: boolean): void
  /** Opens a record for a response that no request accounts for. */
  unasked(event: UpstreamEvent, message: Buffer): CreateClient
  /** A request has ended, and its last message was sent. */
  answered(): void
}

/**
 * Passes on what an upstream sends, in order and as it is, and shows each message to the request that it belongs to.
 * The message that ends a response waits until its record is safe, and what comes after it waits behind it.
 */
export class UpstreamPump {
  readonly #target: PumpTarget
  readonly #waiting: { readonly message: Buffer; readonly isText: boolean }[] = []
  #isHeld = false
  #whenIdle: (() => void)[] = []
  /** Bytes that wait. */
  held = 0

  constructor(target: PumpTarget) {
    this.#target = target
  }

  push(message: Buffer, isText: boolean): void {
    if (this.#isHeld) {
      this.#waiting.push({ message, isText })
      this.held += message.length
    } else this.#take(message, isText)
  }

  get isIdle(): boolean {
    return !this.#isHeld
  }

  /** Resolves when nothing waits. */
  idle(): Promise<void> {
    return this.isIdle ? Promise.resolve() : new Promise((resolve) => this.#whenIdle.push(resolve))
  }

  #take(message: Buffer, isText: boolean): void {
    const event = isText ? readUpstreamEvent(message) : undefined
    const owner = event === undefined ? undefined : this.#ownerOf(event, message)
    if (event === undefined || owner === undefined) this.#target.send(message, isText)
    else if (event.kind === 'terminal' || event.kind === 'error') this.#end(owner, event, message)
    else this.#pass(owner, message)
  }

  #ownerOf(event: UpstreamEvent, message: Buffer): CreateClient | undefined {
    const { lanes, unasked } = this.#target
    const owner = lanes.ownerOf(event)
    if (event.kind !== 'created') return owner
    const begun = owner ?? unasked(event, message)
    lanes.began(begun, event.response_id)
    return begun
  }

  #pass(owner: CreateClient, message: Buffer): void {
    owner.body.push(message)
    if (owner.isMuted) return
    if (owner.body.isDestroyed && !owner.gone) {
      // a listener has ended the response within this message, which goes out with the end
      owner.isMuted = true
      this.#hold(owner, () => {})
    } else this.#target.send(message)
  }

  #end(owner: CreateClient, event: UpstreamEvent, message: Buffer): void {
    if (event.kind === 'terminal' && owner.response_id === undefined) owner.response_id = event.response_id
    if (owner.reply !== undefined && event.status !== undefined) owner.reply.status = event.status
    owner.body.push(message)
    if (owner.body.isDestroyed && !owner.gone) owner.isMuted = true
    owner.body.finish('end')
    this.#hold(owner, () => {
      this.#target.lanes.remove(owner, event.steered)
      if (!owner.isMuted) this.#target.send(message)
      this.#target.answered()
    })
  }

  #hold(owner: CreateClient, then: () => void): void {
    this.#isHeld = true
    void owner.ended.then(() => {
      then()
      this.#isHeld = false
      this.#goOn()
    })
  }

  #goOn(): void {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      this.held -= next.message.length
      this.#take(next.message, next.isText)
      if (this.#isHeld) return
    }
    this.#tellIdle()
  }

  #tellIdle(): void {
    const waiting = this.#whenIdle
    this.#whenIdle = []
    for (const resolve of waiting) resolve()
    this.#target.answered()
  }
}
