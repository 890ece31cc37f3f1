import { SlowCommits, type State } from '../../kysely/state.ts'
import type { BatchValues, Failure, FromWorker, ToWorker } from '../protocol.ts'
import type { RedoLog } from '../redo-log/redo-log.ts'
import { Batch, overloaded, type Waiter } from './batch.ts'
import type { WriteDelays, WriteDependencies } from './write-dependencies.ts'

const MAX_BATCHES = 10_000
const MAX_BYTES = 64 * 1024 * 1024
/** With more uncommitted batches than this, every batch waits for its commit: writers that are faster than the disk are slowed down. */
const MAX_EARLY_ANSWERS = 1_000
/** Batches that no caller waits for are gathered, since a commit costs as much as several rows. They are sent after this time, or sooner if there are so many. */
const GROUP_DELAY = { ms: 20, batches: 128 }

/**
 * The queue of batches that are not committed yet. The batches of one turn of the event loop, and all that come while a commit runs,
 * go to the worker in one message. Each is kept until it is committed, so that it can be sent again to another worker.
 */
export class WriteQueue {
  readonly #dependencies: WriteDependencies
  readonly #state: State
  readonly #retry_ms: number
  readonly #slow: SlowCommits
  readonly #next: NextMessage
  /** The batches of the messages that are not answered. Each message gets a new map: a map that is reused keeps its old tables, and what they held, until the next full garbage collection. */
  #sent = new Map<number, Batch>()
  /** Batches of this turn of the event loop. */
  #waiting: Batch[] = []
  #held: Batch[] = []
  #id = 0
  #count = 0
  #bytes = 0
  #committed = 0
  #scheduled = false
  #sent_at = 0
  #groupTimer: NodeJS.Timeout | undefined
  #retry: NodeJS.Timeout | undefined
  #onIdle: (() => void)[] = []

  constructor(dependencies: WriteDependencies, state: State, { slow_ms, retry_ms }: WriteDelays) {
    this.#dependencies = dependencies
    this.#state = state
    this.#retry_ms = retry_ms
    this.#slow = new SlowCommits(state, slow_ms, () => this.#sent.size > 0)
    this.#next = new NextMessage(dependencies.log)
  }

