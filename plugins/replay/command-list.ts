import { text } from 'node:stream/consumers'
import { type Input, type Io, type RunSummary, readJson, terminalLine } from 'guard-gateway/core'
import type { ReplayCommandOptions } from './asked.ts'

/** Flag to filter. */
const filters: Readonly<Record<string, string>> = {
  project: 'project_id',
  session: 'session_id',
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

/** Prints a page of runs, one a line: id, status, failure tag, duration, tokens, name. */
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
  for (const run of runs) io.out.write(`${lineOf(run)}\n`)
  if (runs.length === 0) io.err.write('There are no such runs.\n')
  if (next_cursor !== null) io.err.write(`more: --cursor ${next_cursor}\n`)
  return 0
}

const lineOf = ({ trace_id, status, failure_tag, duration_ns, total_tokens, name, agent_name }: RunSummary): string => {
  const called = name ?? agent_name ?? ''
  const columns = [trace_id, status.padEnd(9), (failure_tag ?? '').padEnd(12), durationOf(duration_ns).padStart(9)]
  return [...columns, `${Number(total_tokens).toLocaleString('en')} tokens`.padStart(16), terminalLine(called)]
    .join('  ')
    .trimEnd()
}

/** Nanoseconds as people read them; null is a run or span that has not ended. */
export const durationOf = (ns: bigint | number | null): string => {
  if (ns === null) return 'running'
  const ms = Number(ns) / 1_000_000
  return ms < 1000 ? `${Math.round(ms)}ms` : `${(ms / 1000).toFixed(1)}s`
}
