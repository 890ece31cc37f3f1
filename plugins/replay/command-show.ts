import { text } from 'node:stream/consumers'
import { type Gateway, GuardError, type Input, type Io, readJson, terminalLine } from 'guard-gateway/core'
import { type AskOptions, asking } from './ask.ts'
import { durationText, type Ns, painter } from './plain.ts'
import { type ShownEvent, type ShownSpan, waterfall } from './waterfall.ts'

interface Shown {
  readonly run: {
    readonly trace_id: string
    readonly name: string | null
    readonly status: string
    readonly failure_tag: string | null
    readonly duration_ns: Ns | null
    readonly total_tokens: Ns
    readonly cost_micro: Ns
    readonly session_id: string | null
  }
  readonly spans: readonly ShownSpan[]
  readonly events: readonly ShownEvent[]
}

const DEFAULT_WIDTH = 100

/** Prints a run as a summary line and a waterfall of its spans; `--spans` adds ids, `--events` what happened in each. */
export const showRun = async (gateway: Gateway, options: AskOptions, input: Input, io: Io): Promise<number> => {
  const width = widthOf(input, io)
  const path = `/api/v1/runs/${encodeURIComponent(input.args[0] ?? '')}`
  const answer = await asking(gateway, options, async (ask) => text(await ask('GET', path)))
  if (input.options.json === true) {
    io.out.write(`${answer}\n`)
    return 0
  }
  const shown = readJson(answer) as Shown
  const paint = painter(input, io)
  io.out.write(`${summaryOf(shown.run, paint)}\n`)
  for (const [index, { title, bar, duration, status, detail }] of waterfall(shown.spans, width).entries()) {
    const span = shown.spans[index]
    const columns = [title, bar, duration.padStart(8), paint(status.padEnd(9), status)]
    const last = [paint(detail, detail.split(' ', 1)[0] ?? ''), input.options.spans === true ? (span?.id ?? '') : '']
    io.out.write(`${[...columns, ...last.filter((part) => part !== '')].join('  ').trimEnd()}\n`)
    if (input.options.events === true) for (const event of span?.events ?? []) io.out.write(`${eventLine(event)}\n`)
  }
  if (input.options.events === true) for (const event of shown.events) io.out.write(`${eventLine(event)}\n`)
  return 0
}

const summaryOf = (run: Shown['run'], paint: (text: string, word: string) => string): string =>
  [
    terminalLine(run.name ?? run.trace_id),
    paint(run.status, run.status),
    ...(run.failure_tag === null ? [] : [`tag ${run.failure_tag}`]),
    durationText(run.duration_ns),
    `${Number(run.total_tokens).toLocaleString('en')} tokens`,
    `cost ${(Number(run.cost_micro) / 1_000_000).toFixed(4)}`,
    ...(run.session_id === null ? [] : [`session ${terminalLine(run.session_id)}`]),
  ].join('  ')

const eventLine = ({ name, severity, attributes }: ShownEvent): string => {
  const said = Object.entries(attributes)
    .filter(([, value]) => ['string', 'number', 'bigint', 'boolean'].includes(typeof value))
    .map(([key, value]) => `${key}=${String(value)}`)
  return `      ${severity.padEnd(5)}  ${terminalLine([name, ...said].join('  '))}`
}

const widthOf = ({ options: { width } }: Input, { out }: Io): number => {
  if (width === undefined) return 'columns' in out && typeof out.columns === 'number' ? out.columns : DEFAULT_WIDTH
  if (/^\d{2,4}$/.test(String(width))) return Number(width)
  throw new GuardError('USAGE', `--width takes a number of columns from 10 to 9999, not "${String(width)}".`)
}
