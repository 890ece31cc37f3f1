import { GuardError } from 'guard-gateway/core'
import { recoveryHint } from '#lib/errors'
import { costText } from '#lib/format'
import type { Trace, TreeSpan } from '#lib/trace'
import { findRuns } from '../api/find-runs.ts'
import { failureHint } from '../page/why/failure-hint.ts'
import { alignments, type ComparedRow, type ComparedSpan, compare } from '../read/compare.ts'
import { occurrencesOf } from '../read/occurrences.ts'
import { whyOf } from '../read/why.ts'
import { isOwn, msOf, runSchema, runView, short, stepTitle } from './run-view.ts'
import { choice, input, list, number, output, runFilters, text, textOrNull } from './schemas.ts'
import { fitting, type ReadTool, type ToolContext } from './tool.ts'
import type { ToolArguments } from './tool-arguments.ts'
import { getRun, getStep } from './tools/get-run.ts'
import { listRuns, searchRuns } from './tools/list-runs.ts'
import { budgetsLeft, listSessions } from './tools/sessions.ts'
import { spend } from './tools/spend.ts'

const MOST_EQUAL = 5
/** Runs among which the newest is looked for: questions to Replay are runs too. */
const RECENT = '20'

/** The named run, else the newest one that failed. */
const failedRun = async (args: ToolArguments, { storage, now }: ToolContext): Promise<string> => {
  const named = args.text('trace_id')
  if (named !== undefined) return named
  const filters = {
    project_id: args.text('project_id'),
    session_id: args.text('session_id'),
    agent: args.text('agent'),
    since: args.text('since'),
    limit: RECENT,
  }
  const found = await Promise.all([
    findRuns(storage, { ...filters, failure_tag: 'any' }, now),
    findRuns(storage, { ...filters, status: 'error,timeout,blocked' }, now),
  ])
  const [newest] = found
    .flatMap(({ rows }) => rows)
    .filter((run) => !isOwn(run))
    .sort((one, other) => (one.recorded_ns < other.recorded_ns ? 1 : one.recorded_ns > other.recorded_ns ? -1 : 0))
  if (newest === undefined)
    throw new GuardError(
      'INVALID_REQUEST',
      'No run with these filters has failed. Leave some of them out, or call list_runs.',
    )
  return newest.trace_id
}

const stepOf = (trace: Trace, span: TreeSpan) => ({
  span_id: span.id,
  step: stepTitle(span, occurrencesOf(trace.spans).get(span) ?? 1),
  status: span.status,
})

const whyFailed: ReadTool = {
  name: 'why_failed',
  title: 'Why did it fail?',
  description:
    'Why a run failed, was flagged or blocked: the step, the rule or error, what came after it and what helps. Without a trace_id it is about the newest run that failed.',
  input: input({ trace_id: text('The run; the newest that failed if absent.'), ...runFilters }),
  output: output({
    run: runSchema as never,
    answer: text('In one sentence.'),
    step: { type: ['object', 'null'], description: 'Where; get_step has all of it. Null for a run that went well.' },
    decision: { type: ['object', 'null'], description: 'What the gateway decided there, by which rule, and why.' },
    error: textOrNull('What the step says of its failure.'),
    equal_steps: list('Steps that the rule counts with it.'),
    after: { type: ['object', 'null'], description: 'Requests, tokens and cost from there on.' },
    hint: textOrNull('What helps.'),
  }),
  async call(args, context) {
    const trace = await context.cache.trace(await failedRun(args, context))
    const why = whyOf(trace)
    const run = runView(trace.run)
    if (why === undefined) {
      const answer = 'This run went well: nothing in it failed, was flagged or was blocked.'
      return { run, answer, step: null, decision: null, error: null, equal_steps: [], after: null, hint: null }
    }
    const { span, decision, match, message, error, after } = why
    const step = stepOf(trace, span)
    const detector = context.gateway.detectors.get(match?.rule_type ?? '')
    const reason = decision === undefined ? (error ?? why.field ?? span.status) : (message ?? decision.reason)
    const what = decision === undefined ? 'failed' : `${decision.decision} ${decision.reason}`.trim()
    return {
      run,
      answer: short(`${step.step}: ${what}: ${reason}`, 500),
      step,
      decision:
        decision === undefined
          ? null
          : {
              decision: decision.decision,
              reason_code: decision.reason,
              rule_id: decision.rule,
              mode: decision.mode,
              message: short(message, 500),
              threshold: match?.threshold ?? null,
              identical_attempts_after: why.retries,
            },
      error: short(error, 500),
      equal_steps: (match?.equal ?? []).slice(0, MOST_EQUAL).map((one) => stepOf(trace, one)),
      after: {
        requests: after.requests,
        of_requests: after.all_requests,
        tokens: Number(after.tokens),
        cost_micro: Number(after.cost_micro),
        cost: costText(after.cost_micro),
      },
      hint: detector === undefined ? failureHint(trace.run.failure_tag) : recoveryHint(detector),
    }
  },
}

