import { text } from 'node:stream/consumers'
import { type Gateway, type Input, type Io, isShape, type RunSummary, readJson, terminalText } from 'guard-gateway/core'
import { type AskOptions, asking } from './ask.ts'
import { durationOf } from './command-list.ts'

/** A span as `GET /api/v1/runs/{trace_id}` tells it; small integers come as numbers. */
interface Step {
  readonly id: string
  readonly parent_id: string | null
  readonly name: string
  readonly label: string | null
  readonly status: string
  readonly start_ns: bigint | number
  readonly end_ns: bigint | number | null
}

const NAME_WIDTH = 28
const BAR_WIDTH = 42

/** Prints a run as a tree of its spans with bars over its time. */
export const showRun = async (gateway: Gateway, options: AskOptions, input: Input, io: Io): Promise<number> => {
  const path = `/api/v1/runs/${encodeURIComponent(input.args[0] ?? '')}`
  const answer = await asking(gateway, options, async (ask) => text(await ask('GET', path)))
  if (input.options.json === true) {
    io.out.write(`${answer}\n`)
    return 0
  }
  const { run, spans } = readJson(answer) as { readonly run: RunSummary; readonly spans: readonly Step[] }
  io.out.write(`${headOf(run)}\n`)
  const depths = new Map<string, number>()
  const from = Number(run.start_ns)
  const until = spans.reduce((last, span) => Math.max(last, Number(span.end_ns ?? span.start_ns)), from)
  for (const span of spans) {
    const depth = span.parent_id === null ? 0 : (depths.get(span.parent_id) ?? 0) + 1
    depths.set(span.id, depth)
    io.out.write(`${lineOf(span, depth, (ns) => position(Number(ns), from, until))}\n`)
  }
  return 0
}

const headOf = (run: RunSummary): string => {
  const { failure_tag, failure_evidence, session_id } = run
  const parts = [
    terminalText(run.name ?? run.trace_id),
    run.status,
    failure_tag === null ? '' : `tag ${failure_tag}`,
    durationOf(run.duration_ns),
    `${Number(run.total_tokens).toLocaleString('en')} tokens`,
    `cost ${(Number(run.cost_micro) / 1_000_000).toFixed(4)}`,
    session_id === null ? '' : `session ${session_id}`,
    isShape(failure_evidence) ? `(why: ${terminalText(failure_evidence.rule)})` : '',
  ]
  return parts.filter((part) => part !== '').join('  ')
}

/** Column of an instant, from 0 to the last of the bar. */
const position = (ns: number, from: number, until: number): number =>
  until <= from ? 0 : Math.round(((ns - from) / (until - from)) * (BAR_WIDTH - 1))

const lineOf = (span: Step, depth: number, columnOf: (ns: bigint | number) => number): string => {
  const name = `${'  '.repeat(Math.min(depth, 8))}${terminalText(span.name)}`
  const begin = Math.min(Math.max(columnOf(span.start_ns), 0), BAR_WIDTH - 1)
  const end = span.end_ns === null ? BAR_WIDTH - 1 : Math.max(columnOf(span.end_ns), begin)
  const bar = end === begin ? '│' : `├${'─'.repeat(end - begin - 1)}${span.end_ns === null ? '…' : '┤'}`
  const took = durationOf(span.end_ns === null ? null : Number(span.end_ns) - Number(span.start_ns))
  const drawn = (' '.repeat(begin) + bar).padEnd(BAR_WIDTH)
  return [
    name.slice(0, NAME_WIDTH).padEnd(NAME_WIDTH),
    drawn,
    took.padStart(8),
    span.status.padEnd(7),
    terminalText(span.label ?? ''),
  ]
    .join(' ')
    .trimEnd()
}
