import {
  type Attributes,
  type Fragment,
  type FragmentRun,
  GuardError,
  type RunLabels,
  type SpanDraft,
} from 'guard-gateway/core'
import { writer } from '#lib/ids'
import { DEFAULT_PROJECT } from '#lib/session'
import { isPlayground, isProjectReplaceable, newSpanId } from '#lib/trace'
import { traceFileErrors } from '#lib/trace-file'
import { replayErrors } from '../error-codes.ts'
import { isAddressable } from '../run-address.ts'
import type { Provided, RunRow } from '../tables.ts'
import { mergedAttributes } from './merge.ts'

const ROOT_NAME = 'agent.run'

/** Runs that the gateway or the MCP proxy began; clients cannot change what they are about. */
export const isGuarded = ({ origin }: Pick<RunRow, 'origin'>): boolean =>
  origin === 'gateway' || origin === 'mcp' || origin === 'playground'

/** The origin of a run that a call begins. */
export const originOf = (call: { readonly upstream: string | null }): 'gateway' | 'playground' =>
  isPlayground(call) ? 'playground' : 'gateway'

/** True for a span that names itself the root of its run. */
export const isRoot = ({ name, parent_id }: SpanDraft): boolean => name === ROOT_NAME && (parent_id ?? null) === null

/** The root span of a fragment; undefined if there is none, or several. */
const rootIn = ({ spans }: Fragment): SpanDraft | undefined => {
  const roots = spans.filter(isRoot)
  return roots.length === 1 ? roots[0] : undefined
}

/** The row of a new run, without its summary. Throws INVALID_ID if no page could show it. */
export const newRow = (run: FragmentRun, origin: RunRow['origin'], now_ns: bigint): RunRow => {
  if (isAddressable(run.trace_id)) return emptyRow(run, origin, now_ns)
  throw new GuardError(
    traceFileErrors.INVALID_ID,
    `No run can be called "${run.trace_id}", since that is the address of another page. Use another trace id.`,
    { path: '/trace_id' },
  )
}

const emptyRow = (run: FragmentRun, origin: RunRow['origin'], now_ns: bigint): RunRow => ({
  trace_id: run.trace_id,
  ...projectOf(run),
  session_id: run.session_id ?? null,
  agent_id: run.agent_id ?? null,
  task_id: null,
  agent_name: null,
  name: null,
  status: 'ok',
  failure_tag: null,
  failure_tag_source: null,
  failure_evidence: null,
  tag_state: null,
  start_ns: run.start_ns ?? run.end_ns ?? now_ns,
  end_ns: null,
  duration_ns: null,
  input_tokens: 0n,
  cached_input_tokens: 0n,
  output_tokens: 0n,
  total_tokens: 0n,
  cost_micro: 0n,
  span_count: 0,
  event_count: 0,
  artifact_count: 0,
  pinned: false,
  tags: [],
  origin,
  root_span_id: newSpanId(),
  root_auto: true,
  source_trace_id: run.source_trace_id ?? null,
  content_digest: run.content_digest ?? null,
  attributes: {},
  recorded_ns: now_ns,
  updated_ns: now_ns,
  noise: null,
  revision: 0,
  writer,
  words: [],
})

/** The project of a new run. */
const projectOf = ({ project_id, default_project_id }: FragmentRun): Pick<RunRow, 'project_id' | 'given'> => {
  if (project_id !== undefined) return { project_id, given: project_id === DEFAULT_PROJECT ? { project: 'named' } : {} }
  if (default_project_id === undefined || default_project_id === DEFAULT_PROJECT)
    return { project_id: DEFAULT_PROJECT, given: {} }
  return { project_id: default_project_id, given: { project: 'guessed' } }
}

/** The project that a writer names replaces one that was guessed. Throws TRACE_CONFLICT. */
export const withProject = (row: RunRow, project_id: string | undefined): Pick<RunRow, 'project_id' | 'given'> => {
  const { given } = row
  if (project_id === undefined || (project_id === row.project_id && !isProjectReplaceable(row)))
    return { project_id: row.project_id, given }
  if (isProjectReplaceable(row)) return { project_id, given: { ...given, project: 'named' } }
  throw new GuardError(
    replayErrors.TRACE_CONFLICT,
    `Run "${row.trace_id}" belongs to project "${row.project_id}". Use another trace id, or that project.`,
    { path: '/project_id' },
  )
}

