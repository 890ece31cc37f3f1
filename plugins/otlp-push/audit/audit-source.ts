import type { Gateway, Services } from 'guard-gateway/core'
import type { Waiting } from '../export-queue.ts'
import type { Signal } from '../export-result.ts'
import type { ExportSource, ReadBatch } from '../receiver.ts'
import type { RequestBody } from '../request-bodies.ts'

export const RECORDS: Signal = { default_path: '/v1/logs', rejected: 'rejectedLogRecords', parts: 'audit records' }

export interface QueuedRecord extends Waiting {
  readonly id: string
}

/** A record as it is stored: redacted, and without arguments. */
export type AuditRecord =
  Awaited<ReturnType<Services['auditRecords']['read']>> extends ReadonlyMap<string, infer Record> ? Record : never

/** Encodes records as bodies, in their order, and yields to other work. */
export type RecordEncoder = (records: readonly AuditRecord[]) => AsyncIterable<RequestBody>

/** Reads records of the audit from stored rows, for one place. */
export class AuditSource implements ExportSource<QueuedRecord> {
  readonly #gateway: Gateway
  readonly #projects: ReadonlySet<string> | undefined
  readonly #encode: RecordEncoder

  constructor(gateway: Gateway, projects: readonly string[] | undefined, encode: RecordEncoder) {
    this.#gateway = gateway
    this.#projects = projects === undefined ? undefined : new Set(projects)
    this.#encode = encode
  }

  async read(queued: readonly QueuedRecord[]): Promise<ReadBatch<QueuedRecord>> {
    const ids = [...new Set(queued.map(({ id }) => id))]
    const byId = await this.#gateway.service('auditRecords').need().read(ids)
    const found = queued.flatMap(({ id }) => byId.get(id) ?? [])
    const wanted = found.filter(
      ({ project_id }) => this.#projects === undefined || this.#projects.has(project_id ?? ''),
    )
    return { bodies: this.#encode(wanted), missing: queued.filter(({ id }) => !byId.has(id)) }
  }
}