const MOST = 60
const MOST_ATTRIBUTES = 5

const isChanged = (row: ComparedRow): boolean =>
  row.presence !== 'both' || row.status_changed || row.label_changed || row.arguments_changed

const sideView = (side: ComparedSpan | null) =>
  side === null
    ? null
    : {
        span_id: side.span_id,
        label: short(side.label),
        status: side.status,
        ...(side.duration_ns === null ? {} : { took_ms: msOf(side.duration_ns) }),
        ...(side.error === null ? {} : { error: short(side.error, 200) }),
      }

const rowView = (row: ComparedRow) => ({
  step: short(row.key.replace(/^\+/, '')),
  in: row.presence,
  left: sideView(row.left),
  right: sideView(row.right),
  ...(row.arguments_changed ? { other_arguments: true } : {}),
  ...(row.attribute_changes.length === 0
    ? {}
    : {
        attributes: row.attribute_changes.slice(0, MOST_ATTRIBUTES).map(({ name, left, right }) => ({
          name: short(name),
          left: typeof left === 'string' ? short(left) : Number.isFinite(Number(left)) ? left : null,
          right: typeof right === 'string' ? short(right) : right,
        })),
      }),
})

const compareRuns: ReadTool = {
  name: 'compare_runs',
  title: 'Compare two runs',
  description:
    'Sets two runs side by side: where they part in one sentence, differences of totals (right minus left), and the steps that differ. Take one that went well as left and one that did not as right.',
  input: input(
    {
      left: text('trace_id of one run.'),
      right: text('trace_id of the other.'),
      align: choice(alignments, 'How steps are paired; sequence if absent, in which an extra step shifts no other.'),
      all: { type: 'boolean', description: 'true: steps that are alike, too.' },
      after: number('Rows to skip: next_after of the answer before.'),
    },
    ['left', 'right'],
  ),
  output: output({
    left: runSchema as never,
    right: runSchema as never,
    they_part: textOrNull('Where; null if both took the same steps.'),
    deltas: { type: 'object', description: 'Right minus left.' },
    summary: { type: 'object', description: 'Steps by what is different.' },
    rows: list('Steps that differ, in order.'),
    next_after: { type: ['integer', 'null'], description: 'Give it as after; null at the end.' },
  }),
  async call(args, { cache }) {
    const left = await cache.trace(args.needText('left', 'the trace_id of a run, of list_runs'))
    const right = await cache.trace(args.needText('right', 'the trace_id of a run, of list_runs'))
    const compared = await compare(left, right, args.oneOf('align', alignments, 'sequence'))
    const rows = args.flag('all') ? compared.spans : compared.spans.filter(isChanged)
    const after = args.count('after', 0, rows.length)
    const { deltas } = compared
    return fitting(MOST, async (limit) => ({
      left: runView(left.run),
      right: runView(right.run),
      they_part: short(compared.first_difference?.text, 300),
      deltas: {
        duration_ms: msOf(deltas.duration_ns),
        input_tokens: Number(deltas.input_tokens),
        output_tokens: Number(deltas.output_tokens),
        cost_micro: Number(deltas.cost_micro),
        steps: deltas.span_count,
      },
      summary: compared.summary,
      rows: rows.slice(after, after + limit).map(rowView),
      next_after: after + limit < rows.length ? after + limit : null,
    }))
  },
}

/** All tools; every one only reads. */
export const tools: readonly ReadTool[] = [
  whyFailed,
  spend,
  listRuns,
  searchRuns,
  getRun,
  getStep,
  compareRuns,
  listSessions,
  budgetsLeft,
]

/** The tools as `tools/list` has them. */
export const listedTools: readonly object[] = tools.map(({ name, title, description, input, output }) => ({
  name,
  title,
  description,
  inputSchema: input,
  outputSchema: output,
  annotations: { title, readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
}))
