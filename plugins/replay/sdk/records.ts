import type { Facts } from './facts.ts'

/** A span, open or ended. */
export interface SpanRecord {
  readonly kind: 'span'
  readonly id: string
  /** Undefined at the root. */
  readonly parent_id: string | undefined
  readonly name: string
  readonly start_ns: bigint
  /** Undefined while it is open. */
  end_ns: bigint | undefined
  status: string
  message: string | undefined
  readonly facts: Facts
}

/** An instant of a span. */
export interface EventRecord {
  readonly kind: 'event'
  readonly id: string
  readonly span_id: string
  readonly name: string
  readonly time_ns: bigint
  readonly severity: 'error' | undefined
  readonly facts: Facts
}

/** A file that a trace made or read. */
export interface ArtifactRecord {
  readonly kind: 'artifact'
  readonly id: string
  readonly span_id: string | undefined
  readonly path: string
  readonly mime_type: string | undefined
  readonly size: number | undefined
  readonly sha256: string | undefined
  readonly facts: Facts
}

/** Says that a trace ended; what there is to say of its root goes with every part of the trace. */
export interface RootRecord {
  readonly kind: 'root'
}

export type TraceRecord = SpanRecord | EventRecord | ArtifactRecord | RootRecord

/** Roughly, UTF-16 units of the record's JSON. */
export const sizeOf = (record: TraceRecord): number => {
  switch (record.kind) {
    case 'span':
      return 220 + record.name.length + (record.message?.length ?? 0) + record.facts.size
    case 'event':
      return 140 + record.name.length + record.facts.size
    case 'artifact':
      return 140 + record.path.length + record.facts.size
    case 'root':
      return 400
  }
}
