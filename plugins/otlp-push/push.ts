import { type Fragment, type Gateway, type Recording, stages } from 'guard-gateway/core'
import { resultsIn, type ToolRecord } from 'guard-gateway/lib/trace'
import { EndedRoots } from './ended-roots.ts'
import type { QueuedSpans } from './export-queue.ts'
import { clientOf, HttpDelivery } from './http-delivery.ts'
import { endReceivers, healthOf, Receiver } from './receiver.ts'
import type { ReceiverOptions } from './receiver-options.ts'
import { SPANS, SpanSource } from './span-source.ts'

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
      for (const fragment of fragments) this.#kept(fragment)
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
  #kept({ origin, run: { trace_id, project_id }, spans }: Fragment): void {
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
