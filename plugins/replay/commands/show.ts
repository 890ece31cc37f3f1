import { text } from 'node:stream/consumers'
import { GuardError } from 'guard-gateway/core'
import type { AskStream, Input, Io } from '#lib/command'
import { costText, groupedText } from '#lib/format'
import { isJsonObject, readJson } from '#lib/json'
import { type Colour, colourOf, columnLines, hint, painter, terminalWidth } from '#lib/terminal'
import { terminalLine } from '#lib/text'
import type { RunSummary } from '#lib/trace-file'
import type { RowsPage } from '../read/rows.ts'
import type { UseRow } from '../read/use-rows.ts'
import type { ReplayCommandOptions } from './command-options.ts'
import { durationOf } from './list.ts'
import { runPath } from './run-id.ts'
import { type EventView, eventRow, type Row, rowsOfSpans, type SpanView, selectSpans, titlesOf } from './show-rows.ts'
import { columnsOf, symbolsOf, type TerminalSymbols } from './terminal.ts'

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
  const displayed = await asking((ask) => readRun(ask, input.args[0]))
  if (input.options.json === true) {
    io.out.write(`${displayed.answer}\n`)
    return 0
  }
  const paint = painter(input, io)
  const all = rowsIn(displayed, input)
  const rows = all.slice(0, limit)
  io.out.write(`${headOf(displayed, (status) => paint(status, colourOf(status) ?? 'dim'))}\n`)
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

const rowsIn = ({ run, spans, events }: RunContent, { options }: Input): readonly Row[] => {
  const names = options.spans === undefined ? [] : String(options.spans).split(',')
  const displayed = selectSpans(spans, names)
  if (displayed.length === 0)
    throw new GuardError(
      'USAGE',
      `No span of the run is called ${names.join(' or ')}. Name them as "tool.call" or "tool.call#2".`,
    )
  const all = options.events === true
  const rows = rowsOfSpans(displayed, titlesOf(spans), run.start_ns, all)
  return all && names.length === 0 ? [...rows, ...events.map((event) => eventRow(event, 0, run.start_ns))] : rows
}

