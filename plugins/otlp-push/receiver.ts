import type { Gateway } from 'guard-gateway/core'
import type { UpstreamClient } from 'guard-gateway/lib/upstream-client'
import { type Counts, Delivery } from './delivery.ts'
import { type EndedSpan, type EndedSpans, readEnded } from './ended-spans.ts'
import type { ReceiverOptions } from './receiver-options.ts'
import { RecentKeys } from './recent-keys.ts'
import { BATCH_SPANS, type Compression, requestBodies } from './request-bodies.ts'
import { type QueuedSpans, SpanQueue } from './span-queue.ts'

const DEFAULT_MAX_QUEUE = 2_048
/** Delay of the first span of a batch. */
const BATCH_DELAY_MS = 2_000
/** Time limit for the record of a queued span. */
const RECORD_MS = 10_000
/** Keys of sent spans, so that a repeated record is not exported again. */
const MAX_SENT_KEYS = 16_384

/** State of a receiver, as in `/api/health`. */
export interface ReceiverHealth extends Counts {
  readonly url: string
  readonly queued: number
  /** Spans of the batch that is in flight or waits for a retry. */
  readonly sending: number
  readonly last_error: { readonly at: string; readonly message: string } | null
}

/** A receiver and its queue. Spans are read from stored rows when their batch is sent. */
export class Receiver {
  readonly #gateway: Gateway
  readonly #version: string
  readonly #compression: Compression
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
    this.#compression = options.compression ?? 'gzip'
    this.#projects = options.projects === undefined ? undefined : new Set(options.projects)
    this.#delivery = new Delivery(gateway, client, options)
    this.#queue = new SpanQueue(options.max_queue ?? DEFAULT_MAX_QUEUE)
  }

  health(): ReceiverHealth {
    const { display: url, counts, last_error } = this.#delivery
    return { url, queued: this.#queue.spans, sending: this.#sending, ...counts, last_error }
  }

  /** Queues ended spans. `project_id` is undefined if unknown. */
  add(one: QueuedSpans, project_id: string | undefined): void {
    if (project_id !== undefined && !this.#wants(project_id)) return
    this.#delivery.dropped(this.#queue.add(one))
    if (this.#queue.spans >= BATCH_SPANS) this.#startSending()
    else this.#scheduleBatch()
  }

  /** Sends the queue without delay and retries. Resolves when it is sent or stopped. */
  async end(): Promise<void> {
    this.#isClosing = true
    clearTimeout(this.#timer)
    this.#delivery.flush()
    await this.#running
    while (this.#queue.spans > 0 && !this.#delivery.isStopped) await this.#sendBatch()
  }

  /** Drops unsent spans. */
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

  /** Sends one batch; false if none of its rows is stored. Never rejects. */
  async #sendBatch(): Promise<boolean> {
    // the hook that queued the span may still be writing its record
    await new Promise(setImmediate)
    const queued = this.#queue.take(BATCH_SPANS)
    this.#sending = sum(queued)
    const { spans, missing } = await this.#read(queued)
    this.#requeueMissing(missing)
    const fresh = spans.filter((one) => this.#isNew(one))
    for await (const body of requestBodies(fresh, this.#version, this.#compression)) await this.#delivery.deliver(body)
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
    // a request is queued once only
    const isRequest = span.owner === 'gateway' && span.parent_id !== null
    return isRequest || this.#sent.add(`${run.trace_id} ${span.id}`)
  }
}

const sum = (queued: readonly QueuedSpans[]): number => queued.reduce((total, { spans }) => total + spans, 0)
