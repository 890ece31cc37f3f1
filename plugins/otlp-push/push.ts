import { type Fragment, type Gateway, type Recording, type Session, stages, type Tables } from 'guard-gateway/core'
import { resultsIn, type ToolRecord } from '#lib/trace'
import { type EndedSpan, readEnded } from './ended-spans.ts'
import type { QueuedSpans } from './export-queue.ts'
import type { Signal } from './export-result.ts'
import { clientOf, HttpDelivery } from './http-delivery.ts'
import { type ExportSource, endReceivers, healthOf, type ReadBatch, Receiver } from './receiver.ts'
import type { ReceiverOptions } from './receiver-options.ts'
import { type Compression, requestBodies } from './request-bodies.ts'

/** Queues ended spans for each receiver. Reading and sending are not part of any request. */
export class Push {
  readonly #gateway: Gateway
  readonly #receivers: readonly Receiver<QueuedSpans>[]
  readonly #roots: EndedRoots

  /** Throws MISSING_PLUGIN without an HTTP client, and TypeError for an invalid address. */
  constructor(gateway: Gateway, receivers: readonly ReceiverOptions[], version: string) {
    this.#gateway = gateway
    const client = clientOf(gateway)
    this.#receivers = receivers.map(
      (options) =>
        new Receiver(
          gateway,
          new HttpDelivery(gateway, client, options, SPANS),
          new SpanSource(gateway, options, version),
          options,
        ),
    )
    this.#roots = new EndedRoots(gateway, ({ trace_id, root_span_id, project_id }) =>
      this.#add({ from: 'runs', trace_id, id: root_span_id, count: 1 }, project_id),
    )
  }

  start(): void {
    const { hooks, health } = this.#gateway
    hooks.record.tap('otlp-push', (recording) => this.#called(recording))
    hooks.tool.tap('otlp-push', (isRead, { record }) => {
      if (isRead) this.#toolCalled(record)
      return isRead
    })
    hooks.keep.tap('otlp-push', (fragments) => {
      for (const fragment of fragments) this.#stored(fragment)
    })
    // runs after all plugins that may still write records
    hooks.close.tapPromise({ name: 'otlp-push', stage: stages.close.push }, () => this.#end())
    health.set('otlp_push', () => this.#health())
  }

  #health() {
    return healthOf(this.#receivers)
  }

  #called({ record: { id, trace_id, project_id, turns }, settled, attempt }: Recording): void {
    if (attempt > 0 || trace_id === null) return
    this.#roots.called(trace_id, settled.call.session)
    this.#add({ from: 'calls', trace_id, id, count: 1 }, project_id)
    const results = turns === null ? 0 : resultsIn(turns).length
    if (results > 0) this.#add({ from: 'results', trace_id, id, count: results }, project_id)
  }

  #toolCalled({ id, trace_id, project_id }: ToolRecord): void {
    if (trace_id === null) return
    this.#roots.called(trace_id, null)
    this.#add({ from: 'mcp_audit', trace_id, id, count: 1 }, project_id ?? undefined)
  }

  /** Imported runs are not exported. */
  #stored({ origin, run: { trace_id, project_id }, spans }: Fragment): void {
    if (origin === 'import') return
    this.#roots.changed(trace_id)
    for (const { id, end_ns, status } of spans)
      if (end_ns !== null && status !== 'running') this.#add({ from: 'spans', trace_id, id, count: 1 }, project_id)
  }

  #add(ended: Omit<QueuedSpans, 'since'>, project_id: string | undefined): void {
    const waiting = { ...ended, since: this.#gateway.clock.tick() }
    for (const receiver of this.#receivers) receiver.add(waiting, project_id)
  }

  #end(): Promise<void> {
    return endReceivers(this.#receivers, () => this.#roots.end())
  }
}

/** Idle time after which a run without an explicit root counts as ended. */
const QUIET_MS = 60_000
const TURN_MS = 2_000
const MAX_RUNS = 10_000

interface RunActivity {
  /** Monotonic, milliseconds. */
  readonly at: number
  /** Session of the last request. It may have other requests in flight. */
  readonly session: Session | null
  /** A client wrote to the run, so it may have ended. */
  readonly mayHaveEnded: boolean
}

type RunRow = Tables['runs']

/** Reports root spans: an explicit root when its run ends, any other when its run is idle. */
class EndedRoots {
  readonly #gateway: Gateway
  readonly #ended: (run: RunRow) => void
  /** Least recently active first. */
  readonly #runs = new Map<string, RunActivity>()
  #timer: NodeJS.Timeout | undefined

