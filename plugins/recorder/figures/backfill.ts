import { setTimeout as delay } from 'node:timers/promises'
import type { Change, Found, Storage } from 'guard-gateway/core'
import type { CallRecord } from 'guard-gateway/lib/trace'
import { HourSums } from './hour-sums.ts'

/** Calls of one step. They are read whole, and others have their turn after them. */
const PAGE_ROWS = 200
const DELAYS = { rest_ms: 5, failed_ms: 10_000 }
/** Walks that are remembered. There is one for each time that an earlier version was at work in between. */
const MOST_WALKS = 10_000

type Fault = (error: unknown) => void

/**
 * Counts calls that an earlier version recorded, which wrote no sums with them. It walks from the newest of them towards older ones, in the
 * background, and ends at a call that is counted, or where an earlier walk began. How far it is stands in the batch that adds the sums of a
 * page, so that each call is counted once, also after a crash. Later calls are counted when they are recorded.
 */
export class Backfill {
  readonly #storage: () => Storage
  readonly #fault: Fault
  readonly #sums = new HourSums()
  readonly #stop = new AbortController()
  /** Where walks began. */
  #begun: ReadonlySet<string> = new Set()
  #open: readonly string[] = []
  #running: Promise<void> | undefined

  constructor(storage: () => Storage, fault: Fault) {
    this.#storage = storage
    this.#fault = fault
  }

  /** The sums hold every call on record. */
  get isComplete(): boolean {
    return this.#open.length === 0
  }

  /** Notes where to begin. No call may be recorded meanwhile. */
  async begin(): Promise<void> {
    await this.#beginWalk()
    const { rows } = await this.#storage().find('calls_by_hour_walks', { limit: MOST_WALKS })
    this.#begun = new Set(rows.map(({ id }) => id))
    this.#open = rows.filter(({ cursor }) => cursor !== null).map(({ id }) => id)
  }

  /** Counts in the background. */
  start(): void {
    this.#running ??= this.#run()
  }

  /** Resolves when the present step has ended; the next process goes on after it. */
  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  /** Resolves when all is counted, or `stop` was called. */
  async ended(): Promise<void> {
    await this.#running
  }

  async #beginWalk(): Promise<void> {
    const storage = this.#storage()
    const { rows, cursors } = await storage.find('calls', { limit: 1, cursors: true })
    const [newest] = rows
    if (newest === undefined || newest.counted === true) return
    const walk: Change = {
      table: 'calls_by_hour_walks',
      put: { id: newest.id, cursor: cursors?.[0] ?? null },
      when: 'absent',
    }
    // false: it began before; or somebody has changed the call, and the next start finds it again
    await storage.write([walk, ...this.#changesOf([newest])])
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted && this.#open.length > 0) {
      const rest = await this.#step().catch((error: unknown) => {
        this.#fault(error)
        return DELAYS.failed_ms
      })
      await delay(rest, undefined, { ref: false, signal: this.#stop.signal }).catch(() => {})
    }
  }

  /** Counts one page. Resolves to how long to rest after it, in milliseconds. */
  async #step(): Promise<number> {
    const storage = this.#storage()
    const [id = ''] = this.#open
    const walk = await storage.get('calls_by_hour_walks', id)
    if (walk === undefined || walk.cursor === null) {
      this.#open = this.#open.slice(1)
      return 0
    }
    const page: Found<CallRecord> = await storage.find('calls', { limit: PAGE_ROWS, cursor: walk.cursor })
    const end = page.rows.findIndex((call) => call.counted === true || this.#begun.has(call.id))
    const uncounted = end === -1 ? page.rows : page.rows.slice(0, end)
    const cursor = end === -1 ? page.next_cursor : null
    const patch = {
      table: 'calls_by_hour_walks',
      key: id,
      patch: { cursor },
      expected: { cursor: walk.cursor },
    } as const
    // false: another process was faster, or a call was repeated or removed meanwhile; the next step looks again
    await storage.write([patch, ...this.#changesOf(uncounted)])
    return DELAYS.rest_ms
  }

  /** Changes that count these calls. A call that may be repeated is marked, since its later repetitions are counted then. */
  #changesOf(calls: readonly CallRecord[]): Change[] {
    const marks = calls
      .filter(({ decision }) => decision === 'block')
      .map(({ id, retries }): Change => {
        return { table: 'calls', key: id, patch: { counted: true }, expected: { retries, counted: null } }
      })
    return [...marks, ...this.#sums.calls(calls)]
  }
}
