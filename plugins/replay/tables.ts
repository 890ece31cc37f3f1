import { type FailureTag, type Table, table } from 'guard-gateway/core'
import type { Artifact, ProjectSource, Run, TraceEvent, TraceSpan } from '#lib/trace'
import type { TagState } from './failures/tags.ts'

/** Values that writers set, in contrast to derived ones. */
export interface Provided {
  readonly status?: string
  readonly failure_tag?: FailureTag
  readonly start_ns?: bigint
  readonly end_ns?: bigint | null
  /** Status of the root span as it was sent. */
  readonly root_status?: string
  /** Source of the project, unless it is evident from the id. */
  readonly project?: ProjectSource
  /** Client process, `host:pid:start`, if it was sent. */
  readonly writer?: string
}

export interface RunRow extends Run {
  readonly root_span_id: string
  /** The root span is implicit and has no row. */
  readonly root_auto: boolean
  /** SHA-256 of an imported run without its ids, hex. */
  readonly content_digest: string | null
  readonly given: Provided
  /** Null: no evidence for a tag. */
  readonly tag_state: TagState | null
  readonly updated_ns: bigint
  /** True: telemetry of another program without a model call, a tool call or a failure; null for every other run. */
  readonly noise: true | null
  readonly revision: number
  /** Host, process and start of the last writer. */
  readonly writer: string
  /** Search tokens; internal. */
  readonly words: readonly string[]
}

export interface SpanRow extends TraceSpan {
  readonly trace_id: string
}
export interface EventRow extends TraceEvent {
  readonly trace_id: string
}
export interface ArtifactRow extends Artifact {
  readonly trace_id: string
}

/** A run during its import: its records are stored, its row is not. */
export interface StagedRow {
  readonly trace_id: string
  /** The importing process. */
  readonly writer: string
  readonly claimed_ns: bigint
}

declare module 'guard-gateway/core' {
  interface Tables {
    runs: RunRow
    spans: SpanRow
    events: EventRow
    artifacts: ArtifactRow
    staged_runs: StagedRow
  }
}

const runs = table<'runs'>({
  id: 'runs',
  key: ['trace_id'],
  columns: {
    trace_id: 'text',
    project_id: 'text',
    session_id: 'text',
    agent_id: 'text',
    task_id: 'text',
    agent_name: 'text',
    name: 'text',
    status: 'text',
    failure_tag: 'text',
    failure_tag_source: 'text',
    failure_evidence: 'json',
    tag_state: 'json',
    start_ns: 'int64',
    end_ns: 'int64',
    duration_ns: 'int64',
    input_tokens: 'int64',
    cached_input_tokens: 'int64',
    output_tokens: 'int64',
    total_tokens: 'int64',
    cost_micro: 'int64',
    span_count: 'integer',
    event_count: 'integer',
    artifact_count: 'integer',
    pinned: 'boolean',
    tags: 'json',
    origin: 'text',
    root_span_id: 'text',
    root_auto: 'boolean',
    source_trace_id: 'text',
    content_digest: 'text',
    given: 'json',
    attributes: 'json',
    recorded_ns: 'int64',
    updated_ns: 'int64',
    noise: 'boolean',
    revision: 'integer',
    writer: 'text',
    words: 'search',
  },
  // of two equally selective indexes the first is used: the one that fewer runs share
  indexes: [
    ['session_id', 'recorded'],
    ['pinned', 'recorded'],
    ['agent_id', 'recorded'],
    ['project_id', 'recorded'],
    ['failure_tag', 'recorded'],
    ['status', 'recorded'],
    ['project_id', 'status', 'recorded'],
    ['project_id', 'pinned', 'recorded'],
    ['agent_id', 'status', 'recorded'],
    ['agent_id', 'project_id', 'recorded'],
    ['status', 'failure_tag', 'recorded'],
    ['pinned', 'recorded_ns'],
    ['start_ns'],
    ['duration_ns'],
    ['cost_micro'],
    ['total_tokens'],
    ['updated_ns'],
  ],
  sparse: [['content_digest'], ['agent_name'], ['failure_tag', 'project_id'], ['failure_tag', 'agent_id']],
  exact: [
    'trace_id',
    'project_id',
    'session_id',
    'agent_id',
    'status',
    'failure_tag',
    'failure_tag_source',
    'failure_evidence',
    'tag_state',
    'origin',
    'root_span_id',
    'source_trace_id',
    'content_digest',
    'given',
    'writer',
    'words',
  ],
})

const spans = table<'spans'>({
  id: 'spans',
  key: ['trace_id', 'id'],
  columns: {
    trace_id: 'text',
    id: 'text',
    parent_id: 'text',
    name: 'text',
    kind: 'text',
    label: 'text',
    status: 'text',
    status_message: 'text',
    start_ns: 'int64',
    end_ns: 'int64',
    owner: 'text',
    model: 'text',
    input_tokens: 'int64',
    output_tokens: 'int64',
    cost_micro: 'int64',
    attributes: 'json',
  },
  indexes: [['trace_id', 'recorded']],
  exact: ['trace_id', 'id', 'parent_id', 'kind', 'status', 'owner'],
})

const events = table<'events'>({
  id: 'events',
  key: ['trace_id', 'id'],
  columns: {
    trace_id: 'text',
    id: 'text',
    span_id: 'text',
    name: 'text',
    time_ns: 'int64',
    severity: 'text',
    owner: 'text',
    request_id: 'text',
    attributes: 'json',
  },
  indexes: [['trace_id', 'recorded']],
  exact: ['trace_id', 'id', 'span_id', 'severity', 'owner', 'request_id'],
})

const artifacts = table<'artifacts'>({
  id: 'artifacts',
  key: ['trace_id', 'id'],
  columns: {
    trace_id: 'text',
    id: 'text',
    span_id: 'text',
    path: 'text',
    mime_type: 'text',
    size: 'int64',
    sha256: 'text',
    attributes: 'json',
  },
  indexes: [['trace_id', 'recorded']],
  exact: ['trace_id', 'id', 'span_id', 'sha256'],
})

/** The key of argument hashes never leaves this table. */
const installation = table<'installation'>({
  id: 'installation',
  columns: { id: 'text', value: 'text' },
  exact: ['id', 'value'],
})

const stagedRuns = table<'staged_runs'>({
  id: 'staged_runs',
  key: ['trace_id'],
  columns: { trace_id: 'text', writer: 'text', claimed_ns: 'int64' },
  exact: ['trace_id', 'writer'],
})

/** Tables of Replay; model calls have their own. */
export const tables: readonly Table[] = [runs, spans, events, artifacts, installation, stagedRuns]
