import type { Session } from 'guard-gateway/core'
import type { ClientFrame } from './client-frame.ts'

const MAX_FRAMES = 64
/** It is user input for a response that is under way. */
export const isSteer = ({ type }: ClientFrame): boolean => type === 'response.steer'
const MAX_STEERS = 64

/** Messages that are no requests: passed on, but for those of a paused session, which wait until it is resumed. */
export class HeldFrames {
  /** The session last used on the connection. */
  last: Session | undefined
  readonly #frames: { readonly bytes: Buffer; readonly session: Session | undefined }[] = []
  /** What steered a response, by its id. */
  readonly #steers = new Map<string, Buffer>()
  readonly #send: (bytes: Buffer) => void

  constructor(send: (bytes: Buffer) => void) {
    this.#send = send
  }

  /** Sends a message, or keeps it; `session`: of the response that it is about. False: as many are kept as may be. */
  take(frame: ClientFrame, session: Session | undefined): boolean {
    const whose = session ?? this.last
    if (isSteer(frame) && frame.previous_response_id !== null) this.#note(frame.previous_response_id, frame.bytes)
    if (whose?.row.paused !== true && this.#frames.length === 0) this.#send(frame.bytes)
    else if (this.#frames.length >= MAX_FRAMES) return false
    else this.#frames.push({ bytes: frame.bytes, session: whose })
    return true
  }

  /** Sends what may go by now, in order. */
  release(): void {
    for (
      let [first] = this.#frames;
      first !== undefined && first.session?.row.paused !== true;
      [first] = this.#frames
    ) {
      this.#frames.shift()
      this.#send(first.bytes)
    }
  }

  /** What steered this response; forgotten thereupon. */
  steerOf(response_id: string): Buffer | undefined {
    const steer = this.#steers.get(response_id)
    this.#steers.delete(response_id)
    return steer
  }

  #note(response_id: string, bytes: Buffer): void {
    this.#steers.set(response_id, bytes)
    const [oldest] = this.#steers.keys()
    if (this.#steers.size > MAX_STEERS && oldest !== undefined) this.#steers.delete(oldest)
  }
}
