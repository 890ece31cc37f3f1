import type { ArtifactDraft, EventDraft, RunDraft, SpanDraft } from './contracts/export-format.ts'
import type { Change } from './contracts/storage.ts'
import type { FailureTag, Origin, Owner } from './trace.ts'

/** What a writer says of a run. A field that is absent stays as it is. */
export interface FragmentRun extends Omit<RunDraft, 'failure_tag'> {
  /** Null: derive it. */
  readonly failure_tag?: FailureTag | null
  /** The project of a run for which nobody has named one; gives way to one that somebody names. */
  readonly default_project_id?: string
  /** The agent's name for a run that bears none. */
  readonly default_agent_name?: string
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
export interface Kept {
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
