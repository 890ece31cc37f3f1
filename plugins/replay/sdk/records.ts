import type { AttributeSet } from './attribute-set.ts'

export interface SpanRecord {
  readonly kind: 'span'
  readonly id: string
  /** Undefined for the root. */
  readonly parent_id: string | undefined
  readonly name: string
  readonly start_ns: bigint
  /** Undefined while the span is open. */
  end_ns: bigint | undefined
  status: string
  message: string | undefined
  readonly attributeSet: AttributeSet
}

/** An event within a span. */
export interface EventRecord {
  readonly kind: 'event'
  readonly id: string
  readonly span_id: string
  readonly name: string
  readonly time_ns: bigint
  readonly severity: 'error' | undefined
  readonly attributeSet: AttributeSet
}

/** A file that a trace wrote or read. */
export interface ArtifactRecord {
  readonly kind: 'artifact'
  readonly id: string
  readonly span_id: string | undefined
  readonly path: string
  readonly mime_type: string | undefined
  readonly size: number | undefined
  readonly sha256: string | undefined
  readonly attributeSet: AttributeSet
}

/** Marks the end of a trace. Each request carries the fields of the root itself. */
export interface RootRecord {
  readonly kind: 'root'
}

export type TraceRecord = SpanRecord | EventRecord | ArtifactRecord | RootRecord

/** Approximate UTF-16 units of the JSON of the record. */
export const sizeOf = (record: TraceRecord): number => {
  switch (record.kind) {
    case 'span':
      return 220 + record.name.length + (record.message?.length ?? 0) + record.attributeSet.size
    case 'event':
      return 140 + record.name.length + record.attributeSet.size
    case 'artifact':
      return 140 + record.path.length + record.attributeSet.size
    case 'root':
      return 400
  }
}
