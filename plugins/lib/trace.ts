import { randomBytes } from 'node:crypto'
import { GuardError, type Origin, type Owner, type Storage } from 'guard-gateway/core'
import { LRU } from 'tiny-lru'
import { visibleProjects } from '#lib/principal'
import { DEFAULT_PROJECT } from '#lib/session'
import type { FigureGroup, Figures } from './trace/figures.ts'
import type { Run, TraceSpan as Span } from './trace/run.ts'

export { argumentHash, canonicalJson } from './trace/argument-hash.ts'
export {
  type CallRecord,
  callColumns,
  newCallRecord,
  newTurnsOf,
  recordedCalls,
  rowOf,
  type SessionEvent,
  sessionEvent,
} from './trace/call-record.ts'
export type { Previews } from './trace/call-source.ts'
export {
  callRecords,
  decisionAttributes,
  decisionEventId,
  toolSpanId,
  totalInputTokens,
  traceOf,
  UNSEEN,
} from './trace/call-trace.ts'
export type {
  FigureBucket,
  FigureGroup,
  FigureSeries,
  FigureSums,
  Figures,
  FiguresAnswer,
  FiguresQuery,
} from './trace/figures.ts'
export {
  type OpenCallRow,
  openCallTable,
  openRecordOf,
  recordOfOpen,
  unsettled,
} from './trace/open-call.ts'
export type {
  Artifact,
  FailureEvidence,
  Records,
  Run,
  SeenSpan,
  Trace,
  TraceEvent,
  TraceSpan,
  TreeNode,
  TreeSpan,
} from './trace/run.ts'
export type { ToolRecord } from './trace/tool-record.ts'
export {
  OBSERVED,
  resultAttributes,
  TOOL_ERROR,
  type ToolResult,
  ToolResults,
  withToolResult,
} from './trace/tool-results.ts'
export { toolDecision, toolEventId, toolRecords, toolTimes } from './trace/tool-trace.ts'
export { newSpanId, newTraceId, readTraceparent } from './trace/trace-ids.ts'
export { buildSpanTree, buildSpanTreePaced } from './trace/tree.ts'
export { resultsIn, turnsIn, turnText } from './trace/turn-text.ts'

/** The name that calls of the Playground have for their upstream, forwarded or not, and its MCP sessions for their transport. No upstream of a configuration may have it. */
export const PLAYGROUND_UPSTREAM = 'playground'

const PROJECT = 'playground-'

/** The project of a scenario. */
export const playgroundProject = (scenario: string): string => `${PROJECT}${scenario}`
export const isPlaygroundProject = (project_id: string): boolean => project_id.startsWith(PROJECT)

/** A call, or the record of one, is of the Playground. */
export const isPlayground = ({ upstream }: { readonly upstream?: unknown }): boolean => upstream === PLAYGROUND_UPSTREAM

/**
 * Where the project of a run is from: `named` by a writer, or `guessed` from something else, such as the name of a service.
 * Absent: the project `default` if none was named, else a named one.
 */
export type ProjectSource = 'named' | 'guessed'

/** A run, as far as it says whose it is. */
interface ProjectOfRun {
  readonly project_id: string
  readonly given?: { readonly project?: ProjectSource }
}

/** Whether the run's project is not named, so that the first named one replaces it. */
export const isProjectReplaceable = ({ project_id, given }: ProjectOfRun): boolean =>
  given?.project === undefined ? project_id === DEFAULT_PROJECT : given.project === 'guessed'

/** Whether records that say this project may be in the run: `default` is what those say who name none. */
export const joinsProject = (run: ProjectOfRun, project_id: string): boolean =>
  run.project_id === project_id || project_id === DEFAULT_PROJECT || isProjectReplaceable(run)

/** The root of a run that was recorded without one. */
export const defaultRootSpan = (run: Run & { readonly root_span_id: string }): Span => ({
  id: run.root_span_id,
  parent_id: null,
  name: 'agent.run',
  kind: 'agent',
  label: null,
  status: run.status,
  status_message: null,
  start_ns: run.start_ns,
  end_ns: run.end_ns,
  owner: OWNERS[run.origin] ?? 'client',
  model: null,
  input_tokens: null,
  output_tokens: null,
  cost_micro: null,
  attributes: {},
})

const OWNERS: Readonly<Partial<Record<Origin, Owner>>> = { gateway: 'gateway', playground: 'gateway', mcp: 'mcp' }

/** A root that somebody gave, which covers everything below it. */
export const enclosingRootSpan = <S extends Span>(
  root: S,
  { start_ns, end_ns }: Pick<Run, 'start_ns' | 'end_ns'>,
): S => ({
  ...root,
  parent_id: null,
  start_ns,
  end_ns,
})

