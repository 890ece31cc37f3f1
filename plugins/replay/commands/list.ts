import { text } from 'node:stream/consumers'
import type { Input, Io } from 'guard-gateway/lib/command'
import { costText } from 'guard-gateway/lib/format'
import { readJson } from 'guard-gateway/lib/json'
import { columnLines, hint, terminalWidth } from 'guard-gateway/lib/terminal'
import { terminalLine } from 'guard-gateway/lib/text'
import type { RunSummary } from 'guard-gateway/lib/trace-file'
import { agentOf } from '../read/run-agent.ts'
import type { ReplayCommandOptions } from './command-options.ts'

/** Filter by flag. */
const filters: Readonly<Record<string, string>> = {
  project: 'project_id',
  session: 'session_id',
  agent: 'agent',
  status: 'status',
  tag: 'tag',
  pinned: 'pinned',
  since: 'since',
  query: 'q',
  limit: 'limit',
  cursor: 'cursor',
}

interface Listed {
  readonly runs: readonly RunSummary[]
  readonly next_cursor: string | null
}

/** Prints a page of runs, one per line below a head. */
export const listRuns = async ({ asking }: ReplayCommandOptions, input: Input, io: Io): Promise<number> => {
  const query = new URLSearchParams({ limit: '20' })
  for (const [flag, name] of Object.entries(filters)) {
    const value = input.options[flag]
    if (value !== undefined) query.set(name, String(value))
  }
  const answer = await asking(async (ask) => text(await ask('GET', `/api/v1/runs?${query}`)))
  if (input.options.json === true) {
    io.out.write(`${answer}\n`)
    return 0
  }
  const { runs, next_cursor } = readJson(answer) as Listed
  for (const line of linesOf(runs, terminalWidth(io.out))) io.out.write(`${line}\n`)
  if (runs.length === 0) io.err.write('There are no such runs.\n')
  if (next_cursor !== null) hint(`more: --cursor ${next_cursor}`, input, io)
  return 0
}

const head = ['run', 'started (UTC)', 'status', 'tag', 'duration', 'tokens', 'cost', 'project', 'agent', 'name']
const figures: ReadonlySet<number> = new Set([4, 5, 6])
/** Order in which columns are dropped: project, tokens, cost, agent, name, duration. */
const dropOrder = [7, 5, 6, 8, 9, 4]

const linesOf = (runs: readonly RunSummary[], width: number | undefined): readonly string[] =>
  runs.length === 0 ? [] : columnLines([head, ...runs.map(rowOf)], figures, { width, spare: dropOrder })

const rowOf = (run: RunSummary): readonly string[] => [
  run.trace_id,
  new Date(Number(run.start_ns) / 1e6).toISOString().slice(0, 19).replace('T', ' '),
  run.status,
  run.failure_tag ?? '',
  durationOf(run.duration_ns),
  Number(run.total_tokens).toLocaleString('en'),
  costText(run.cost_micro),
  terminalLine(run.project_id),
  terminalLine(agentOf(run) ?? ''),
  terminalLine(run.name ?? ''),
]

/** Nanoseconds as text; null for a run or span without an end. */
export const durationOf = (ns: bigint | number | null): string => {
  if (ns === null) return 'running'
  const ms = Number(ns) / 1_000_000
  return ms < 1000 ? `${Math.round(ms)}ms` : `${(ms / 1000).toFixed(1)}s`
}
