import type { Reading } from '../settled.ts'
import type { Listener } from './listener.ts'

/** Watches one reply as it passes; gets decoded copies, changes and keeps back nothing. */
export interface Meter {
  push(chunk: Uint8Array): void
  end(): Reading
}

/** One reply that somebody listens to. */
export interface ListenRequest {
  /** Reads the reply in any case. */
  readonly meter: Meter
  readonly stream: boolean
  readonly listener: Listener
  /** Called once if the reply cannot be understood; its meter goes on. */
  readonly fault: (error: unknown) => void
}

/** A reply that is listened to. */
export interface ListenedReply {
  /** Takes the reply in place of the meter that was given. */
  readonly meter: Meter
  /** Events that end the stream after the last event read, as a reply ends that has used up its tokens; an empty text if it is over already. */
  ending(): string
}
