import type { Change } from './contracts/storage.ts'
import type { Attributes, FailureTag, Origin, Owner, Severity, SpanKind } from './trace.ts'

/** What a file or a writer says of a run. A field that it leaves out is absent; what only the server sets is not taken over. */
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

/** What it says of a span; `parent_id` is null, absent or the id of another span of the run. */
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

/** What a writer says of a run. A field that is absent stays as it is. */
export interface FragmentRun extends Omit<RunDraft, 'failure_tag'> {
  /** Null: derive it. */
  readonly failure_tag?: FailureTag | null
  /** The project of a run for which nobody has named one; gives way to one that somebody names. */
  readonly default_project_id?: string
  /** The agent's name for a run that bears none. */
  readonly default_agent_name?: string
  /** The name and the tags of a run that bears none. */
  readonly default_name?: string
  readonly default_tags?: readonly string[]
  /** Whose records join the run: what it is labelled with where nobody has said whose it is. */
  readonly joined_by?: RunLabels
  /** The process of a client that writes the run, `host:pid`, so that its end can be known. */
  readonly client_writer?: string
  /** The run's id before an import gave it another. */
  readonly source_trace_id?: string
  /** SHA-256 of what was imported, without ids, hex. */
  readonly content_digest?: string
}

/** Whose a run is. */
export interface RunLabels {
  readonly session_id: string | null
  readonly agent_id: string | null
}

export type FragmentEvent = EventDraft & { readonly id: string }
export type FragmentArtifact = ArtifactDraft & { readonly id: string }

/** What one writer adds to one run at one moment. Absent times are filled in where a record is new. */
export interface Fragment {
  readonly owner: Owner
  /** Of the run, if this begins it. */
  readonly origin: Origin
  readonly run: FragmentRun
  readonly spans: readonly SpanDraft[]
  readonly events: readonly FragmentEvent[]
  readonly artifacts: readonly FragmentArtifact[]
  /** Each record says all there is to say of it and takes the place of one of its id, so that none has to be looked for. */
  readonly whole?: boolean
  /**
   * A part of a run that is too large for one fragment and that nobody sees before the `last`: the first one says all of the
   * run itself, others bear records alone. Only for a run that is new, by one writer that holds it meanwhile.
   */
  readonly stage?: 'more' | 'last'
  /** Rows of other features that commit with it. */
  readonly rows?: readonly Change[]
}

/** Something that is kept otherwise than it was sent; `path` is a JSON pointer into the fragment. */
export interface FragmentWarning {
  readonly code: 'value_truncated'
  readonly message: string
  readonly path: string
}

/** A fragment as it is kept: sanitised, redacted, within its limits. */
export interface CleanedFragment {
  readonly fragment: Fragment
  readonly warnings: readonly FragmentWarning[]
}

/** What the attributes of one record may hold. Lengths are UTF-16 units. */
export const attributeLimits = Object.freeze({
  keys: 256,
  key_chars: 256,
  /** Levels of nesting. */
  depth: 32,
  /** Of one text. */
  value_chars: 8_192,
  /** Of all values. */
  all_chars: 65_536,
})
