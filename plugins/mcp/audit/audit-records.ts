import type { Change, Gateway } from 'guard-gateway/core'
import type { AuditEventView } from '../management/event-schemas.ts'

/** Told of a record when all of it is known: a call that was forwarded when it has ended. The project is undefined where it is not at hand. */
export type RecordListener = (id: string, project_id: string | null | undefined) => void

/** Records of the audit for those who pass them on. */
export interface AuditRecords {
  onRecord(listener: RecordListener): void
  /** Those of these records that are stored and complete, by id: redacted, as the API delivers them. */
  read(ids: readonly string[]): Promise<ReadonlyMap<string, AuditEventView>>
}

declare module 'guard-gateway/core' {
  interface Services {
    auditRecords: AuditRecords
  }
}

/** Tells listeners of complete records of this process. */
export class RecordNotices implements AuditRecords {
  readonly #gateway: Gateway
  readonly #listeners: RecordListener[] = []

  constructor(gateway: Gateway) {
    this.#gateway = gateway
  }

  onRecord(listener: RecordListener): void {
    this.#listeners.push(listener)
  }

  tell: RecordListener = (id, project_id) => {
    for (const listener of this.#listeners) listener(id, project_id)
  }

  /** Tells of records that were written. */
  written(changes: readonly Change[]): void {
    if (this.#listeners.length === 0) return
    for (const change of changes) {
      if (change.table !== 'mcp_audit') continue
      const { put, patch } = change
      if (put !== undefined && isComplete(put)) this.tell(put.id, put.project_id)
      if ('key' in change && patch?.outcome != null) this.tell(String(change.key), undefined)
    }
  }

  async read(ids: readonly string[]): Promise<ReadonlyMap<string, AuditEventView>> {
    const { eventView } = await import('../management/views.ts')
    const { rows } = await this.#gateway.storage.find('mcp_audit', {
      where: { id: { in: ids } },
      // ordering by the key avoids a scan
      order: ['id', 'asc'],
      limit: ids.length,
    })
    return new Map(rows.filter(isComplete).map((row) => [row.id, eventView(row)]))
  }
}

const isComplete = ({ kind, outcome, forwarded }: { kind: string; outcome: unknown; forwarded: unknown }): boolean =>
  kind !== 'decision' || forwarded !== true || outcome !== null
