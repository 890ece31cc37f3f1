import type { Artifact, Run, TraceEvent, TreeNode } from 'guard-gateway/lib/trace'

/** A run as every answer shows it in a list: all of its summary, without attributes. */
export const runSummary = (run: Run) => ({
  id: run.trace_id,
  trace_id: run.trace_id,
  project_id: run.project_id,
  session_id: run.session_id,
  agent_id: run.agent_id,
  task_id: run.task_id,
  agent_name: run.agent_name,
  name: run.name,
  status: run.status,
  failure_tag: run.failure_tag,
  failure_tag_source: run.failure_tag_source,
  failure_evidence: run.failure_evidence,
  start_ns: run.start_ns,
  end_ns: run.end_ns,
  duration_ns: run.duration_ns,
  input_tokens: run.input_tokens,
  cached_input_tokens: run.cached_input_tokens,
  output_tokens: run.output_tokens,
  total_tokens: run.total_tokens,
  cost_micro: run.cost_micro,
  span_count: run.span_count,
  event_count: run.event_count,
  artifact_count: run.artifact_count,
  pinned: run.pinned,
  tags: run.tags,
  origin: run.origin,
  source_trace_id: run.source_trace_id,
  recorded_ns: run.recorded_ns,
})

export type RunSummary = ReturnType<typeof runSummary>

/** A run as exports hold it. */
export const runRecord = (run: Run) => ({ ...runSummary(run), attributes: run.attributes })

/** A span as exports hold it, without its events. */
export const spanRecord = (span: TreeNode) => ({
  id: span.id,
  parent_id: span.parent_id,
  ...(span.declared_parent_id === undefined ? {} : { declared_parent_id: span.declared_parent_id }),
  name: span.name,
  kind: span.kind,
  label: span.label,
  status: span.status,
  status_message: span.status_message,
  start_ns: span.start_ns,
  end_ns: span.end_ns,
  owner: span.owner,
  attributes: span.attributes,
})

/** An event as exports hold it; where it is says which span it belongs to. */
export const eventRecord = (event: TraceEvent) => ({
  id: event.id,
  name: event.name,
  time_ns: event.time_ns,
  severity: event.severity,
  owner: event.owner,
  request_id: event.request_id,
  attributes: event.attributes,
})

/** Artifact metadata as exports hold it. */
export const artifactRecord = (artifact: Artifact) => ({
  id: artifact.id,
  span_id: artifact.span_id,
  path: artifact.path,
  mime_type: artifact.mime_type,
  size: artifact.size,
  sha256: artifact.sha256,
  attributes: artifact.attributes,
})
