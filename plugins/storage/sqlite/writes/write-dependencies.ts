import type { ToWorker } from '../protocol.ts'
import type { RedoLog } from '../redo-log/redo-log.ts'

export interface WriteDelays {
  /** Milliseconds after which a commit that is not answered makes the storage `busy`. */
  readonly slow_ms: number
  /** Milliseconds between two tries while the database cannot be written. */
  readonly retry_ms: number
}

/** What the write queue needs: the worker, the redo log, and a receiver of errors. */
export interface WriteDependencies {
  readonly post: (message: ToWorker) => void
  readonly log: RedoLog
  readonly fault: (error: unknown) => void
}
