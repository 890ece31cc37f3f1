import type { Batch, Entry } from './backlog.ts'
import type { Cleaner } from './cleaner.ts'
import { type Encoded, encode } from './encode.ts'
import { GuardIngestError, type IngestFault } from './errors.ts'
import type { Report } from './reports.ts'
import { type Answer, post, type RequestOptions } from './request.ts'

/** Delays before the retries of a request, in ms. Jitter: up to 25 % in both directions. */
const RETRY_MS = [200, 1_000, 5_000]

/** Numbers of sent and failed records. */
export interface Outcome {
  readonly sent: number
  readonly failed: number
}

/** Sends batches to the gateway, one request at a time. */
export class Delivery {
  readonly #request: Omit<RequestOptions, 'signal'>
  readonly #cleaner: Cleaner
  readonly #report: Report
  #stop = new AbortController()
  /** The failure of the last try. Undefined after a success. */
  #failure: Failure | undefined

  constructor(request: Omit<RequestOptions, 'signal'>, cleaner: Cleaner, report: Report) {
    this.#request = request
    this.#cleaner = cleaner
    this.#report = report
  }

  /** Aborts the batch in flight. The report includes `unsent` queued records. */
  abandon(unsent: number): void {
    this.#stop.abort()
    this.#stop = new AbortController()
    if (unsent > 0) this.#abandoned(unsent)
  }

  /** Never rejects. Failures are reported. */
  async deliver(batch: Batch): Promise<Outcome> {
    const { signal } = this.#stop
    const count = batch.entries.length
    try {
      return await this.#deliver(batch, signal)
    } catch (error) {
      return this.#failed(count, { status: null, code: 'HTTP_ERROR', path: null }, 'They could not be written.', error)
    }
  }

  async #deliver(batch: Batch, signal: AbortSignal): Promise<Outcome> {
    const { entries } = batch
    const encoded = encode(batch, this.#cleaner)
    const answer = await this.#tries(encoded.body, signal)
    if (answer.taken) return { sent: entries.length, failed: 0 }
    if (signal.aborted) return this.#abandoned(entries.length)
    if (answer.fault.status === 413 && entries.length > 1) return await this.#halves(batch, signal)
    const refused = immutableIn(answer, encoded)
    if (refused === undefined) return this.#failed(entries.length, answer.fault, answer.message, answer.cause)
    this.#failed(1, answer.fault, answer.message)
    const rest = { ...batch, entries: entries.filter((entry) => entry !== refused) }
    return sum({ sent: 0, failed: 1 }, rest.entries.length === 0 ? NOTHING : await this.#deliver(rest, signal))
  }

  async #halves(batch: Batch, signal: AbortSignal): Promise<Outcome> {
    const middle = Math.ceil(batch.entries.length / 2)
    const first = await this.#deliver({ ...batch, entries: batch.entries.slice(0, middle), last: false }, signal)
    return sum(first, await this.#deliver({ ...batch, entries: batch.entries.slice(middle) }, signal))
  }

  async #tries(body: string, signal: AbortSignal): Promise<Answer> {
    let answer = await this.#try(body, signal)
    for (const wait of RETRY_MS) {
      if (answer.taken || !answer.retry || signal.aborted) return answer
      await pause(Math.max(wait * (0.75 + Math.random() / 2), answer.wait_ms), signal)
      if (signal.aborted) return answer
      answer = await this.#try(body, signal)
    }
    return answer
  }

  async #try(body: string, signal: AbortSignal): Promise<Answer> {
    const answer = await post(body, { ...this.#request, signal })
    if (answer.taken) this.#failure = undefined
    else if (!signal.aborted) this.#failure = answer
    return answer
  }

  /** Reports the last failure as the cause, such as a gateway that is not running, and the lack of time only without one. */
  #abandoned(count: number): Outcome {
    const { fault, message, cause } = this.#failure ?? { fault: ABANDONED, message: NO_TIME }
    return this.#failed(count, fault, message, cause)
  }

  #failed(count: number, fault: IngestFault, why: string, cause?: unknown): Outcome {
    const what = `${count} ${count === 1 ? 'record was' : 'records were'} not stored`
    this.#report(new GuardIngestError(`${what}. ${why}`, fault, cause))
    return { sent: 0, failed: count }
  }
}

type Failure = Pick<Extract<Answer, { taken: false }>, 'fault' | 'message' | 'cause'>

const ABANDONED: IngestFault = { status: null, code: 'ABANDONED', path: null }
const NO_TIME = 'There was no more time to send them.'
const NOTHING: Outcome = { sent: 0, failed: 0 }
const sum = (left: Outcome, right: Outcome): Outcome => ({
  sent: left.sent + right.sent,
  failed: left.failed + right.failed,
})

const IMMUTABLE = new Map<string, 'spans' | 'events'>([
  ['SPAN_IMMUTABLE', 'spans'],
  ['EVENT_IMMUTABLE', 'events'],
])

/** The record with a reserved id that the gateway refused. */
const immutableIn = (answer: Answer, encoded: Encoded): Entry | undefined => {
  if (answer.taken || answer.fault.status !== 409) return undefined
  const list = IMMUTABLE.get(answer.fault.code)
  const index = /^\/(?:spans|events)\/(\d+)/.exec(answer.fault.path ?? '')?.[1]
  return list === undefined || index === undefined ? undefined : encoded[list][Number(index)]
}

/** Resolves after `ms`, or when `signal` aborts. Does not keep the process alive. */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    timer.unref()
    signal.addEventListener('abort', end, { once: true })
  })
