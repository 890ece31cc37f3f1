import { GuardError } from 'guard-gateway/core'
import type { BatchValues, Failure, ToWorker } from './protocol.ts'
import type { State } from './state.ts'

const MAX_BATCHES = 10_000
const MAX_BYTES = 64 * 1024 * 1024

interface Batch {
  readonly values: BatchValues
  readonly bytes: number
  /** Wait while the database cannot be written, instead of being refused. */
  readonly hold: boolean
  readonly resolve: (written: boolean) => void
  readonly reject: (error: Error) => void
}

export interface Delays {
  /** Milliseconds after which an unanswered commit counts as waiting. */
  readonly slow_ms: number
  /** Milliseconds between two tries while the database cannot be written. */
  readonly retry_ms: number
}

const refusal = ({ reason, message }: Failure): Error => {
  if (reason === 'full') return new GuardError('STORAGE_FULL')
  if (reason === 'failing') return new GuardError('STORAGE_UNAVAILABLE', `The database cannot be written: ${message}.`)
  return new TypeError(`The batch cannot be written: ${message}`)
}

/**
 * Batches on their way to the disk. Those of one turn of the event loop, and all that come while a commit runs, go in one message;
 * each is kept until it is answered, so that it can be sent again to another worker.
 */
export class Writes {
  readonly #post: (message: ToWorker) => void
  readonly #state: State
  readonly #delays: Delays
  /** What the message that is out holds. A map for each message: one that is used on keeps what it held, table behind table, until the engine looks through its whole heap. */
  #sent = new Map<number, Batch>()
  #waiting: Batch[] = []
  #held: Batch[] = []
  #id = 0
  #count = 0
  #bytes = 0
  #scheduled = false
  #sent_at = 0
  #slow: NodeJS.Timeout | undefined
  #retry: NodeJS.Timeout | undefined
  #idle: (() => void) | undefined

  constructor(post: (message: ToWorker) => void, state: State, delays: Delays) {
    this.#post = post
    this.#state = state
    this.#delays = delays
  }

  /** How many batches are not answered yet, and their bytes, about. */
  get fill(): { readonly batches: number; readonly bytes: number } {
    return { batches: this.#count, bytes: this.#bytes }
  }

  /** Takes a batch, whose values begin with two places for this queue. Rejects with OVERLOADED if there are too many. */
  add(values: BatchValues, bytes: number, hold: boolean): Promise<boolean> {
    if (this.#count >= MAX_BATCHES || this.#bytes + bytes > MAX_BYTES) {
      return Promise.reject(
        new GuardError('OVERLOADED', 'The trace store has as many records waiting as it takes. Try again in a moment.'),
      )
    }
    values[0] = ++this.#id
    this.#count++
    this.#bytes += bytes
    return new Promise((resolve, reject) => {
      this.#waiting.push({ values, bytes, hold, resolve, reject })
      this.#schedule()
    })
  }

  /** Takes in what the worker answered. */
  answered(done: readonly number[], failed: readonly Failure[]): void {
    for (let at = 0; at < done.length; at += 2) this.#settle(done[at] ?? 0)?.resolve(done[at + 1] === 1)
    for (const failure of failed) this.#failed(failure)
    const worst = failed.find(({ reason }) => reason !== 'fault')
    if (worst === undefined) this.#state.set('ok')
    else this.#down(worst.reason === 'full' ? 'full' : 'failing')
    if (this.#waiting.length > 0) this.#schedule()
    if (this.#state.now === 'ok' && this.#held.length > 0) this.#release()
    if (this.#sent.size + this.#waiting.length === 0) this.#idle?.()
  }

  /** Sends everything that was not answered once more, after the worker was replaced. */
  resend(): void {
    this.#waiting = [...this.#sent.values(), ...this.#waiting]
    this.#sent = new Map()
    if (this.#state.down) this.#again()
    this.#schedule()
  }

  /** Refuses what may not wait: the worker does not come up. */
  unavailable(message: string): void {
    const all = [...this.#sent.values(), ...this.#waiting]
    this.#sent = new Map()
    this.#waiting = []
    for (const batch of all) this.#refuse(batch, 'failing', message)
    this.#state.set('failing')
    this.#idle?.()
  }

  /** Resolves when everything is answered or held; what is held is then refused. */
  async end(): Promise<void> {
    if (this.#sent.size + this.#waiting.length > 0) await new Promise<void>((resolve) => (this.#idle = resolve))
    clearTimeout(this.#slow)
    clearTimeout(this.#retry)
    for (const batch of this.#held)
      this.#refuse({ ...batch, hold: false }, this.#state.now === 'full' ? 'full' : 'failing', 'the gateway is closing')
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      this.#flush()
    })
  }

  #flush(): void {
    if (this.#sent.size > 0 || this.#waiting.length === 0) return
    const batches = this.#waiting
    this.#waiting = []
    const sent = new Map<number, Batch>()
    const values: BatchValues[] = []
    let bytes = 0
    for (const batch of batches) {
      sent.set(Number(batch.values[0]), batch)
      values.push(batch.values)
      bytes += batch.bytes
    }
    this.#sent = sent
    this.#post({ kind: 'write', batches: values, bytes })
    this.#sent_at = performance.now()
    this.#slow ??= setTimeout(() => this.#watch(), this.#delays.slow_ms).unref()
  }

  /** Looks whether a commit waits; runs at most once per `slow_ms`, however many commits there are. */
  #watch(): void {
    this.#slow = undefined
    if (this.#sent.size === 0) return
    const left = this.#delays.slow_ms - (performance.now() - this.#sent_at)
    if (left <= 0 && this.#state.now === 'ok') this.#state.set('busy')
    this.#slow = setTimeout(() => this.#watch(), left > 0 ? left : this.#delays.slow_ms).unref()
  }

  #settle(id: number): Batch | undefined {
    const batch = this.#sent.get(id)
    if (batch === undefined) return undefined
    this.#sent.delete(id)
    this.#count--
    this.#bytes -= batch.bytes
    return batch
  }

  #failed(failure: Failure): void {
    const batch = this.#sent.get(failure.id)
    if (batch === undefined) return
    if (failure.reason === 'fault') this.#settle(failure.id)?.reject(refusal(failure))
    else {
      this.#sent.delete(failure.id)
      this.#refuse(batch, failure.reason, failure.message)
    }
  }

  #refuse(batch: Batch, reason: Failure['reason'], message: string): void {
    if (batch.hold) this.#held.push(batch)
    else {
      this.#count--
      this.#bytes -= batch.bytes
      batch.reject(refusal({ id: 0, reason, message }))
    }
  }

  #down(state: 'full' | 'failing'): void {
    this.#state.set(state)
    this.#again()
  }

  #again(): void {
    this.#retry ??= setTimeout(() => this.#tryAgain(), this.#delays.retry_ms).unref()
  }

  #tryAgain(): void {
    this.#retry = undefined
    if (!this.#state.down) return
    if (this.#held.length > 0) this.#release()
    else this.#post({ kind: 'probe' })
    this.#again()
  }

  #release(): void {
    this.#waiting = this.#held.concat(this.#waiting)
    this.#held = []
    this.#schedule()
  }
}
