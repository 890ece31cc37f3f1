import { GuardError } from 'guard-gateway/core'
import { recoveryHint } from 'guard-gateway/lib/errors'
import { costText } from 'guard-gateway/lib/format'
import type { Trace, TreeSpan } from 'guard-gateway/lib/trace'
import { findRuns } from '../../api/find-runs.ts'
import { failureHint } from '../../page/why/failure-hint.ts'
import { occurrencesOf } from '../../read/occurrences.ts'
import { whyOf } from '../../read/why.ts'
import type { Given } from '../given.ts'
import { isOwn, runSchema, runView, short, stepTitle } from '../run-view.ts'
import { input, list, output, runFilters, text, textOrNull } from '../schemas.ts'
import type { ReadTool, ToolContext } from '../tool.ts'

const MOST_EQUAL = 5
/** Runs among which the newest is looked for: questions to Replay are runs too. */
const RECENT = '20'

/** The named run, else the newest one that failed. */
const failedRun = async (given: Given, { storage, now }: ToolContext): Promise<string> => {
  const named = given.text('trace_id')
  if (named !== undefined) return named
  const filters = {
    project_id: given.text('project_id'),
    session_id: given.text('session_id'),
    agent: given.text('agent'),
    since: given.text('since'),
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

export const whyFailed: ReadTool = {
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
  async call(given, context) {
    const trace = await context.cache.trace(await failedRun(given, context))
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
