import { GuardError } from 'guard-gateway/core'
import { writeJson } from '#lib/json'
import { cutText } from '#lib/text'
import type { Trace, TreeSpan } from '#lib/trace'
import { decisionIn, standingDecision } from '../../read/decisions.ts'
import { occurrencesOf } from '../../read/occurrences.ts'
import { sumsOfRow } from '../../read/rows.ts'
import { errorOf } from '../../read/span-error.ts'
import { isUnseen, isUpperBound, knownDuration } from '../../read/span-time.ts'
import { msOf, runSchema, runView, short, stepTitle } from '../run-view.ts'
import { input, list, number, output, text } from '../schemas.ts'
import { fitting, isFitting, type ReadTool } from '../tool.ts'

const MOST = 80
const TRACE_ID = 'the id of a run, of list_runs'

/** A step of the tree in a few members; those without a value are left out. */
const stepView = (trace: Trace, span: TreeSpan): object => {
  const { tokens, cost_micro } = sumsOfRow(trace, span)
  const decision = standingDecision(span.events)
  const error = errorOf(span)
  const took = msOf(knownDuration(span))
  return {
    span_id: span.id,
    depth: span.depth,
    step: stepTitle(span, occurrencesOf(trace.spans).get(span) ?? 1),
    status: isUnseen(span) ? 'no result seen' : span.status,
    after_ms: msOf(span.start_ns - trace.run.start_ns),
    ...(took === null ? {} : isUpperBound(span) ? { took_at_most_ms: took } : { took_ms: took }),
    ...(tokens === null || tokens === 0n ? {} : { tokens: Number(tokens) }),
    ...(cost_micro === null || cost_micro === 0n ? {} : { cost_micro: Number(cost_micro) }),
    ...(error === undefined ? {} : { error: short(error, 200) }),
    ...(decision === undefined ? {} : { decision }),
    ...(span.also_seen === undefined ? {} : { also_seen_by: span.also_seen.map(({ owner }) => owner) }),
  }
}

export const getRun: ReadTool = {
  name: 'get_run',
  title: 'Read a run',
  description:
    'The steps of one run as a tree in order, each with status, duration, tokens, cost and error. Long runs come in parts: go on with after. For one step in full call get_step.',
  input: input(
    {
      trace_id: text(`The run: ${TRACE_ID}.`),
      after: number('Steps to skip: next_after of the answer before.'),
      limit: number(`Steps of one answer: 40 if absent, ${MOST} at most. Fewer come where they would not fit.`),
    },
    ['trace_id'],
  ),
  output: output({
    run: runSchema as never,
    steps: list('In order of the tree; depth tells what is below what.'),
    next_after: { type: ['integer', 'null'], description: 'Give it as after; null at the end.' },
    all_steps: number('Steps of the whole tree.'),
  }),
  async call(args, { cache }) {
    const trace = await cache.trace(args.needText('trace_id', TRACE_ID))
    const after = args.count('after', 0, trace.spans.length)
    return fitting(Math.max(1, args.count('limit', 40, MOST)), async (limit) => {
      const end = Math.min(trace.spans.length, after + limit)
      return {
        run: runView(trace.run),
        steps: trace.spans.slice(after, end).map((span) => stepView(trace, span)),
        next_after: end < trace.spans.length ? end : null,
        all_steps: trace.spans.length,
      }
    })
  },
}

const VALUE_CHARS = 300
const MOST_ATTRIBUTES = 60
const MOST_EVENTS = 10

const displayValue = (value: unknown): unknown =>
  typeof value === 'number' || typeof value === 'boolean' || value === null
    ? value
    : cutText(typeof value === 'string' ? value : writeJson(value), VALUE_CHARS)

const attributesOf = (attributes: TreeSpan['attributes'], most: number): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(attributes)
      .slice(0, most)
      .map(([name, value]) => [name, displayValue(value)]),
  )

export const getStep: ReadTool = {
  name: 'get_step',
  title: 'Read a step',
  description: 'One step of a run with its attributes, events and decisions. Long values are cut.',
  input: input(
    { trace_id: text(`The run: ${TRACE_ID}.`), span_id: text('The step: span_id of get_run or why_failed.') },
    ['trace_id', 'span_id'],
  ),
  output: output({
    step: { type: 'object', description: 'As get_run has it.' },
    attributes: { type: 'object', description: 'What is on record of it.' },
    events: list('What happened in it.'),
    complete: { type: 'boolean', description: 'False: not everything fits into one answer.' },
  }),
  async call(args, { cache }) {
    const trace = await cache.trace(args.needText('trace_id', TRACE_ID))
    const span_id = args.needText('span_id', 'span_id of a step, of get_run')
    const span = trace.spans.find(
      ({ id, also_seen = [] }) => id === span_id || also_seen.some((one) => one.id === span_id),
    )
    if (span === undefined)
      throw new GuardError('INVALID_REQUEST', `The run has no step "${span_id}". get_run lists its steps.`)
    for (let share = 1; ; share /= 2) {
      const [attributes, events] = [Math.ceil(MOST_ATTRIBUTES * share), Math.ceil(MOST_EVENTS * share)]
      const answer = {
        step: stepView(trace, span),
        attributes: attributesOf(span.attributes, attributes),
        events: span.events.slice(0, events).map((event) => ({
          name: event.name,
          severity: event.severity,
          ...(decisionIn(event) === undefined ? {} : { decision: decisionIn(event) }),
          attributes: attributesOf(event.attributes, attributes),
        })),
        complete: Object.keys(span.attributes).length <= attributes && span.events.length <= events,
      }
      if (attributes === 1 || isFitting(answer)) return answer
    }
  },
}