const headOf = ({ run, spans }: RunContent, paint: (status: string) => string): string => {
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

const head = ['', 'model, tool or command', 'calls', 'errors', 'p50', 'p95', 'in', 'cached', 'out', 'cost']
const figures: ReadonlySet<number> = new Set([2, 3, 4, 5, 6, 7, 8, 9])
const free = new Map([[1, 20]])

/** Prints calls by model, tool and command. */
const printUse = (uses: readonly UseRow[], io: Io): void => {
  if (uses.length === 0) {
    io.out.write('This run calls no model, tool or command.\n')
    return
  }
  for (const line of columnLines([head, ...uses.map(cellsOf)], figures, {
    width: terminalWidth(io.out),
    spare: [5, 7],
    free,
  }))
    io.out.write(`${line}\n`)
}

const cellsOf = (use: UseRow): readonly string[] => {
  const isModel = use.kind === 'model'
  const count = (value: number): string => (isModel ? groupedText(value) : '')
  return [
    use.kind,
    terminalLine(use.name ?? 'unnamed'),
    groupedText(use.calls),
    use.errors === 0 ? '' : groupedText(use.errors),
    tookText(use.p50_ns),
    tookText(use.p95_ns),
    count(use.input_tokens),
    count(use.cached_input_tokens),
    count(use.output_tokens),
    isModel ? costText(use.cost_micro) : '',
  ]
}

const tookText = (ns: number | null): string => (ns === null ? '–' : durationOf(ns))

/** A run as the command shows it: each tool call one span, with tokens and cost. */
interface RunContent {
  readonly run: RunSummary
  readonly spans: readonly SpanView[]
  readonly events: readonly EventView[]
  /** The answer of the gateway as it came. */
  readonly answer: string
}

interface Bundle extends Omit<RunContent, 'spans' | 'answer'> {
  readonly spans: readonly BundledSpan[]
}
type BundledSpan = Pick<SpanView, 'id' | 'owner' | 'attributes' | 'start_ns' | 'end_ns' | 'events'>

/** Reads a run: its records, and the rows of its tree, which have figures and fold what several writers told of one call. */
const readRun = async (ask: AskStream, typed: string | undefined): Promise<RunContent> => {
  const path = await runPath(ask, typed)
  const answer = await text(await ask('GET', path))
  const bundle = readJson(answer) as Bundle
  const known = new Map(bundle.spans.map((span) => [span.id, span]))
  const above: string[] = []
  const spans: SpanView[] = []
  for await (const row of rowsOf(ask, path)) {
    const span = known.get(row.id)
    // the run may have grown since
    if (span === undefined) continue
    above[row.depth] = row.id
    spans.push({ ...span, ...row, parent_id: row.depth === 0 ? null : (above[row.depth - 1] ?? null) })
  }
  return { run: bundle.run, spans, events: bundle.events, answer }
}

type SpanRow = Omit<SpanView, keyof Omit<BundledSpan, 'id'> | 'parent_id'> & { readonly depth: number }

async function* rowsOf(ask: AskStream, path: string): AsyncGenerator<SpanRow> {
  for (let after: number | null = 0; after !== null; ) {
    const page = readJson(await text(await ask('GET', `${path}/rows?after=${after}`))) as RowsPage
    const at = new Map<string, number>(page.columns.map((name, index) => [name, index]))
    for (const row of page.rows) {
      const of = <T>(name: RowsPage['columns'][number]): T => row[at.get(name) ?? -1] as T
      yield {
        id: of('id'),
        depth: of('depth'),
        name: of('name'),
        label: of('label'),
        kind: of('kind'),
        status: of('status'),
        tokens: of('tokens'),
        cost_micro: of('cost_micro'),
        error: of('error'),
        also_seen: of('also_seen'),
      }
    }
    after = page.next
  }
}

const MAX_INDENT = 8
const MIN_BAR = 10
const TOOK = 8
const STATUS = 7
const MAX_NOTE = 32
/** Blanks between the five columns. */
const GAPS = 5

interface Drawing {
  /** Columns of a line. */
  readonly width: number
  readonly symbols: TerminalSymbols
  paint(text: string, colour: Colour): string
}

/** Lines of rows: name, bar on the time axis, duration, tokens, cost, status, note. */
function* linesOf(rows: readonly Row[], { width, symbols, paint }: Drawing): Generator<string> {
  const names = rows.map(({ depth, title }) => '  '.repeat(Math.min(depth, MAX_INDENT)) + title)
  const longest = (texts: readonly string[]): number => texts.reduce((most, { length }) => Math.max(most, length), 0)
  const free = Math.min(longest(rows.map((row) => row.note)), MAX_NOTE, Math.floor(width / 4))
  const note = Math.max(longest(rows.map((row) => row.decided)), free)
  const figures = figuresOf(rows, width)
  const left = width - TOOK - STATUS - note - GAPS - figures.reduce((sum, { columns }) => sum + columns + 1, 0)
  const name = Math.max(Math.min(longest(names), Math.floor(left / 2)), MIN_BAR)
  const bar = Math.max(left - name, MIN_BAR)
  const span_ns = rows.reduce((last, { from, until }) => Math.max(last, until ?? from), 0)
  const columnOf = (ns: number): number =>
    span_ns <= 0 ? 0 : Math.min(Math.max(Math.round((ns / span_ns) * (bar - 1)), 0), bar - 1)
  for (const [at, row] of rows.entries()) {
    const title = shortened(names[at] ?? '', name, symbols.cut).padEnd(name)
    const drawn = barOf(row, columnOf, bar, symbols).padEnd(bar)
    const status = painted(cut(row.status, STATUS).padEnd(STATUS), row.status, paint)
    const decided = painted(noteOf(row, note), `${row.decided} ${row.note}`.trimStart().split(' ', 1)[0] ?? '', paint)
    const sums = figures.map(({ of, columns }) => row[of].padStart(columns))
    yield [title, drawn, row.took.padStart(TOOK), ...sums, status, decided].join(' ').trimEnd()
  }
}

/** Lines that are narrower have no room for figures. */
const MIN_FIGURES = 80

interface Figure {
  readonly of: 'tokens' | 'cost'
  readonly columns: number
}

/** Tokens and cost, where there are some. */
const figuresOf = (rows: readonly Row[], width: number): readonly Figure[] =>
  width < MIN_FIGURES
    ? []
    : (['tokens', 'cost'] as const)
        .map((of) => ({ of, columns: rows.reduce((most, row) => Math.max(most, row[of].length), 0) }))
        .filter(({ columns }) => columns > 0)

const cut = (text: string, length: number): string => (text.length <= length ? text : text.slice(0, length))

/** Decision codes are never shortened; other text is. */
const noteOf = ({ decided, note }: Row, length: number): string =>
  decided === '' ? cut(note, length) : `${decided} ${cut(note, Math.max(length - decided.length - 1, 0))}`.trimEnd()

/** Shortens a name and retains its number, which distinguishes equal names. */
const shortened = (title: string, length: number, sign: string): string => {
  if (title.length <= length) return title
  const number = /#\d+$/.exec(title)?.[0] ?? ''
  return cut(title, length - number.length - sign.length) + sign + number
}

const painted = (text: string, word: string, paint: Drawing['paint']): string => {
  const colour = colourOf(word)
  return colour === undefined ? text : paint(text, colour)
}

const barOf = (
  { from, until }: Row,
  columnOf: (ns: number) => number,
  width: number,
  symbols: TerminalSymbols,
): string => {
  const begin = columnOf(from)
  if (until === undefined) return ' '.repeat(begin) + symbols.event
  const end = until === null ? width - 1 : Math.max(columnOf(until), begin)
  if (end === begin) return ' '.repeat(begin) + symbols.instant
  const close = until === null ? symbols.open : symbols.end
  return ' '.repeat(begin) + symbols.begin + symbols.line.repeat(end - begin - 1) + close
}
