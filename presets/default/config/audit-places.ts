import type { AuditPlace } from 'guard-gateway/plugins/otlp-push'
import type { Config } from './schema.ts'

/** Where audit records go: each place is a receiver or a file. */
export const auditPlaces = ({ mcp }: Config): readonly AuditPlace[] =>
  mcp.audit_export.flatMap(({ url, file, ...options }): readonly AuditPlace[] => {
    const { projects, max_queue } = options
    if (file !== undefined) return [{ file, max_queue, ...(projects === undefined ? {} : { projects }) }]
    return url === undefined ? [] : [{ url, ...options }]
  })
