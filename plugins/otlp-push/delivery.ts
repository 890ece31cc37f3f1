import type { Connections, Gateway, UpstreamClient } from 'guard-gateway/core'
import { connectionFault } from 'guard-gateway/lib/network'
import { cutBeforeRedaction, cutText, sanitise, terminalLine } from 'guard-gateway/lib/text'
import { type Address, addressOf } from './address.ts'
import type { Body } from './bodies.ts'
import type { ReceiverOptions } from './receiver-options.ts'
import { ask } from './request.ts'
import { type Verdict, verdictOf } from './verdict.ts'

/** A batch that is older is dropped. */
const MAX_AGE_MS = 300_000
const MIN_WAIT_MS = 1_000
const MAX_BACKOFF_MS = 60_000
const ERROR_CHARS = 300

/** What became of spans. */
export interface Counts {
  readonly sent: number
  /** Not taken by the receiver: there was no room for them, or no time. */
  readonly dropped: number
  /** Refused by the receiver. */
  readonly failed: number
}

/** Brings batches to a receiver, one request at a time. */
export class Delivery {
  readonly #gateway: Gateway
  readonly #address: Address
  readonly #connections: Connections
  readonly #stop = new AbortController()
  readonly #counts = { sent: 0, dropped: 0, failed: 0 }
  #last_error: { readonly at: string; readonly message: string } | null = null
  /** Requests in a row that failed. */
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

  /** Why spans were not taken, the last time that some were not. */
  get last_error(): { readonly at: string; readonly message: string } | null {
    return this.#last_error
  }

  /** The address, without what may be secret in it. */
  get shown(): string {
    return this.#address.shown
  }

  get isStopped(): boolean {
    return this.#stop.signal.aborted
  }

  dropped(spans: number): void {
    this.#counts.dropped += spans
  }

  /** From now on a request that fails is not tried again; one that waits for its next try has it now. */
  hurry(): void {
    this.#isClosing = true
    this.#wake()
  }

  /** Gives up what is under way. */
  stop(): void {
    this.#stop.abort()
    this.hurry()
    this.#connections.close()
  }

  /** Sends a batch, again and again where that may help. Never rejects. */
  async deliver(body: Body): Promise<void> {
    const until = this.#gateway.clock.tick() + MAX_AGE_MS
    while (!this.isStopped) {
      const verdict = await this.#tried(body)
      if (verdict.kind === 'taken') return this.#taken(verdict, body)
      this.#failed(verdict.error)
      if (verdict.kind === 'refused') return this.#refused(body.spans)
      if (this.#isClosing) break
      await this.#pause(verdict.wait_ms)
      if (this.#gateway.clock.tick() >= until) break
    }
    this.dropped(body.spans)
  }

  async #tried({ gzip, spans }: Body): Promise<Verdict> {
    const { path, headers, timeout_ms } = this.#address
    const length = ['content-length', String(gzip.length)]
    const request = { method: 'POST', path, headers: [...headers, ...length], body: gzip }
    try {
      const answer = await ask(this.#connections, request, timeout_ms, this.#stop.signal)
      return verdictOf(answer, spans, this.#gateway.clock)
    } catch (error) {
      // what cannot be written today cannot be tomorrow
      const kind = error instanceof TypeError ? 'refused' : 'later'
      return { kind, wait_ms: null, error: `It could not be asked: ${reasonOf(error)}` }
    }
  }

  #taken({ rejected, error }: Extract<Verdict, { kind: 'taken' }>, { spans }: Body): void {
    this.#counts.sent += spans - rejected
    this.#refused(rejected)
    if (error === undefined) this.#failures = 0
    else this.#failed(error)
  }

  #refused(spans: number): void {
    this.#counts.failed += spans
  }

  /** Remembers why spans were not taken; of failures in a row the first is reported. */
  #failed(error: string): void {
    const text = cutBeforeRedaction(terminalLine(sanitise(`${this.shown}: ${error}`)))
    const message = cutText(this.#gateway.redact.text(text), ERROR_CHARS)
    this.#last_error = { at: new Date(this.#gateway.clock.now()).toISOString(), message }
    this.#failures++
    if (this.#failures === 1) this.#gateway.fault(new Error(`Spans were not taken. ${message}`), 'otlp-push')
  }

  /** Waits as long as the receiver asks, else longer from failure to failure. */
  #pause(asked_ms: number | null): Promise<void> {
    const backoff = Math.min(MIN_WAIT_MS * 2 ** Math.min(this.#failures - 1, 6), MAX_BACKOFF_MS)
    const wait = Math.min(Math.max(asked_ms ?? backoff, MIN_WAIT_MS), MAX_AGE_MS)
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