declare module 'guard-gateway/core' {
  interface Services {
    flags: Flags
  }
}

/** Which requests are asked for, to the hour; times are milliseconds since 1970, `until` is not included. */
export interface FlagReportQuery {
  readonly since: number
  readonly until: number
  readonly project_id?: string | undefined
  /** The most groups to list; all if absent. Sums are of all. */
  readonly limit?: number | undefined
}

/** What came since the flags of sessions, the flagged requests with them. Cost in millionths of the billing currency. */
export interface SinceFlag {
  readonly requests_since_flag: number
  readonly tokens_since_flag: number
  readonly cost_since_flag_micro: number
}

/** What enforcing would have saved at most: an agent that is refused may go on in another way. */
export interface Savings extends SinceFlag {
  readonly sessions: number
}

/** Requests of one session that one rule flagged or blocked, and what came since, where it is the flag that counts of the session. */
export interface FlagGroupTotal extends SinceFlag {
  readonly session_id: string
  readonly project_id: string
  readonly rule_id: string | null
  readonly reason: string | null
  readonly action: string | null
  /** Enforcing would have refused the flagged request. */
  readonly would_refuse: boolean
  readonly flagged: number
  readonly blocked: number
  readonly blocked_retries: number
  /** When the last hour begins that it counts in. */
  readonly last_hour_at: number
}

/** The same of all sessions. */
export interface RuleReport extends Omit<FlagGroupTotal, 'session_id' | 'project_id' | 'last_hour_at'> {
  readonly sessions: number
}

/** What flags and blocks of a time came to, without those of the Playground. */
export interface FlagReport {
  /** When the first hour begins, and the last one ends. */
  readonly since: number
  readonly until: number
  readonly saved: Savings
  readonly flagged: number
  readonly blocked: number
  readonly blocked_retries: number
  /** Those that cost most first. */
  readonly rules: readonly RuleReport[]
  readonly projects: readonly (Savings & { readonly project_id: string })[]
  readonly groups: readonly FlagGroupTotal[]
}

/** What flags of sessions came to. */
export interface Flags {
  report(query: FlagReportQuery): Promise<FlagReport>
}

const WEEK_MS = 7 * 24 * 3_600_000
/** Names change seldom, and live pages are asked for every second. */
const MAX_AGE_MS = 30_000
const MAX_NAMES = 50
const MAX_ENTRIES = 300

interface CachedNames {
  readonly at: number
  readonly names: Promise<readonly string[]>
}

/** Names of agents, models or projects of calls of the last seven days, the most frequent first; what fields of filters suggest. */
export class RecentNames {
  readonly #figures: () => Pick<Figures, 'read'> | undefined
  /** By group and by the projects that whoever asked sees. */
  readonly #cache = new LRU<CachedNames>(MAX_ENTRIES)

  constructor(figures: () => Pick<Figures, 'read'> | undefined) {
    this.#figures = figures
  }

  /** Empty where nothing is on record, or nothing keeps records. `now`: milliseconds since 1970. */
  async of(group: FigureGroup, now: number): Promise<readonly string[]> {
    const key = JSON.stringify([group, visibleProjects()])
    const cached = this.#cache.get(key)
    if (cached !== undefined && now - cached.at < MAX_AGE_MS && now >= cached.at) return cached.names
    // a page without suggestions is better than none
    const names = this.#read(group, now).catch(() => [])
    this.#cache.set(key, { at: now, names })
    return names
  }

  async #read(group: FigureGroup, now: number): Promise<readonly string[]> {
    const answer = await this.#figures()?.read({ since: now - WEEK_MS, until: now + 1, step: 'day', group })
    return (answer?.series ?? [])
      .flatMap(({ group: name }) => (name === null || name === '(other)' ? [] : [name]))
      .slice(0, MAX_NAMES)
  }
}

/** Something that this installation made once and keeps. */
interface InstallationRow {
  readonly id: string
  readonly value: string
}

declare module 'guard-gateway/core' {
  interface Tables {
    installation: InstallationRow
  }
}

const KEY_ID = 'argument_hash_key'

/** The key that this installation hashes arguments with, the same for tool calls in model replies and in MCP traffic; made at the first start. */
export const argumentKey = async (storage: Storage): Promise<string> => {
  await storage.put('installation', { id: KEY_ID, value: randomBytes(32).toString('hex') }, 'absent')
  const row = await storage.get('installation', KEY_ID)
  if (row === undefined) throw new GuardError('STORAGE_UNAVAILABLE', 'The key for argument hashes cannot be read back.')
  return row.value
}
