import type { Attributes, FailureTag, Origin, Owner, Severity, SpanKind } from 'guard-gateway/core'

/** Why a run bears its failure tag. */
export interface FailureEvidence {
  readonly rule: string
  readonly span_id: string | null
  readonly event_id: string | null
  readonly field: string
}

/** One trace with its summary. Times are nanoseconds since 1970, cost is in millionths of the billing currency. */
export interface Run {
  readonly trace_id: string
  readonly project_id: string
  readonly session_id: string | null
  readonly agent_id: string | null
  readonly task_id: string | null
  readonly agent_name: string | null
  readonly name: string | null
  /** `running`, `ok`, `error`, `cancelled`, `timeout`, `blocked`, or another lower-case word. */
  readonly status: string
  readonly failure_tag: FailureTag | null
  readonly failure_tag_source: 'explicit' | 'derived' | null
  readonly failure_evidence: FailureEvidence | null
  readonly start_ns: bigint
  /** Null while running. */
  readonly end_ns: bigint | null
  readonly duration_ns: bigint | null
  /** All input: uncached, cache read and cache write. */
  readonly input_tokens: bigint
  /** Of input_tokens, those that came from a cache. */
  readonly cached_input_tokens: bigint
  readonly output_tokens: bigint
  readonly total_tokens: bigint
  readonly cost_micro: bigint
  readonly span_count: number
  readonly event_count: number
  readonly artifact_count: number
  readonly pinned: boolean
  readonly tags: readonly string[]
  readonly origin: Origin
  readonly source_trace_id: string | null
  readonly recorded_ns: bigint
  readonly attributes: Attributes
}

/** One step of a run. */
export interface TraceSpan {
  readonly id: string
  /** Null below the root. */
  readonly parent_id: string | null
  readonly name: string
  readonly kind: SpanKind
  readonly label: string | null
  readonly status: string
  readonly status_message: string | null
  readonly start_ns: bigint
  readonly end_ns: bigint | null
  readonly owner: Owner
  readonly model: string | null
  readonly input_tokens: bigint | null
  readonly output_tokens: bigint | null
  readonly cost_micro: bigint | null
  readonly attributes: Attributes
}

/** Something that happened at one instant of a run, in a span of it or not. */
export interface TraceEvent {
  readonly id: string
  readonly span_id: string | null
  readonly name: string
  readonly time_ns: bigint
  readonly severity: Severity
  readonly owner: Owner
  readonly request_id: string | null
  readonly attributes: Attributes
}

/** A file a run made or read; never its content. */
export interface Artifact {
  readonly id: string
  readonly span_id: string | null
  readonly path: string
  readonly mime_type: string | null
  readonly size: bigint | null
  /** 64 hex digits. */
  readonly sha256: string | null
  readonly attributes: Attributes
}

/** A span that another one stands for. */
export interface SeenSpan {
  readonly id: string
  readonly owner: Owner
}

/** A span as read: in the tree. */
export interface TreeNode extends TraceSpan {
  readonly depth: number
  /** In views: further spans of the same tool call. */
  readonly also_seen?: readonly SeenSpan[]
  /** The written parent, where it is unknown or part of a circle; the span then stands below the root. */
  readonly declared_parent_id?: string
}

/** A span in the tree with its events. */
export interface TreeSpan extends TreeNode {
  readonly events: readonly TraceEvent[]
}

/** A whole run as read and exported: spans depth first, each with its events; `events` are those of the run itself. */
export interface Trace {
  readonly run: Run
  readonly spans: readonly TreeSpan[]
  readonly events: readonly TraceEvent[]
  readonly artifacts: readonly Artifact[]
}

/** Records in the order in which they were written; ties of time are broken by it. */
export interface Records {
  readonly spans: readonly TraceSpan[]
  readonly events: readonly TraceEvent[]
  readonly artifacts: readonly Artifact[]
}
