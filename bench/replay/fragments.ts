import type { Fragment, FragmentEvent, SpanDraft } from 'guard-gateway/core'
import { NOON } from '../kit/calls.ts'
import { prose, random } from '../kit/random.ts'

const NS = 1_000_000n
/** Spans without the root, and events. With the run itself, a run has 25 rows. */
const SPANS = 12
const EVENTS = 12
const TOOLS = ['read_file', 'write_file', 'run_tests', 'search', 'list_files']
const MODELS = ['bench-large', 'bench-small', 'bench-mini']
const STATUSES = ['ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'error', 'timeout', 'running']

type Pick = <T>(list: readonly [T, ...T[]] | readonly T[]) => T

const picker = (next: () => number): Pick => {
  return (list) => {
    const found = list[Math.floor(next() * list.length)]
    if (found === undefined) throw new Error('nothing to pick from')
    return found
  }
}

const hex = (number: number, digits: number): string => number.toString(16).padStart(digits, '0')

/** A run of an agent with 12 alternating model requests and tool calls, and 12 events. Equal numbers give equal runs. */
export const fragmentOf = (number: number): Fragment => {
  const next = random(number)
  const pick = picker(next)
  const start_ns = BigInt(NOON + number * 60_000) * NS
  const spans = Array.from({ length: SPANS }, (_, at) => spanOf(number, at, start_ns, next, pick))
  const rare = `rare_${number}`
  return {
    owner: 'client',
    origin: 'api',
    run: {
      trace_id: hex(number, 32),
      project_id: `project_${Math.floor(next() * 20)}`,
      session_id: `ses_bench_${hex(Math.floor(next() * 40), 4)}`,
      agent_id: `agent_${Math.floor(next() * 12)}`,
      agent_name: pick(['builder', 'reviewer', 'tester']),
      name: prose(next, 40).replaceAll(/\s+/g, ' '),
      status: pick(STATUSES),
      start_ns,
      attributes: { topic: rare },
    },
    spans,
    events: Array.from({ length: EVENTS }, (_, at) => eventOf(number, at, spans, next)),
    artifacts: [],
  }
}

const spanOf = (number: number, at: number, run_ns: bigint, next: () => number, pick: Pick): SpanDraft => {
  const start_ns = run_ns + BigInt(at) * 2_000n * NS
  const end_ns = start_ns + BigInt(Math.floor(next() * 1_900)) * NS
  const id = hex(number * 16 + at + 1, 16)
  const parent_id = at % 3 === 2 ? hex(number * 16 + at, 16) : null
  const common = { id, parent_id, start_ns, end_ns, status: next() < 0.03 ? 'error' : 'ok' }
  if (at % 2 === 0)
    return {
      ...common,
      name: 'gen_ai.request',
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.request.model': pick(MODELS),
        'gen_ai.usage.input_tokens': Math.floor(next() * 20_000),
        'gen_ai.usage.output_tokens': Math.floor(next() * 1_000),
        note: prose(next, 60),
      },
    }
  return {
    ...common,
    name: 'tool.call',
    attributes: { 'gen_ai.tool.name': pick(TOOLS), path: `src/${prose(next, 12).replaceAll(/\W+/g, '/')}.ts` },
  }
}

const eventOf = (number: number, at: number, spans: readonly SpanDraft[], next: () => number): FragmentEvent => {
  const span = spans[at % spans.length]
  return {
    id: `evt_${hex(number * 16 + at + 1, 16)}`,
    span_id: span?.id ?? null,
    name: at % 2 === 0 ? 'policy.decision' : 'tool.result',
    ...(span?.start_ns === undefined ? {} : { time_ns: span.start_ns }),
    attributes: at % 2 === 0 ? { decision: 'allow', forwarded: true } : { summary: prose(next, 40), bytes: at * 100 },
  }
}
