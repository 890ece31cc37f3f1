import type { Gateway } from 'guard-gateway/core'
import { thrownText } from '#lib/errors'
import type { Notification, NotifyResult, NotifyTarget } from '#lib/notifier'
import { cutBeforeRedaction, cutText, sanitise, terminalLine } from '#lib/text'

/** Notifications that wait for one receiver; then the oldest are dropped. */
const MAX_QUEUE = 200
/** An older notification is news no more. */
const MAX_AGE_MS = 3_600_000
/** How long an attempt may take, whatever the notifier does. */
const ATTEMPT_MS = 15_000
const MIN_WAIT_MS = 1_000
const MAX_BACKOFF_MS = 300_000
const ERROR_CHARS = 300
/** Failed attempts in a row after which a receiver counts as failing. */
const FAILING = 3

/** How a receiver is doing. */
export interface ReceiverHealth {
  readonly name: string
  readonly notifier: string
  /** Its address without secrets. */
  readonly target: string
  readonly status: 'ok' | 'failing'
  readonly queued: number
  readonly delivered: number
  /** For want of room or time. */
  readonly dropped: number
  /** Refused by the receiver. */
  readonly failed: number
  readonly last_delivered_at: string | null
  readonly last_error: { readonly at: string; readonly message: string } | null
}

/** One receiver with its queue: one attempt at a time, in order, tried again with growing pauses. */
export class Delivery {
  readonly name: string
  readonly #notifier: string
  readonly #gateway: Gateway
  readonly #target: NotifyTarget
  readonly #queue: { readonly notification: Notification; readonly since: number }[] = []
  readonly #stop = new AbortController()
  readonly #counts = { delivered: 0, dropped: 0, failed: 0 }
  #last_delivered_at: string | null = null
  #last_error: ReceiverHealth['last_error'] = null
  #failures = 0
  #hasLost = false
  #running: Promise<void> | undefined
  #isClosing = false
  #wake = (): void => {}

  constructor(gateway: Gateway, name: string, notifier: string, target: NotifyTarget) {
    this.#gateway = gateway
    this.name = name
    this.#notifier = notifier
    this.#target = target
  }

  health(): ReceiverHealth {
    return {
      name: this.name,
      notifier: this.#notifier,
      target: this.#redacted(this.#target.label),
      status: this.#failures >= FAILING || this.#hasLost ? 'failing' : 'ok',
      queued: this.#queue.length,
      ...this.#counts,
      last_delivered_at: this.#last_delivered_at,
      last_error: this.#last_error,
    }
  }

  add(notification: Notification): void {
    if (this.#stop.signal.aborted) {
      this.#lost('dropped', 'The gateway stops.')
      return
    }
    this.#queue.push({ notification, since: this.#gateway.clock.tick() })
    // the first may be under way
    if (this.#queue.length > MAX_QUEUE) {
      this.#queue.splice(1, 1)
      this.#lost('dropped', `More than ${MAX_QUEUE} messages waited.`)
    }
    this.#run()
  }

  /** One attempt at once, beside the queue. */
  async test(notification: Notification): Promise<NotifyResult> {
    const result = await this.#attempt(notification)
    return result.outcome === 'delivered' ? result : { ...result, error: this.#redacted(result.error) }
  }

  /** Sends what waits, without pauses and without a second attempt. Resolves when that is done, or stopped. */
  async end(): Promise<void> {
    this.#isClosing = true
    this.#wake()
    await this.#running
  }

  /** Drops what is not sent. */
  stop(): void {
    this.#isClosing = true
    this.#stop.abort()
    this.#wake()
    this.#target.close?.()
  }

  #run(): void {
    this.#running ??= this.#deliverAll().finally(() => {
      this.#running = undefined
      if (this.#queue.length > 0) this.#run()
    })
  }

  async #deliverAll(): Promise<void> {
    for (let [first] = this.#queue; first !== undefined; [first] = this.#queue) {
      await this.#deliver(first.notification, first.since + MAX_AGE_MS)
      this.#queue.shift()
    }
  }

  async #deliver(notification: Notification, until: number): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const result = await this.#attempt(notification)
      if (result.outcome === 'delivered') return this.#delivered()
      this.#failed(result.error)
      if (result.outcome === 'rejected') return this.#lost('failed')
      if (this.#isClosing) break
      await this.#backOff(result.wait_ms ?? null)
      if (this.#gateway.clock.tick() >= until) break
    }
    this.#lost('dropped')
  }

  /** Never rejects, and never takes longer than it may. */
  async #attempt(notification: Notification): Promise<NotifyResult> {
    const ended = new AbortController()
    const end = (): void => ended.abort()
    this.#stop.signal.addEventListener('abort', end, { once: true })
    const { promise: late, resolve } = Promise.withResolvers<NotifyResult>()
    ended.signal.addEventListener('abort', () =>
      // one that heeds the signal says more
      setImmediate(() => resolve({ outcome: 'retryable', error: `It took longer than ${ATTEMPT_MS / 1_000} s.` })),
    )
    const timer = setTimeout(end, ATTEMPT_MS)
    if (this.#stop.signal.aborted) end()
    try {
      return await Promise.race([this.#target.send(notification, ended.signal), late])
    } catch (error) {
      return { outcome: 'retryable', error: thrownText(error) }
    } finally {
      clearTimeout(timer)
      this.#stop.signal.removeEventListener('abort', end)
    }
  }

  #delivered(): void {
    this.#counts.delivered++
    this.#failures = 0
    this.#hasLost = false
    this.#last_delivered_at = new Date(this.#gateway.clock.now()).toISOString()
  }

  #lost(how: 'dropped' | 'failed', why?: string): void {
    this.#counts[how]++
    this.#hasLost = true
    if (why !== undefined) this.#note(why)
  }

  /** Of failures in a row the first is reported. */
  #failed(error: string): void {
    this.#failures++
    const message = this.#note(error)
    if (this.#failures === 1) this.#gateway.fault(new Error(`"${this.name}" was not notified. ${message}`), 'notify')
  }

  #note(error: string): string {
    const message = this.#redacted(`${this.#target.label}: ${error}`)
    this.#last_error = { at: new Date(this.#gateway.clock.now()).toISOString(), message }
    return message
  }

  #redacted(text: string): string {
    const line = terminalLine(sanitise(cutBeforeRedaction(text, 4 * ERROR_CHARS)))
    return cutText(this.#gateway.redact.text(line), ERROR_CHARS)
  }

  /** Waits as long as the receiver asks, else twice as long each time. */
  #backOff(retry_after_ms: number | null): Promise<void> {
    const backoff = Math.min(MIN_WAIT_MS * 2 ** Math.min(this.#failures - 1, 9), MAX_BACKOFF_MS)
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
