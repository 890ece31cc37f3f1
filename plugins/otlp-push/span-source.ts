import type { Gateway } from 'guard-gateway/core'
import { type EndedSpan, readEnded } from './ended-spans.ts'
import type { QueuedSpans } from './export-queue.ts'
import type { Signal } from './export-result.ts'
import type { ExportSource, ReadBatch } from './receiver.ts'
import type { ReceiverOptions } from './receiver-options.ts'
import { RecentKeys } from './recent-keys.ts'
import { type Compression, requestBodies } from './request-bodies.ts'

export const SPANS: Signal = { default_path: '/v1/traces', rejected: 'rejectedSpans', parts: 'spans' }

/** Keys of sent spans, so that a repeated record is not exported again. */
const MAX_SENT_KEYS = 16_384

/** Reads ended spans from stored rows, for one receiver. */
export class SpanSource implements ExportSource<QueuedSpans> {
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
