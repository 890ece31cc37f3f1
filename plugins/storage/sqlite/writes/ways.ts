import type { AheadLog } from '../ahead/log.ts'
import type { ToWorker } from '../protocol.ts'

export interface Delays {
  /** Milliseconds after which an unanswered commit counts as waiting. */
  readonly slow_ms: number
  /** Milliseconds between two tries while the database cannot be written. */
  readonly retry_ms: number
}

/** Where batches go, and who is told of what fails. */
export interface Ways {
  readonly post: (message: ToWorker) => void
  readonly log: AheadLog
  readonly fault: (error: unknown) => void
}
