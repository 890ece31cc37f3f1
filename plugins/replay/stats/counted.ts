import { isJsonObject } from 'guard-gateway/lib/json'
import type { TreeSpan } from 'guard-gateway/lib/trace'
import { valueAt } from '../api/attribute-tests.ts'
import { agentOf } from '../read/run-agent.ts'
import { isFailed, knownDuration } from '../read/span-time.ts'
import type { RunRow } from '../tables.ts'
import type { Group, Subject } from './query.ts'
import type { Counted } from './tally.ts'

const NS_PER_MS = 1e6
const GROUP_CHARS = 256

const UNFAILED: ReadonlySet<string> = new Set(['ok', 'running', 'cancelled'])

export const countedRun = (run: RunRow): Counted => ({
  failed: !UNFAILED.has(run.status),
  took_ms: run.duration_ns === null ? null : Number(run.duration_ns) / NS_PER_MS,
  input_tokens: Number(run.input_tokens),
  cached_input_tokens: Number(run.cached_input_tokens),
  output_tokens: Number(run.output_tokens),
  cost_micro: Number(run.cost_micro),
})

export const countedCall = (span: TreeSpan): Counted => {
  const took = knownDuration(span)
  return {
    failed: isFailed(span),
    took_ms: took === null ? null : Number(took) / NS_PER_MS,
    input_tokens: Number(span.input_tokens ?? 0n),
    cached_input_tokens: span.kind === 'model' ? countIn(span.attributes['gen_ai.usage.cache_read.input_tokens']) : 0,
    output_tokens: Number(span.output_tokens ?? 0n),
    cost_micro: Number(span.cost_micro ?? 0n),
  }
}

const countIn = (value: unknown): number => (typeof value === 'number' && value > 0 ? value : 0)

const KINDS: Readonly<Record<Exclude<Subject, 'runs' | 'calls'>, string>> = {
  models: 'model',
  tools: 'tool',
  commands: 'command',
}

/** True if a call is one of those that are counted. */
export const isOf = (of: Exclude<Subject, 'runs'>, { kind }: TreeSpan): boolean => of === 'calls' || kind === KINDS[of]

/** The group of a run. Null: it has none. */
export const groupOfRun = (run: RunRow, group: Group): string | null => {
  if (group.by === 'attribute') return textOf(valueAt(run.attributes, group.attribute))
  switch (group.by) {
    case 'none':
    case 'kind':
      return null
    case 'agent':
      return agentOf(run) ?? null
    case 'project':
      return run.project_id
    case 'session':
      return run.session_id
    case 'task':
      return run.task_id
    default:
      return run[group.by]
  }
}

/** The group of a call: its own model, tool, status or attribute, else that of its run. */
export const groupOfCall = (span: TreeSpan, run: RunRow, group: Group): string | null => {
  if (group.by === 'attribute')
    return textOf(valueAt(span.attributes, group.attribute) ?? valueAt(run.attributes, group.attribute))
  if (group.by === 'name') return (span.kind === 'model' ? (span.model ?? span.label) : span.label) ?? span.name
  if (group.by === 'kind') return span.kind
  return group.by === 'status' ? span.status : groupOfRun(run, group)
}

const textOf = (value: unknown): string | null => {
  if (value === undefined || value === null || isJsonObject(value)) return null
  return String(value).slice(0, GROUP_CHARS).toWellFormed()
}