  /** The number of uncommitted batches, and their bytes, about. */
  get fill(): { readonly batches: number; readonly bytes: number } {
    return { batches: this.#count, bytes: this.#bytes }
  }

  /** All batches up to this number are committed, or finally refused. */
  get committed(): number {
    return this.#committed
  }

  /** Adds a batch. The first two values are reserved: the queue sets the id, the caller the sync flag. Rejects with OVERLOADED if the queue is full. */
  add(values: BatchValues, bytes: number, { hold, onRefused }: Pick<Waiter, 'hold' | 'onRefused'>): Promise<boolean> {
    if (this.#count >= MAX_BATCHES || this.#bytes + bytes > MAX_BYTES) return Promise.reject(overloaded())
    values[0] = ++this.#id
    this.#count++
    this.#bytes += bytes
    return new Promise((resolve, reject) => {
      this.#waiting.push(new Batch(values, bytes, { hold, onRefused, resolve, reject }))
      this.#schedule()
    })
  }

  /** Sends batches that were answered already, so that a query after them sees their rows. */
  sendAnswered(): void {
    this.#gather()
    if (this.#next.hasAnswered) this.#send()
  }

  /** Handles an answer of the worker. */
  answered({ done, failed, applied }: Extract<FromWorker, { readonly kind: 'wrote' }>): void {
    this.#committed = applied
    for (let at = 0; at < done.length; at += 2) this.#finished(done[at] ?? 0, done[at + 1] === 1)
    for (const failure of failed) this.#failed(failure)
    const worst = failed.find(({ reason }) => reason !== 'fault')
    if (worst === undefined) this.#state.set('ok')
    else this.#setDown(worst.reason === 'full' ? 'full' : 'failing')
    if (this.#waiting.length > 0) this.#schedule()
    else this.#sendSoon()
    if (this.#state.now === 'ok' && this.#held.length > 0) this.#release()
    this.#endIfIdle()
  }

  /** Sends everything again that is not committed, after the worker was replaced. */
  resend(): void {
    this.#waiting = [...this.#held, ...this.#sent.values(), ...this.#next.take().batches, ...this.#waiting]
    this.#held = []
    this.#sent = new Map()
    if (this.#state.down) this.#scheduleRetry()
    this.#schedule()
  }

  /** Refuses the batches that may not wait: the worker does not start. */
  unavailable(message: string): void {
    const all = [...this.#sent.values(), ...this.#next.take().batches, ...this.#waiting]
    this.#sent = new Map()
    this.#waiting = []
    for (const batch of all) this.#refuse(batch, { reason: 'failing', message })
    this.#state.set('failing')
    this.#endIfIdle()
  }

  /** Resolves when everything is committed or held. */
  async flush(): Promise<void> {
    this.sendAnswered()
    if (this.#isBusy) await new Promise<void>((resolve) => this.#onIdle.push(resolve))
  }

  /** Flushes. Held batches are then refused, or the next process replays them from the log. */
  async end(): Promise<void> {
    await this.flush()
    this.#slow.stop()
    for (const timer of [this.#retry, this.#groupTimer]) clearTimeout(timer)
    const reason = this.#state.now === 'full' ? 'full' : 'failing'
    for (const batch of this.#held) this.#uncount(batch).fail({ reason, message: 'the gateway is closing' })
  }

  get #isBusy(): boolean {
    return this.#sent.size + this.#next.size + this.#waiting.length > 0
  }

  #endIfIdle(): void {
    if (this.#isBusy) return
    for (const resolve of this.#onIdle) resolve()
    this.#onIdle = []
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      this.#gather()
      this.#sendSoon()
    })
  }

  #gather(): void {
    if (this.#waiting.length === 0) return
    const mayAnswerEarly = !this.#state.down && this.#count <= MAX_EARLY_ANSWERS
    this.#next.add(this.#waiting, mayAnswerEarly ? this.#committed : undefined)
    this.#waiting = []
  }

  /** Sends the gathered batches, at once or a little later. */
  #sendSoon(): void {
    if (this.#sent.size > 0 || this.#next.size === 0) return
    const wait = GROUP_DELAY.ms - (performance.now() - this.#sent_at)
    if (wait <= 0 || this.#next.size >= GROUP_DELAY.batches || this.#next.isAwaited) this.#send()
    else this.#groupTimer ??= setTimeout(() => this.#onGroupTimer(), wait)
  }

  #onGroupTimer(): void {
    this.#groupTimer = undefined
    this.#sendSoon()
  }

  #send(): void {
    const { batches, parts } = this.#next.take()
    const sent = this.#sent.size === 0 ? new Map<number, Batch>() : this.#sent
    let bytes = 0
    for (const batch of batches) {
      sent.set(batch.id, batch)
      bytes += batch.bytes
    }
    this.#sent = sent
    this.#dependencies.post({ kind: 'write', parts, bytes })
    this.#sent_at = performance.now()
    this.#slow.begin(this.#sent_at)
  }

  /** Removes a sent batch that is answered. */
  #take(id: number): Batch | undefined {
    const batch = this.#sent.get(id)
    if (batch === undefined) return undefined
    this.#sent.delete(id)
    return this.#uncount(batch)
  }

  #uncount(batch: Batch): Batch {
    this.#count--
    this.#bytes -= batch.bytes
    return batch
  }

  #finished(id: number, written: boolean): void {
    const batch = this.#take(id)
    if (batch === undefined) return
    if (written) batch.written()
    // it stays in the log until its caller has handled the refusal
    else void batch.refused(this.#dependencies.fault).then(() => this.#forget(batch))
  }

  #failed(failure: Failure): void {
    if (failure.reason === 'fault') {
      const unhandled = this.#take(failure.id)?.fail(failure)
      if (unhandled !== undefined) this.#dependencies.fault(unhandled)
      return
    }
    const batch = this.#sent.get(failure.id)
    this.#sent.delete(failure.id)
    if (batch !== undefined) this.#refuse(batch, failure)
  }

  #refuse(batch: Batch, failure: Omit<Failure, 'id'>): void {
    if (batch.isHeld) {
      this.#held.push(batch)
      return
    }
    this.#uncount(batch).fail(failure)
    this.#forget(batch)
  }

  #forget(batch: Batch): void {
    this.#dependencies.post({ kind: 'forget', batch: batch.id })
  }

  #setDown(state: 'full' | 'failing'): void {
    this.#state.set(state)
    this.#scheduleRetry()
  }

  #scheduleRetry(): void {
    this.#retry ??= setTimeout(() => this.#retryNow(), this.#retry_ms).unref()
  }

  #retryNow(): void {
    this.#retry = undefined
    if (!this.#state.down) return
    if (this.#held.length > 0) this.#release()
    else this.#dependencies.post({ kind: 'probe' })
    this.#scheduleRetry()
  }

  #release(): void {
    this.#waiting = this.#held.concat(this.#waiting)
    this.#held = []
    this.#schedule()
  }
}

type Write = Extract<ToWorker, { readonly kind: 'write' }>

/** The batches of the next message to the worker. */
class NextMessage {
  readonly #log: RedoLog
  #batches: Batch[] = []
  #parts: Write['parts'][number][] = []

  constructor(log: RedoLog) {
    this.#log = log
  }

  get size(): number {
    return this.#batches.length
  }

  /** Whether a caller waits for its commit. */
  get isAwaited(): boolean {
    return this.#batches.some(({ isAnswered }) => !isAnswered)
  }

  /** Whether it holds a batch that was answered before its commit. */
  get hasAnswered(): boolean {
    return this.#batches.some(({ isAnswered }) => isAnswered)
  }

  /** Adds batches. Those that may be answered early are, once they are in the redo log. `committed`: see `RedoLog.append`; undefined: all batches wait for their commit. */
  add(batches: readonly Batch[], committed: number | undefined): void {
    const early = committed === undefined ? [] : batches.filter(({ mayAnswerEarly }) => mayAnswerEarly)
    const line = early.length === 0 ? undefined : this.#appendToLog(early, committed ?? 0)
    // the JSON text exists already, and a text is posted faster than lists
    const isWhole = line !== undefined && early.length === batches.length
    this.#parts.push(isWhole ? line : batches.map(({ values }) => values))
    this.#batches = this.#batches.concat(batches)
  }

  /** Takes everything out. */
  take(): { readonly batches: readonly Batch[]; readonly parts: Write['parts'] } {
    const taken = { batches: this.#batches, parts: this.#parts }
    this.#batches = []
    this.#parts = []
    return taken
  }

  #appendToLog(batches: readonly Batch[], committed: number): string | undefined {
    const line = JSON.stringify(batches.map(({ values }) => values))
    if (!this.#log.append(line, batches.at(-1)?.id ?? 0, committed)) return undefined
    for (const [index, batch] of batches.entries()) batch.answer({ line, index })
    return line
  }
}
