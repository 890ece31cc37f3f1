import type { Gateway } from 'guard-gateway/core'
import type { UpstreamClient } from 'guard-gateway/lib/upstream-client'
import { type Counts, Delivery } from './delivery.ts'
import { type EndedSpan, type EndedSpans, readEnded } from './ended-spans.ts'
import type { ReceiverOptions } from './receiver-options.ts'
import { RecentKeys } from './recent-keys.ts'
import { BATCH_SPANS, requestBodies } from './request-bodies.ts'
import { type QueuedSpans, SpanQueue } from './span-queue.ts'

const DEFAULT_MAX_QUEUE = 2_048
/** How long the first span of a batch waits for others. */
const BATCH_DELAY_MS = 2_000
/** How long a queued span may take to be recorded. */
const RECORD_MS = 10_000
/** Keys of sent spans, so that a repeated record is not sent again. */
const MAX_SENT_KEYS = 16_384

/** How a receiver is doing, as `/api/health` shows it. */
export interface ReceiverHealth extends Counts {
  readonly url: string
  /** Queued spans. */
  readonly queued: number
  /** Spans of the batch in flight, or waiting for a retry. */
  readonly sending: number
  readonly last_error: { readonly at: string; readonly message: string } | null
}

/** One receiver with its queue; spans are read from recorded rows when their batch is sent. */
export class Receiver {
  readonly #gateway: Gateway
  readonly #version: string
  readonly #projects: ReadonlySet<string> | undefined
  readonly #delivery: Delivery
  readonly #queue: SpanQueue
  readonly #sent = new RecentKeys(MAX_SENT_KEYS)
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

  /** Queues ended spans; `project_id` is undefined while it is unknown. */
  add(one: QueuedSpans, project_id: string | undefined): void {
    if (project_id !== undefined && !this.#wants(project_id)) return
    this.#delivery.dropped(this.#queue.add(one))
    if (this.#queue.spans >= BATCH_SPANS) this.#startSending()
    else this.#scheduleBatch()
  }

  /** Sends the queue without waiting for more and without retries. Resolves when that is done, or stopped. */
  async end(): Promise<void> {
    this.#isClosing = true
    clearTimeout(this.#timer)
    this.#delivery.flush()
    await this.#running
    while (this.#queue.spans > 0 && !this.#delivery.isStopped) await this.#sendBatch()
  }

  /** Drops what is not sent. */
  stop(): void {
    this.#isClosing = true
    this.#delivery.stop()
    this.#delivery.dropped(sum(this.#queue.take(Infinity)))
  }

  #wants(project_id: string): boolean {
    return this.#projects?.has(project_id) ?? true
  }

  #scheduleBatch(): void {
    if (this.#running === undefined && !this.#isClosing)
      this.#timer ??= setTimeout(() => this.#startSending(), BATCH_DELAY_MS).unref()
  }

  #startSending(): void {
    if (this.#running !== undefined || this.#isClosing) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#running = this.#run().finally(() => {
      this.#running = undefined
      if (this.#queue.spans > 0) this.#scheduleBatch()
    })
  }

  async #run(): Promise<void> {
    let isGoing = true
    while (isGoing) isGoing = (await this.#sendBatch()) && this.#queue.spans >= BATCH_SPANS && !this.#isClosing
  }

  /** Sends one batch; false if nothing of it is recorded. Never rejects. */
  async #sendBatch(): Promise<boolean> {
    // the hook that queued a span may still be writing its record
    await new Promise(setImmediate)
    const queued = this.#queue.take(BATCH_SPANS)
    this.#sending = sum(queued)
    const { spans, missing } = await this.#read(queued)
    this.#requeueMissing(missing)
    const fresh = spans.filter((one) => this.#isNew(one))
    for await (const body of requestBodies(fresh, this.#version)) await this.#delivery.deliver(body)
    this.#sending = 0
    return missing.length < queued.length
  }

  #read(queued: readonly QueuedSpans[]): Promise<EndedSpans> {
    return readEnded(this.#gateway.storage, queued).catch((error: unknown) => {
      this.#gateway.fault(error, 'otlp-push')
      return { spans: [], missing: queued }
    })
  }

  #requeueMissing(missing: readonly QueuedSpans[]): void {
    const since = this.#gateway.clock.tick() - RECORD_MS
    const young = missing.filter((one) => one.since > since && !this.#isClosing)
    this.#delivery.dropped(sum(missing) - sum(young) + this.#queue.requeue(young))
  }

  #isNew({ run, span }: EndedSpan): boolean {
    if (!this.#wants(run.project_id)) return false
    // a request is queued once
    const isRequest = span.owner === 'gateway' && span.parent_id !== null
    return isRequest || this.#sent.add(`${run.trace_id} ${span.id}`)
  }
}

const sum = (queued: readonly QueuedSpans[]): number => queued.reduce((total, { spans }) => total + spans, 0)
