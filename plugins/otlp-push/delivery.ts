import type { Gateway } from 'guard-gateway/core'
import { connectionFault, post } from 'guard-gateway/lib/network'
import { cutBeforeRedaction, cutText, sanitise, terminalLine } from 'guard-gateway/lib/text'
import type { Connections, UpstreamClient } from 'guard-gateway/lib/upstream-client'
import { type Address, addressOf } from './address.ts'
import { type ExportResult, exportResult } from './export-result.ts'
import type { ReceiverOptions } from './receiver-options.ts'
import type { RequestBody } from './request-bodies.ts'

/** Older batches are dropped. */
const MAX_AGE_MS = 300_000
const MIN_WAIT_MS = 1_000
const MAX_BACKOFF_MS = 60_000
const ERROR_CHARS = 300

/** Numbers of spans. */
export interface Counts {
  readonly sent: number
  /** Not delivered, because the queue was full or the spans too old. */
  readonly dropped: number
  readonly failed: number
}

/** Delivers batches to a receiver, one request at a time. */
export class Delivery {
  readonly #gateway: Gateway
  readonly #address: Address
  readonly #connections: Connections
  readonly #stop = new AbortController()
  readonly #counts = { sent: 0, dropped: 0, failed: 0 }
  #last_error: { readonly at: string; readonly message: string } | null = null
  /** Consecutive failed requests. */
  #failures = 0
  #isClosing = false
  #wake = (): void => {}

  constructor(gateway: Gateway, client: UpstreamClient, options: ReceiverOptions) {
    this.#gateway = gateway
    this.#address = addressOf(options)
    this.#connections = client.connect(this.#address.upstream)
  }

  get counts(): Counts {
    return this.#counts
  }

  get last_error(): { readonly at: string; readonly message: string } | null {
    return this.#last_error
  }

  get display(): string {
    return this.#address.display
  }

  get isStopped(): boolean {
    return this.#stop.signal.aborted
  }

  dropped(spans: number): void {
    this.#counts.dropped += spans
  }

  /** Disables retries; a waiting retry runs at once. */
  flush(): void {
    this.#isClosing = true
    this.#wake()
  }

  /** Aborts the request in flight. */
  stop(): void {
    this.#stop.abort()
    this.flush()
    this.#connections.close()
  }

  /** Sends a batch, with retries where they may help. Never rejects. */
  async deliver(body: RequestBody): Promise<void> {
    const until = this.#gateway.clock.tick() + MAX_AGE_MS
    while (!this.isStopped) {
      const result = await this.#attempt(body)
      if (result.kind === 'accepted') return this.#accepted(result, body)
      this.#failed(result.error)
      if (result.kind === 'rejected') return this.#refused(body.spans)
      if (this.#isClosing) break
      await this.#backOff(result.wait_ms)
      if (this.#gateway.clock.tick() >= until) break
    }
    this.dropped(body.spans)
  }

  async #attempt({ bytes, spans }: RequestBody): Promise<ExportResult> {
    const { path, headers, timeout_ms } = this.#address
    const length = ['content-length', String(bytes.length)]
    const request = { method: 'POST', path, headers: [...headers, ...length], body: bytes }
    try {
      const answer = await post(this.#connections, request, timeout_ms, this.#stop.signal)
      return exportResult(answer, spans, this.#gateway.clock)
    } catch (error) {
      // an encoding error cannot be retried
      const kind = error instanceof TypeError ? 'rejected' : 'retryable'
      return { kind, wait_ms: null, error: `The request failed: ${reasonOf(error)}` }
    }
  }

  #accepted({ rejected, error }: Extract<ExportResult, { kind: 'accepted' }>, { spans }: RequestBody): void {
    this.#counts.sent += spans - rejected
    this.#refused(rejected)
    if (error === undefined) this.#failures = 0
    else this.#failed(error)
  }

  #refused(spans: number): void {
    this.#counts.failed += spans
  }

  /** Records why spans were not accepted; of consecutive failures only the first is reported. */
  #failed(error: string): void {
    const text = cutBeforeRedaction(terminalLine(sanitise(`${this.display}: ${error}`)))
    const message = cutText(this.#gateway.redact.text(text), ERROR_CHARS)
    this.#last_error = { at: new Date(this.#gateway.clock.now()).toISOString(), message }
    this.#failures++
    if (this.#failures === 1) this.#gateway.fault(new Error(`Spans were not accepted. ${message}`), 'otlp-push')
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

const reasonOf = (error: unknown): string => {
  const { what, fix } = connectionFault(error as NodeJS.ErrnoException)
  return `${what}.${fix === undefined ? '' : ` ${fix}`}`
}