/** Merges the run fields of a fragment into the row. `known`: the span is stored under its own id. Throws TRACE_CONFLICT, SPAN_IMMUTABLE, INVALID_TIME. */
export const rowWith = (row: RunRow, fragment: Fragment, known: (id: string) => boolean): RunRow => {
  const outside = fragment.owner === 'client' && isGuarded(row)
  const run = outside ? clientsOwn(fragment.run) : fragment.run
  const { project_id, given } = withProject(row, run.project_id)
  const { root, root_span_id, root_auto } = rootOf(row, fragment, known, outside)
  return {
    ...row,
    project_id,
    ...labels(row, run),
    task_id: run.task_id === undefined ? row.task_id : run.task_id,
    agent_name: agentName(row, run),
    name: run.name === undefined ? (row.name ?? run.default_name ?? null) : run.name,
    tags: run.tags ?? (row.tags.length > 0 ? row.tags : (run.default_tags ?? row.tags)),
    root_span_id,
    root_auto,
    given: providedBy(given, run, root?.status),
    attributes: mergedAttributes(row.attributes, run.attributes),
  }
}

const labels = (row: RunRow, { session_id, agent_id, joined_by }: FragmentRun): RunLabels => {
  const joined = joined_by === undefined ? row : labelsWith(row, joined_by)
  return {
    session_id: session_id === undefined ? joined.session_id : session_id,
    agent_id: agent_id === undefined ? joined.agent_id : agent_id,
  }
}

const agentName = ({ agent_name }: RunRow, run: FragmentRun): string | null =>
  run.agent_name === undefined ? (agent_name ?? run.default_agent_name ?? null) : run.agent_name

const rootOf = (row: RunRow, fragment: Fragment, known: (id: string) => boolean, outside: boolean) => {
  const named = fragment.spans.find(({ id }) => id === row.root_span_id)
  if (named !== undefined && row.root_auto && outside)
    throw new GuardError(
      replayErrors.SPAN_IMMUTABLE,
      `Span "${named.id}" was written by the gateway and cannot be changed.`,
    )
  if (!row.root_auto) return { root: named, root_span_id: row.root_span_id, root_auto: false }
  const root = rootIn(fragment) ?? named
  if (root === undefined || known(root.id)) return { root: undefined, root_span_id: row.root_span_id, root_auto: true }
  return { root, root_span_id: root.id, root_auto: false }
}

/** The fields that clients may set on a run of the gateway: session, agent and times are fixed, the project is checked. */
const clientsOwn = (sent: FragmentRun): FragmentRun => {
  const { session_id: _session, agent_id: _agent, start_ns: _start, end_ns: _end, ...run } = sent
  return run.attributes === undefined ? run : { ...run, attributes: ownOnly(run.attributes) }
}

const ownOnly = (attributes: Attributes): Attributes =>
  Object.fromEntries(Object.entries(attributes).filter(([name]) => !name.startsWith('guard.')))

const providedBy = (provided: Provided, run: FragmentRun, root_status: string | undefined): Provided => {
  const { failure_tag, ...rest } = provided
  const tag = run.failure_tag === undefined ? failure_tag : (run.failure_tag ?? undefined)
  const { start_ns = provided.start_ns, end_ns = provided.end_ns } = run
  if (start_ns !== undefined && end_ns !== undefined && end_ns !== null && end_ns < start_ns)
    throw new GuardError(traceFileErrors.INVALID_TIME, 'The run ends before it starts.', {
      path: run.end_ns === undefined ? '/start_ns' : '/end_ns',
    })
  return {
    ...rest,
    ...(tag === undefined ? {} : { failure_tag: tag }),
    ...(run.status === undefined ? {} : { status: run.status }),
    ...(run.start_ns === undefined ? {} : { start_ns: run.start_ns }),
    ...(run.end_ns === undefined ? {} : { end_ns: run.end_ns }),
    ...(root_status === undefined ? {} : { root_status }),
    ...(run.client_writer === undefined ? {} : { writer: run.client_writer }),
  }
}

/** Session and agent of a run that a call joins. Existing labels stay; an agent is taken only from the same session. */
export const labelsWith = (run: RunLabels, { session_id, agent_id }: RunLabels): RunLabels =>
  run.session_id !== null && run.session_id !== session_id ? run : { session_id, agent_id: run.agent_id ?? agent_id }
