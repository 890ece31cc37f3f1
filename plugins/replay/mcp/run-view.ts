import { costText } from '#lib/format'
import { cutText } from '#lib/text'
import type { Run, TreeSpan } from '#lib/trace'
import { agentOf } from '../read/run-agent.ts'
import { urlOf } from '../run-address.ts'
import { list, number, numberOrNull, output, text, textOrNull } from './schemas.ts'

const NAME_CHARS = 80

/** A short text; null for none. */
export const short = (value: string | null | undefined, max = NAME_CHARS): string | null =>
  value === null || value === undefined || value === '' ? null : cutText(value, max).toWellFormed()

/** Nanoseconds as milliseconds. */
export const msOf = (ns: bigint | null): number | null => (ns === null ? null : Number(ns) / 1e6)

export const timeOf = (ns: bigint): string => new Date(Number(ns / 1_000_000n)).toISOString()

/** A run of questions that agents asked of Replay itself: it is in no answer. */
export const isOwn = ({ origin, name }: Pick<Run, 'origin' | 'name'>): boolean =>
  origin === 'mcp' && name === 'mcp replay'

/** A run in a few members. */
export const runView = (run: Run) => ({
  trace_id: run.trace_id,
  name: short(run.name ?? run.task_id),
  agent: short(agentOf(run)),
  project_id: run.project_id,
  session_id: run.session_id,
  status: run.status,
  failure_tag: run.failure_tag,
  started_at: timeOf(run.start_ns),
  duration_ms: msOf(run.duration_ns),
  input_tokens: Number(run.input_tokens),
  cached_input_tokens: Number(run.cached_input_tokens),
  output_tokens: Number(run.output_tokens),
  cost_micro: Number(run.cost_micro),
  cost: costText(run.cost_micro),
  steps: run.span_count,
  page: urlOf(run.trace_id),
})

export const runSchema = output({
  trace_id: text('Id of the run.'),
  name: textOrNull('Name or task.'),
  agent: textOrNull('Who ran.'),
  project_id: text('Its project.'),
  session_id: textOrNull('Its session.'),
  status: text('ok, error, running, cancelled, timeout, blocked or what a program says.'),
  failure_tag: textOrNull('loop, timeout, rate_limit, policy_block or test_failure.'),
  started_at: text('RFC 3339.'),
  duration_ms: numberOrNull('Null while it runs.'),
  input_tokens: number('All input, what a cache gave included.'),
  cached_input_tokens: number('Of it, what came from a cache.'),
  output_tokens: number('Output.'),
  cost_micro: number('Millionths of the billing currency.'),
  cost: text('The same for people.'),
  steps: number('Spans.'),
  page: text('Path of its page in the gateway’s interface.'),
})

export const runList = (description: string) => list(description, runSchema as never)

/** A step as others name it: `tool.call#2 bash`. */
export const stepTitle = ({ name, label }: TreeSpan, occurrence: number): string =>
  `${name}#${occurrence}${label === null ? '' : ` ${cutText(label, NAME_CHARS)}`}`
