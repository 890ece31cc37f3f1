import type { BatchValues, Failure, FromWorker } from '../protocol.ts'
import type { State } from '../state.ts'
import { Batch, overloaded, type Waiter } from './batch.ts'
import { NextMessage } from './next-message.ts'
import { SlowCommit } from './slow-commit.ts'
import type { Delays, Ways } from './ways.ts'

const MAX_BATCHES = 10_000
const MAX_BYTES = 64 * 1024 * 1024
/** With more on their way, every batch waits for its commit: whoever is faster than the disk has to. */
const MAX_AHEAD = 1_000
/** What nobody waits for is committed with what comes meanwhile, for a commit costs as much as several rows: within this time, or sooner if it is so many. */
const TOGETHER = { ms: 20, batches: 128 }

/**
 * Batches on their way to the disk. Those of one turn of the event loop, and all that come while a commit runs, go in one message;
 * each is kept until it is committed, so that it can be sent again to another worker.
 */
export class Writes {
  readonly #ways: Ways
  readonly #state: State
  readonly #retry_ms: number
  readonly #slow: SlowCommit
  readonly #next: NextMessage
  /** What the message that is out holds. A map for each message: one that is used on keeps what it held, table behind table, until the engine looks through its whole heap. */
  #sent = new Map<number, Batch>()
  /** What came in this turn of the event loop. */
  #waiting: Batch[] = []
  #held: Batch[] = []
  #id = 0
  #count = 0
  #bytes = 0
  #committed = 0
  #scheduled = false
  #sent_at = 0
  #together: NodeJS.Timeout | undefined
  #retry: NodeJS.Timeout | undefined
  #idle: (() => void)[] = []

  constructor(ways: Ways, state: State, { slow_ms, retry_ms }: Delays) {
    this.#ways = ways
    this.#state = state
    this.#retry_ms = retry_ms
    const onSlow = () => state.now === 'ok' && state.set('busy')
    this.#slow = new SlowCommit(slow_ms, () => this.#sent.size > 0, onSlow)
    this.#next = new NextMessage(ways.log)
  }

  /** How many batches are not committed yet, and their bytes, about. */
  get fill(): { readonly batches: number; readonly bytes: number } {
    return { batches: this.#count, bytes: this.#bytes }
  }

  /** All batches up to this number are committed, or refused for good. */
  get committed(): number {
    return this.#committed
  }

  /** Takes a batch, whose values begin with two places for this queue. Rejects with OVERLOADED if there are too many. */
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

  /** Sends what somebody may count on, ahead of a question about it. */
  hurry(): void {
    this.#gather()
    if (this.#next.hasAnswered) this.#send()
  }

  /** Takes in what the worker answered. */
  answered({ done, failed, applied }: Extract<FromWorker, { readonly kind: 'wrote' }>): void {
    this.#committed = applied
    for (let at = 0; at < done.length; at += 2) this.#done(done[at] ?? 0, done[at + 1] === 1)
    for (const failure of failed) this.#failed(failure)
    const worst = failed.find(({ reason }) => reason !== 'fault')
    if (worst === undefined) this.#state.set('ok')
    else this.#down(worst.reason === 'full' ? 'full' : 'failing')
    if (this.#waiting.length > 0) this.#schedule()
    else this.#sendInTime()
    if (this.#state.now === 'ok' && this.#held.length > 0) this.#release()
    this.#endIfIdle()
  }

  /** Sends everything that was not committed once more, after the worker was replaced. */
  resend(): void {
    this.#waiting = [...this.#held, ...this.#sent.values(), ...this.#next.take().batches, ...this.#waiting]
    this.#held = []
    this.#sent = new Map()
    if (this.#state.down) this.#again()
    this.#schedule()
  }

  /** Refuses what may not wait: the worker does not come up. */
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
    this.hurry()
    if (this.#isBusy) await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  /** Flushes; what is held is then refused, or left to the next process. */
  async end(): Promise<void> {
    await this.flush()
    this.#slow.end()
    for (const timer of [this.#retry, this.#together]) clearTimeout(timer)
    const reason = this.#state.now === 'full' ? 'full' : 'failing'
    for (const batch of this.#held) this.#drop(batch).fail({ reason, message: 'the gateway is closing' })
  }

  get #isBusy(): boolean {
    return this.#sent.size + this.#next.size + this.#waiting.length > 0
  }

  #endIfIdle(): void {
    if (this.#isBusy) return
    for (const resolve of this.#idle) resolve()
    this.#idle = []
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      this.#gather()
      this.#sendInTime()
    })
  }

  #gather(): void {
    if (this.#waiting.length === 0) return
    const mayGoAhead = !this.#state.down && this.#count <= MAX_AHEAD
    this.#next.add(this.#waiting, mayGoAhead ? this.#committed : undefined)
    this.#waiting = []
  }

  /** Sends what was gathered, now or a little later. */
  #sendInTime(): void {
    if (this.#sent.size > 0 || this.#next.size === 0) return
    const wait = TOGETHER.ms - (performance.now() - this.#sent_at)
    if (wait <= 0 || this.#next.size >= TOGETHER.batches || this.#next.isAwaited) this.#send()
    else this.#together ??= setTimeout(() => this.#waited(), wait)
  }

  #waited(): void {
    this.#together = undefined
    this.#sendInTime()
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
    this.#ways.post({ kind: 'write', parts, bytes })
    this.#sent_at = performance.now()
    this.#slow.begun(this.#sent_at)
  }

  /** What was sent is answered. */
  #take(id: number): Batch | undefined {
    const batch = this.#sent.get(id)
    if (batch === undefined) return undefined
    this.#sent.delete(id)
    return this.#drop(batch)
  }

  #drop(batch: Batch): Batch {
    this.#count--
    this.#bytes -= batch.bytes
    return batch
  }

  #done(id: number, written: boolean): void {
    const batch = this.#take(id)
    if (batch === undefined) return
    if (written) batch.written()
    // it stays in the log until something is done about it
    else void batch.refused(this.#ways.fault).then(() => this.#forget(batch))
  }

  #failed(failure: Failure): void {
    if (failure.reason === 'fault') {
      const unheard = this.#take(failure.id)?.fail(failure)
      if (unheard !== undefined) this.#ways.fault(unheard)
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
    this.#drop(batch).fail(failure)
    this.#forget(batch)
  }

  #forget(batch: Batch): void {
    this.#ways.post({ kind: 'forget', batch: batch.id })
  }

  #down(state: 'full' | 'failing'): void {
    this.#state.set(state)
    this.#again()
  }

  #again(): void {
    this.#retry ??= setTimeout(() => this.#tryAgain(), this.#retry_ms).unref()
  }

  #tryAgain(): void {
    this.#retry = undefined
    if (!this.#state.down) return
    if (this.#held.length > 0) this.#release()
    else this.#ways.post({ kind: 'probe' })
    this.#again()
  }

  #release(): void {
    this.#waiting = this.#held.concat(this.#waiting)
    this.#held = []
    this.#schedule()
  }
}
