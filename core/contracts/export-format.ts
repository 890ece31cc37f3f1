import type { Attributes, FailureTag, Severity, SpanKind, Trace } from '../trace.ts'

/** How a trace is written; each is optional and a format ignores what it has no place for. */
export interface ExportOptions {
  /** RFC 3339. */
  readonly exported_at?: string
  readonly generator?: { readonly name: string; readonly version: string }
  /** `semconv`: spans are named as the GenAI semantic conventions want it. */
  readonly names?: 'native' | 'semconv'
}

/** A form in which runs leave and enter, selected by `?format=`; on import by what `accepts` says of the text. */
export interface ExportFormat {
  readonly id: string
  readonly mediaType: string
  /** Without a leading dot: `json`, `otel.json`. */
  readonly extension: string
  /** Address of a module that exports this format (`import.meta.url`): large files are then read in a thread of their own. */
  readonly module?: string
  /** Writes pieces of bounded length, so that a large run never is one string. */
  write(trace: Trace, options?: ExportOptions): Iterable<string>
  /** Whether a text looks like this format; cheap, and true for a damaged one as well, so that `read` can say what is wrong. */
  accepts?(text: string): boolean
  /** Reads a file of this format whole or not at all; throws GuardError with line and JSON pointer. */
  read?(text: string): Imported
}

/** What an import file says of a run. A field that the file leaves out is absent; what only the server sets is not taken over. */
export interface RunDraft {
  readonly trace_id: string
  readonly project_id?: string
  readonly session_id?: string | null
  readonly agent_id?: string | null
  readonly task_id?: string | null
  readonly agent_name?: string | null
  readonly name?: string | null
  readonly status?: string
  /** Present only where somebody set it; a derived tag is derived again. */
  readonly failure_tag?: FailureTag
  readonly start_ns?: bigint
  readonly end_ns?: bigint | null
  readonly tags?: readonly string[]
  readonly attributes?: Attributes
}

/** What an import file says of a span; `parent_id` is null, absent or the id of another span of the run. */
export interface SpanDraft {
  readonly id: string
  readonly parent_id?: string | null
  readonly name: string
  readonly kind?: SpanKind
  readonly status?: string
  readonly status_message?: string | null
  readonly start_ns?: bigint
  /** Null: still running. */
  readonly end_ns?: bigint | null
  readonly attributes?: Attributes
}

export interface EventDraft {
  readonly id?: string
  /** Null: an event of the run. */
  readonly span_id: string | null
  readonly name: string
  readonly time_ns?: bigint
  readonly severity?: Severity
  readonly request_id?: string | null
  readonly attributes?: Attributes
}

export interface ArtifactDraft {
  readonly id?: string
  readonly span_id?: string | null
  readonly path: string
  readonly mime_type?: string | null
  /** Bytes. */
  readonly size?: bigint | null
  readonly sha256?: string | null
  readonly attributes?: Attributes
}

export interface ImportedRun {
  readonly run: RunDraft
  readonly spans: readonly SpanDraft[]
  readonly events: readonly EventDraft[]
  readonly artifacts: readonly ArtifactDraft[]
}

/** Something that was taken in otherwise than the file says it. */
export interface ImportWarning {
  readonly code: 'orphan_parent' | 'content_dropped'
  readonly message: string
  readonly line?: number
  /** JSON pointer; in the line's record where the format has lines. */
  readonly path?: string
}

export interface Imported {
  readonly runs: readonly ImportedRun[]
  readonly warnings: readonly ImportWarning[]
}
