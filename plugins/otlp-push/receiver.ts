import type { Gateway, UpstreamClient } from 'guard-gateway/core'
import { BATCH_SPANS, bodiesOf } from './bodies.ts'
import { type Counts, Delivery } from './delivery.ts'
import { type EndedSpan, type EndedSpans, readEnded } from './ended-spans.ts'
import type { ReceiverOptions } from './receiver-options.ts'
import { Remembered } from './remembered.ts'
import { SpanQueue, type Waiting } from './span-queue.ts'

const DEFAULT_MAX_QUEUE = 2_048
/** How long the first span waits for others. */
const GATHER_MS = 2_000
/** How long a span that was told of may take to be on record. */
const RECORD_MS = 10_000
/** Spans that were sent: who sends a record once more says nothing new. */
const REMEMBERED = 16_384

/** How a receiver is doing, as `/api/health` shows it. */
export interface ReceiverHealth extends Counts {
  readonly url: string
  /** Spans that wait. */
  readonly queued: number
  /** Spans of the batch that is under way, or waits to be tried again. */
  readonly sending: number
  readonly last_error: { readonly at: string; readonly message: string } | null
}

/** One receiver: what waits for it, read from the record when its turn comes. */
export class Receiver {
  readonly #gateway: Gateway
  readonly #version: string
  readonly #projects: ReadonlySet<string> | undefined
  readonly #delivery: Delivery
  readonly #queue: SpanQueue
  readonly #sent = new Remembered(REMEMBERED)
  #sending = 0
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined
  #isClosing = false

  constructor(gateway: Gateway, client: UpstreamClient, options: ReceiverOptions, version: string) {
    this.#gateway = gateway
    this.#version = version
    this.#projects = options.projects === undefined ? undefined : new Set(options.projects)
    this.#delivery = new Delivery(gateway, client, options)
    this.#queue = new SpanQueue(options.max_queue ?? DEFAULT_MAX_QUEUE)
  }

  health(): ReceiverHealth {
    const { shown: url, counts, last_error } = this.#delivery
    return { url, queued: this.#queue.spans, sending: this.#sending, ...counts, last_error }
  }

  /** Notes what has ended; `project_id` is undefined where it is not known yet. */
  add(one: Waiting, project_id: string | undefined): void {
    if (project_id !== undefined && !this.#wants(project_id)) return
    this.#delivery.dropped(this.#queue.add(one))
    if (this.#queue.spans >= BATCH_SPANS) this.#begin()
    else this.#gather()
  }

  /** Sends what waits, without waiting for more or trying anything twice. Resolves when that is done, or stopped. */
  async end(): Promise<void> {
    this.#isClosing = true
    clearTimeout(this.#timer)
    this.#delivery.hurry()
    await this.#running
    while (this.#queue.spans > 0 && !this.#delivery.isStopped) await this.#turn()
  }

  /** Gives up what is not sent. */
  stop(): void {
    this.#isClosing = true
    this.#delivery.stop()
    this.#delivery.dropped(sum(this.#queue.take(Infinity)))
  }

  #wants(project_id: string): boolean {
    return this.#projects?.has(project_id) ?? true
  }

  #gather(): void {
    if (this.#running === undefined && !this.#isClosing)
      this.#timer ??= setTimeout(() => this.#begin(), GATHER_MS).unref()
  }

  #begin(): void {
    if (this.#running !== undefined || this.#isClosing) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#running = this.#run().finally(() => {
      this.#running = undefined
      if (this.#queue.spans > 0) this.#gather()
    })
  }

  async #run(): Promise<void> {
    let isGoing = true
    while (isGoing) isGoing = (await this.#turn()) && this.#queue.spans >= BATCH_SPANS && !this.#isClosing
  }

  /** Sends one batch; false if nothing of it is on record. Never rejects. */
  async #turn(): Promise<boolean> {
    // whoever has just told of a span is still at work on its record
    await new Promise(setImmediate)
    const waiting = this.#queue.take(BATCH_SPANS)
    this.#sending = sum(waiting)
    const { spans, missing } = await this.#read(waiting)
    this.#keepMissing(missing)
    const fresh = spans.filter((one) => this.#isNew(one))
    for await (const body of bodiesOf(fresh, this.#version)) await this.#delivery.deliver(body)
    this.#sending = 0
    return missing.length < waiting.length
  }

  #read(waiting: readonly Waiting[]): Promise<EndedSpans> {
    return readEnded(this.#gateway.storage, waiting).catch((error: unknown) => {
      this.#gateway.fault(error, 'otlp-push')
      return { spans: [], missing: waiting }
    })
  }

  #keepMissing(missing: readonly Waiting[]): void {
    const since = this.#gateway.clock.tick() - RECORD_MS
    const young = missing.filter((one) => one.since > since && !this.#isClosing)
    this.#delivery.dropped(sum(missing) - sum(young) + this.#queue.putBack(young))
  }

  #isNew({ run, span }: EndedSpan): boolean {
    if (!this.#wants(run.project_id)) return false
    // of a request is told once
    const isRequest = span.owner === 'gateway' && span.parent_id !== null
    return isRequest || this.#sent.add(`${run.trace_id} ${span.id}`)
  }
}

const sum = (waiting: readonly Waiting[]): number => waiting.reduce((total, { spans }) => total + spans, 0)
