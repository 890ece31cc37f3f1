import { memberIn, sourceOf } from 'guard-gateway/lib/json'
import type { Frame } from 'guard-gateway/lib/json-rpc'
import type { Lost } from '../mcp-transport.ts'

/** Subscriptions that are remembered. */
const MAX_SUBSCRIPTIONS = 1_000

/** A server that messages are sent to, until it is lost. */
export interface Receiver {
  readonly lost: Promise<Lost>
  send(message: Buffer): Promise<void>
}

/** The messages that set a session up: `initialize`, the log level and subscriptions. They are sent again to what takes the session up. */
export class SessionSetup {
  #initialize: Frame | undefined
  #initialized: Frame | undefined
  #level: Frame | undefined
  readonly #subscriptions = new Map<string, Frame>()
  readonly #answers = new Map<string, (frame: Frame) => void>()

  note(frame: Frame): void {
    const { method } = frame
    if (method === 'initialize') this.#initialize = frame
    else if (method === 'notifications/initialized') this.#initialized = frame
    else if (method === 'logging/setLevel') this.#level = frame
    else if (method === 'resources/unsubscribe') this.#subscriptions.delete(uriOf(frame))
    else if (method === 'resources/subscribe' && this.#subscriptions.size < MAX_SUBSCRIPTIONS)
      this.#subscriptions.set(uriOf(frame), frame)
  }

  /** The session is initialized, so that another receiver can take it up. */
  get isComplete(): boolean {
    return this.#initialize !== undefined && this.#initialized !== undefined
  }

  /** Sends all of them; resolves to the reason if the receiver does not take the session up. */
  async replay(receiver: Receiver): Promise<string | undefined> {
    const { promise, resolve } = Promise.withResolvers<Frame>()
    if (this.#initialize === undefined) return 'The session has not begun'
    this.#answers.set(this.#initialize.key ?? '', resolve)
    await receiver.send(this.#initialize.raw)
    const answer = await Promise.race([promise, receiver.lost])
    if ('reason' in answer) return answer.reason
    if (answer.error !== undefined) return 'Upstream server refused to take the session up again'
    for (const frame of [this.#initialized, this.#level, ...this.#subscriptions.values()]) {
      if (frame === undefined) continue
      if (frame.key !== undefined) this.#answers.set(frame.key, () => {})
      await receiver.send(frame.raw)
    }
    return undefined
  }

  /** Whether a message answers a repeated one; then the client must not get it. */
  consumes(frame: Frame | undefined): boolean {
    const { key = '' } = frame ?? {}
    const resolve = this.#answers.get(key)
    if (frame === undefined || resolve === undefined) return false
    this.#answers.delete(key)
    resolve(frame)
    return true
  }
}

const uriOf = ({ text, params }: Frame): string => {
  const uri = memberIn(params, 'uri')
  return uri === undefined ? '' : sourceOf(text, uri.value)
}
