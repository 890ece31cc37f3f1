import type { Reader, Trace } from 'guard-gateway/core'
import { readTrace, runById } from './run.ts'

/** A run that nobody asks for anew is let go. */
const KEPT_MS = 30_000

interface Kept {
  readonly trace_id: string
  readonly revision: number
  readonly reading: Promise<Trace>
}

/** Remembers the run that was read last for as long as it has not changed: pages and scripts read long ones in pieces. */
export class RunCache {
  readonly #storage: () => Reader
  #kept: Kept | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(storage: () => Reader) {
    this.#storage = storage
  }

  /** The whole run. Throws RUN_NOT_FOUND. */
  async trace(trace_id: string): Promise<Trace> {
    const { revision } = await runById(this.#storage(), trace_id)
    if (this.#kept?.trace_id !== trace_id || this.#kept.revision !== revision)
      this.#kept = { trace_id, revision, reading: readTrace(this.#storage(), trace_id) }
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.forget(), KEPT_MS).unref()
    const kept = this.#kept
    try {
      return await kept.reading
    } catch (error) {
      if (this.#kept === kept) this.forget()
      throw error
    }
  }

  forget(): void {
    clearTimeout(this.#timer)
    this.#kept = undefined
  }
}