  /** `ended` may be called again for a root after new activity. */
  constructor(gateway: Gateway, ended: (run: RunRow) => void) {
    this.#gateway = gateway
    this.#ended = ended
  }

  called(trace_id: string, session: Session | null): void {
    this.#touch(trace_id, session, this.#runs.get(trace_id)?.mayHaveEnded ?? false)
  }

  changed(trace_id: string): void {
    this.#touch(trace_id, this.#runs.get(trace_id)?.session ?? null, true)
  }

  /** Checks all runs a last time, as if they were idle. */
  async end(): Promise<void> {
    clearTimeout(this.#timer)
    const runs = [...this.#runs.keys()]
    this.#runs.clear()
    await Promise.all(runs.map((trace_id) => this.#check(trace_id, true)))
  }

  #touch(trace_id: string, session: Session | null, mayHaveEnded: boolean): void {
    this.#runs.delete(trace_id)
    this.#runs.set(trace_id, { at: this.#gateway.clock.tick(), session, mayHaveEnded })
    if (this.#runs.size > MAX_RUNS) this.#forgetOldest()
    this.#timer ??= setTimeout(() => void this.#checkAll(), TURN_MS).unref()
  }

  #forgetOldest(): void {
    const [oldest] = this.#runs.keys()
    if (oldest === undefined) return
    this.#runs.delete(oldest)
    void this.#check(oldest, true)
  }

  async #checkAll(): Promise<void> {
    const quiet_since = this.#gateway.clock.tick() - QUIET_MS
    for (const [trace_id, activity] of [...this.#runs]) {
      const isQuiet = activity.at <= quiet_since && (activity.session?.open ?? 0) === 0
      if (isQuiet) this.#runs.delete(trace_id)
      else if (activity.mayHaveEnded) this.#runs.set(trace_id, { ...activity, mayHaveEnded: false })
      if (isQuiet || activity.mayHaveEnded) await this.#check(trace_id, isQuiet)
    }
    this.#timer = this.#runs.size === 0 ? undefined : setTimeout(() => void this.#checkAll(), TURN_MS).unref()
  }

  /** Reports the root if its run has ended. Never rejects. */
  async #check(trace_id: string, isQuiet: boolean): Promise<void> {
    try {
      const run = await this.#gateway.storage.get('runs', trace_id)
      if (run !== undefined && run.end_ns !== null && (isQuiet || !run.root_auto)) this.#ended(run)
    } catch (error) {
      this.#gateway.fault(error, 'otlp-push')
    }
  }
}

const SPANS: Signal = { default_path: '/v1/traces', rejected: 'rejectedSpans', parts: 'spans' }

/** Keys of sent spans, so that a repeated record is not exported again. */
const MAX_SENT_KEYS = 16_384

/** Reads ended spans from stored rows, for one receiver. */
class SpanSource implements ExportSource<QueuedSpans> {
  readonly #gateway: Gateway
  readonly #version: string
  readonly #compression: Compression
  readonly #projects: ReadonlySet<string> | undefined
  readonly #sent = new RecentKeys(MAX_SENT_KEYS)

  constructor(gateway: Gateway, { compression = 'gzip', projects }: ReceiverOptions, version: string) {
    this.#gateway = gateway
    this.#version = version
    this.#compression = compression
    this.#projects = projects === undefined ? undefined : new Set(projects)
  }

  async read(queued: readonly QueuedSpans[]): Promise<ReadBatch<QueuedSpans>> {
    const { spans, missing } = await readEnded(this.#gateway.storage, queued)
    const fresh = spans.filter((one) => this.#isNew(one))
    return { bodies: requestBodies(fresh, this.#version, this.#compression), missing }
  }

  #isNew({ run, span }: EndedSpan): boolean {
    if (this.#projects?.has(run.project_id) === false) return false
    // a request is queued once only
    const isRequest = span.owner === 'gateway' && span.parent_id !== null
    return isRequest || this.#sent.add(`${run.trace_id} ${span.id}`)
  }
}

/** A bounded set of the last keys: at least `most`, at most twice as many. */
export class RecentKeys {
  readonly #most: number
  #young = new Set<string>()
  #old: ReadonlySet<string> = new Set()

  constructor(min_size: number) {
    this.#most = min_size
  }

  /** False for a known key. */
  add(text: string): boolean {
    if (this.#young.has(text) || this.#old.has(text)) return false
    this.#young.add(text)
    if (this.#young.size < this.#most) return true
    this.#old = this.#young
    this.#young = new Set()
    return true
  }
}
