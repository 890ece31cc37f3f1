import type { Gateway } from 'guard-gateway/core'
import { cutBeforeRedaction, cutText, sanitise, terminalLine } from '#lib/text'
import type { ExportResult } from './export-result.ts'
import type { RequestBody } from './request-bodies.ts'

/** Older batches are dropped. */
const MAX_AGE_MS = 300_000
const MIN_WAIT_MS = 1_000
const MAX_BACKOFF_MS = 60_000
const ERROR_CHARS = 300

/** Numbers of spans or records. */
export interface Counts {
  readonly sent: number
  /** Not delivered, because the queue was full or they were too old. */
  readonly dropped: number
  readonly failed: number
}

/** Delivers batches to one place, one at a time, and tries again where that may help. */
export abstract class Delivery {
  protected readonly gateway: Gateway
  /** `Spans`, at the beginning of a sentence. */
  readonly #parts: string
  readonly #counts = { sent: 0, dropped: 0, failed: 0 }
  #last_error: { readonly at: string; readonly message: string } | null = null
  /** Consecutive failures. */
  #failures = 0
  #isClosing = false
  #isStopped = false
  #wake = (): void => {}

  constructor(gateway: Gateway, parts: string) {
    this.gateway = gateway
    this.#parts = parts
  }

  /** The place as people read of it. */
  abstract readonly display: string

  /** One attempt. Rejects never. */
  protected abstract attempt(body: RequestBody): Promise<ExportResult>

  /** Aborts what is under way and lets go of what was acquired. */
  protected abstract close(): void

  get counts(): Counts {
    return this.#counts
  }

  get last_error(): { readonly at: string; readonly message: string } | null {
    return this.#last_error
  }

  get isStopped(): boolean {
    return this.#isStopped
  }

  dropped(count: number): void {
    this.#counts.dropped += count
  }

  /** Disables retries; a waiting retry runs at once. */
  flush(): void {
    this.#isClosing = true
    this.#wake()
  }

  /** Gives up the batch under way. */
  stop(): void {
    this.#isStopped = true
    this.close()
    this.flush()
  }

  /** Delivers a batch, with retries where they may help. Never rejects. */
  async deliver(body: RequestBody): Promise<void> {
    const until = this.gateway.clock.tick() + MAX_AGE_MS
    while (!this.isStopped) {
      const result = await this.attempt(body)
      if (result.kind === 'accepted') return this.#accepted(result, body)
      this.#failed(result.error)
      if (result.kind === 'rejected') return this.#refused(body.count)
      if (this.#isClosing) break
      await this.#backOff(result.wait_ms)
      if (this.gateway.clock.tick() >= until) break
    }
    this.dropped(body.count)
  }

  #accepted({ rejected, error }: Extract<ExportResult, { kind: 'accepted' }>, { count }: RequestBody): void {
    this.#counts.sent += count - rejected
    this.#refused(rejected)
    if (error === undefined) this.#failures = 0
    else this.#failed(error)
  }

  #refused(count: number): void {
    this.#counts.failed += count
  }

  /** Records why something was not accepted; of consecutive failures only the first is reported. */
  #failed(error: string): void {
    const text = cutBeforeRedaction(terminalLine(sanitise(`${this.display}: ${error}`)))
    const message = cutText(this.gateway.redact.text(text), ERROR_CHARS)
    this.#last_error = { at: new Date(this.gateway.clock.now()).toISOString(), message }
    this.#failures++
    if (this.#failures === 1) this.gateway.fault(new Error(`${this.#parts} were not accepted. ${message}`), 'otlp-push')
  }

  /** Waits as long as the receiver demands, otherwise with exponential backoff. */
  #backOff(retry_after_ms: number | null): Promise<void> {
    const backoff = Math.min(MIN_WAIT_MS * 2 ** Math.min(this.#failures - 1, 6), MAX_BACKOFF_MS)
    const wait = Math.min(Math.max(retry_after_ms ?? backoff, MIN_WAIT_MS), MAX_AGE_MS)
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, wait).unref()
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
