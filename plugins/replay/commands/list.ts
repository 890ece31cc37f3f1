import { text } from 'node:stream/consumers'
import type { AskStream, Input, Io } from '#lib/command'
import { costText, groupedText } from '#lib/format'
import { readJson } from '#lib/json'
import { columnLines, hint, listedId, listedTime, paintedWord, painter, terminalWidth } from '#lib/terminal'
import { terminalLine } from '#lib/text'
import type { RunSummary } from '#lib/trace-file'
import { leavesNoise } from '../api/noise.ts'
import { agentOf } from '../read/run-agent.ts'
import type { ReplayCommandOptions } from './command-options.ts'
import { FILTERS, queryOf } from './list-query.ts'

interface Listed {
  readonly runs: readonly RunSummary[]
  readonly next_cursor: string | null
  /** Not all runs were looked at. */
  readonly truncated: boolean
}

/** Prints a page of runs, one per line below a head. `now`: milliseconds since 1970. */
export const listRuns = async (
  { asking }: ReplayCommandOptions,
  input: Input,
  io: Io,
  now: number,
): Promise<number> => {
  const query = queryOf(input, { ...FILTERS, limit: 'limit', cursor: 'cursor' }, { limit: '20' })
  if (input.options.noise !== true && leavesNoise(query)) query.set('noise', 'false')
  const { answer, titles } = await asking(async (ask) => {
    const answer = await text(await ask('GET', `/api/v1/runs?${query}`))
    return {
      answer,
      titles: input.options.json === true ? new Map() : await sessionTitles(ask, readJson(answer) as Listed),
    }
  })
  if (input.options.json === true) {
    io.out.write(`${answer}\n`)
    return 0
  }
  const { runs, next_cursor, truncated } = readJson(answer) as Listed
  for (const line of linesOf(runs, titles, now, input, io)) io.out.write(`${line}\n`)
  if (runs.length === 0)
    io.err.write(truncated ? 'None of the newest runs is such a run.\n' : 'There are no such runs.\n')
  if (next_cursor !== null) hint(`more: --cursor ${next_cursor}`, input, io)
  return 0
}

const head = ['run', 'agent', 'result', 'duration', 'tokens', 'cost', 'started', 'project', 'id']
const figures: ReadonlySet<number> = new Set([3, 4, 5])
const free = new Map([
  [0, 18],
  [1, 10],
  [7, 10],
])
/** Project, tokens, duration, cost, agent. */
const spare = [7, 4, 3, 5, 1]

type Titles = ReadonlyMap<string, string>

/** Names of the sessions of unnamed runs, by session id; none where the gateway keeps no sessions. */
const sessionTitles = async (ask: AskStream, { runs }: Listed): Promise<Titles> => {
  if (runs.every((run) => run.name !== null || run.session_id === null)) return new Map()
  const answer = await ask('GET', '/api/sessions?limit=200').then(text, () => '{"sessions":[]}')
  const { sessions } = readJson(answer) as {
    readonly sessions: readonly {
      readonly id: string
      readonly name: string | null
      readonly external_id: string | null
    }[]
  }
  return new Map(sessions.map(({ id, name, external_id }) => [id, name ?? external_id ?? id]))
}

const linesOf = (runs: readonly RunSummary[], titles: Titles, now: number, input: Input, io: Io): readonly string[] => {
  if (runs.length === 0) return []
  const width = terminalWidth(io.out)
  const colour = painter(input, io)
  const paint = (cell: string, column: number): string => (column === 2 ? paintedWord(cell, colour) : cell)
  const rows = runs.map((run) => rowOf(run, titles, now, width !== undefined))
  return columnLines([head, ...rows], figures, { width, spare, free, paint })
}

const rowOf = (run: RunSummary, titles: Titles, now: number, isTerminal: boolean): readonly string[] => [
  terminalLine(run.name ?? run.task_id ?? titles.get(run.session_id ?? '') ?? ''),
  terminalLine(agentOf(run) ?? ''),
  resultOf(run),
  durationOf(run.duration_ns),
  groupedText(run.total_tokens),
  costText(run.cost_micro),
  listedTime(Number(BigInt(run.start_ns) / 1_000_000n), now, isTerminal),
  terminalLine(run.project_id),
  listedId(run.trace_id, isTerminal),
]

/** Why a run failed says more than that it did. */
const resultOf = ({ status, failure_tag }: RunSummary): string => terminalLine(failure_tag ?? status)

/** Nanoseconds as text; null for a run or span without an end. */
export const durationOf = (ns: bigint | number | null): string => {
  if (ns === null) return 'running'
  const ms = Number(ns) / 1_000_000
  return ms < 1000 ? `${Math.round(ms)}ms` : `${(ms / 1000).toFixed(1)}s`
}
