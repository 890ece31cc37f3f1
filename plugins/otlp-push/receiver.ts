import type { Gateway } from 'guard-gateway/core'
import type { Counts, Delivery } from './delivery.ts'
import { ExportQueue, type Waiting } from './export-queue.ts'
import { BATCH_SPANS as BATCH, type RequestBody } from './request-bodies.ts'

const DEFAULT_MAX_QUEUE = 2_048
/** Delay of the first span of a batch. */
const BATCH_DELAY_MS = 2_000
/** Time limit for the record of something queued. */
const RECORD_MS = 10_000
/** Limit for the delay of a shutdown. */
const SHUTDOWN_MS = 2_000

/** What is stored of a batch, ready to be delivered, and what is not stored (yet). */
export interface ReadBatch<Item extends Waiting> {
  readonly bodies: AsyncIterable<RequestBody>
  readonly missing: readonly Item[]
}

/** Reads what waits for one receiver when its batch is sent. */
export interface ExportSource<Item extends Waiting> {
  read(queued: readonly Item[]): Promise<ReadBatch<Item>>
}

/** State of a receiver, as in `/api/health`. */
export interface ReceiverHealth extends Counts {
  /** An address, or a file. */
  readonly url: string
  readonly queued: number
  /** Those of the batch that is in flight or waits for a retry. */
  readonly sending: number
  readonly last_error: { readonly at: string; readonly message: string } | null
}

/** A receiver and its queue. What waits is read from stored rows when its batch is sent. */
export class Receiver<Item extends Waiting> {
  readonly #gateway: Gateway
  readonly #projects: ReadonlySet<string> | undefined
  readonly #delivery: Delivery
  readonly #source: ExportSource<Item>
  readonly #delay_ms: number
  readonly #queue: ExportQueue<Item>
  #sending = 0
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined
  #isClosing = false

  constructor(
    gateway: Gateway,
    delivery: Delivery,
    source: ExportSource<Item>,
    options: { readonly projects?: readonly string[]; readonly max_queue?: number; readonly delay_ms?: number },
  ) {
    this.#gateway = gateway
    this.#projects = options.projects === undefined ? undefined : new Set(options.projects)
    this.#delivery = delivery
    this.#source = source
    this.#delay_ms = options.delay_ms ?? BATCH_DELAY_MS
    this.#queue = new ExportQueue(options.max_queue ?? DEFAULT_MAX_QUEUE)
  }

  health(): ReceiverHealth {
    const { display: url, counts, last_error } = this.#delivery
    return { url, queued: this.#queue.count, sending: this.#sending, ...counts, last_error }
  }

  /** Queues something. `project_id` is undefined if unknown. */
  add(one: Item, project_id: string | undefined): void {
    if (project_id !== undefined && !this.#wants(project_id)) return
    this.#delivery.dropped(this.#queue.add(one))
    if (this.#queue.count >= BATCH) this.#startSending()
    else this.#scheduleBatch()
  }

  /** Sends the queue without delay and retries. Resolves when it is sent or stopped. */
  async end(): Promise<void> {
    this.#isClosing = true
    clearTimeout(this.#timer)
    this.#delivery.flush()
    await this.#running
    while (this.#queue.count > 0 && !this.#delivery.isStopped) await this.#sendBatch()
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
      this.#timer ??= setTimeout(() => this.#startSending(), this.#delay_ms).unref()
  }

  #startSending(): void {
    if (this.#running !== undefined || this.#isClosing) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#running = this.#run().finally(() => {
      this.#running = undefined
      if (this.#queue.count > 0) this.#scheduleBatch()
    })
  }

  async #run(): Promise<void> {
    let isGoing = true
    while (isGoing) isGoing = (await this.#sendBatch()) && this.#queue.count >= BATCH && !this.#isClosing
  }

  /** Sends one batch; false if none of its rows is stored. Never rejects. */
  async #sendBatch(): Promise<boolean> {
    // the hook that queued the span may still be writing its record
    await new Promise(setImmediate)
    const queued = this.#queue.take(BATCH)
    this.#sending = sum(queued)
    const { bodies, missing } = await this.#read(queued)
    this.#requeueMissing(missing)
    for await (const body of bodies) await this.#delivery.deliver(body)
    this.#sending = 0
    return missing.length < queued.length
  }

  #read(queued: readonly Item[]): Promise<ReadBatch<Item>> {
    return this.#source.read(queued).catch((error: unknown) => {
      this.#gateway.fault(error, 'otlp-push')
      return { bodies: nothing(), missing: queued }
    })
  }

  #requeueMissing(missing: readonly Item[]): void {
    const since = this.#gateway.clock.tick() - RECORD_MS
    const young = missing.filter((one) => one.since > since && !this.#isClosing)
    this.#delivery.dropped(sum(missing) - sum(young) + this.#queue.requeue(young))
  }
}

async function* nothing(): AsyncGenerator<RequestBody> {}

const sum = (queued: readonly Waiting[]): number => queued.reduce((total, { count }) => total + count, 0)

interface AnyReceiver {
  health(): ReceiverHealth
  end(): Promise<void>
  stop(): void
}

export const healthOf = (receivers: readonly AnyReceiver[]) => {
  const all = receivers.map((receiver) => receiver.health())
  return { queued: all.reduce((total, { queued }) => total + queued, 0), receivers: all }
}

/** Sends what waits after `first`, for two seconds at most, then stops. */
export const endReceivers = async (
  receivers: readonly AnyReceiver[],
  first: () => Promise<void> = async () => {},
): Promise<void> => {
  const { promise: late, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, SHUTDOWN_MS)
  const all = first().then(() => Promise.all(receivers.map((receiver) => receiver.end())))
  await Promise.race([late, all])
  clearTimeout(timer)
  for (const receiver of receivers) receiver.stop()
}
