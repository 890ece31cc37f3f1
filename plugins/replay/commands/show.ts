import { text } from 'node:stream/consumers'
import { GuardError } from 'guard-gateway/core'
import type { Input, Io } from 'guard-gateway/lib/command'
import { costText, groupedText } from 'guard-gateway/lib/format'
import { isJsonObject, readJson } from 'guard-gateway/lib/json'
import { colourOf, hint, painter } from 'guard-gateway/lib/terminal'
import { terminalLine } from 'guard-gateway/lib/text'
import type { RunSummary } from 'guard-gateway/lib/trace-file'
import type { UseRow } from '../read/use-rows.ts'
import type { ReplayCommandOptions } from './command-options.ts'
import { durationOf } from './list.ts'
import { runPath } from './run-id.ts'
import { readShown, type ShownRun } from './run-response.ts'
import { linesOf } from './show-lines.ts'
import { eventRow, type Row, rowsOfSpans, type SpanView, selectSpans, titlesOf } from './show-rows.ts'
import { columnsOf, symbolsOf } from './terminal.ts'
import { printUse } from './use-lines.ts'

/** Default width. */
const COLUMNS = 100
const [MIN_COLUMNS, MAX_COLUMNS] = [60, 1_000]
/** Lines of a run if no other number is asked for. */
const MAX_LINES = 1_000

/** Prints a run as a tree of spans with time bars and decisions. Throws USAGE for an invalid width or unknown spans. */
export const showRun = async ({ asking }: ReplayCommandOptions, input: Input, io: Io): Promise<number> => {
  const width = widthIn(input, io)
  const limit = limitIn(input)
  if (input.options.use === true) return showUse(asking, input, io)
  const shown = await asking((ask) => readShown(ask, input.args[0]))
  if (input.options.json === true) {
    io.out.write(`${shown.answer}\n`)
    return 0
  }
  const paint = painter(input, io)
  const all = rowsIn(shown, input)
  const rows = all.slice(0, limit)
  io.out.write(`${headOf(shown, (status) => paint(status, colourOf(status) ?? 'dim'))}\n`)
  for (const line of linesOf(rows, { width, symbols: symbolsOf(io), paint })) io.out.write(`${line}\n`)
  const more = all.length - rows.length
  if (more > 0)
    hint(
      `${groupedText(more)} more ${more === 1 ? 'line' : 'lines'}: choose spans with --spans, or raise --limit (0 for all).`,
      input,
      io,
    )
  return 0
}

/** Prints the calls of a run by model, tool and command. */
const showUse = async (asking: ReplayCommandOptions['asking'], input: Input, io: Io): Promise<number> => {
  const answer = await asking(async (ask) => text(await ask('GET', `${await runPath(ask, input.args[0])}/use`)))
  if (input.options.json === true) io.out.write(`${answer}\n`)
  else printUse((readJson(answer) as { readonly uses: readonly UseRow[] }).uses, io)
  return 0
}

const limitIn = ({ options: { limit } }: Input): number => {
  if (limit === undefined) return MAX_LINES
  if (!/^\d{1,7}$/.test(String(limit)))
    throw new GuardError('USAGE', '--limit must be a number of lines, or 0 for all.')
  return Number(limit) === 0 ? Number.POSITIVE_INFINITY : Number(limit)
}

const widthIn = ({ options: { width } }: Input, io: Io): number => {
  if (width === undefined) return Math.min(Math.max(columnsOf(io, COLUMNS), MIN_COLUMNS), MAX_COLUMNS)
  const columns = /^\d{1,4}$/.test(String(width)) ? Number(width) : 0
  if (columns >= MIN_COLUMNS && columns <= MAX_COLUMNS) return columns
  throw new GuardError('USAGE', `--width must be a number of columns from ${MIN_COLUMNS} to ${MAX_COLUMNS}.`)
}

const rowsIn = ({ run, spans, events }: ShownRun, { options }: Input): readonly Row[] => {
  const names = options.spans === undefined ? [] : String(options.spans).split(',')
  const shown = selectSpans(spans, names)
  if (shown.length === 0)
    throw new GuardError(
      'USAGE',
      `No span of the run is called ${names.join(' or ')}. Name them as "tool.call" or "tool.call#2".`,
    )
  const all = options.events === true
  const rows = rowsOfSpans(shown, titlesOf(spans), run.start_ns, all)
  return all && names.length === 0 ? [...rows, ...events.map((event) => eventRow(event, 0, run.start_ns))] : rows
}

const headOf = ({ run, spans }: ShownRun, paint: (status: string) => string): string => {
  const { failure_tag, session_id } = run
  const parts = [
    terminalLine(run.name ?? run.trace_id),
    paint(run.status),
    failure_tag === null ? '' : `tag ${failure_tag}`,
    durationOf(run.duration_ns),
    `${groupedText(run.total_tokens)} tokens`,
    `cost ${costText(run.cost_micro)}`,
    session_id === null ? '' : `session ${session_id}`,
    failureReason(run, spans),
  ]
  return parts.filter((part) => part !== '').join('  ')
}

/** Source of the failure tag: the reason of its event or span, else the rule, and the span. */
const failureReason = ({ failure_evidence: evidence }: RunSummary, spans: readonly SpanView[]): string => {
  if (!isJsonObject(evidence)) return ''
  const span = spans.find(({ id }) => id === evidence.span_id)
  const events = span?.events.filter(({ id }) => id === evidence.event_id).concat(span.events)
  const reason = events?.map(({ attributes }) => attributes.reason_code).find((code) => typeof code === 'string')
  const where = span === undefined ? '' : ` in ${titlesOf(spans).get(span)}`
  return `(why: ${terminalLine((reason ?? evidence.rule) + where)})`
}
