import { text } from 'node:stream/consumers'
import type { AskStream, Suggestion } from '#lib/command'
import { costText } from '#lib/format'
import { readJson } from '#lib/json'
import { agoText } from '#lib/terminal'
import type { RunSummary } from '#lib/trace-file'
import { agentOf } from '../read/run-agent.ts'

/** What the newest runs have of each kind. `now`: milliseconds since 1970. */
export interface RunSuggestions {
  runs(runs: readonly RunSummary[], now: number): readonly Suggestion[]
  pinned(runs: readonly RunSummary[], now: number): readonly Suggestion[]
  agents(runs: readonly RunSummary[]): readonly Suggestion[]
  projects(runs: readonly RunSummary[]): readonly Suggestion[]
  sessions(runs: readonly RunSummary[]): readonly Suggestion[]
}

/** Suggestions of one kind from the 100 newest runs. */
export const suggestFrom = async (
  ask: AskStream,
  kind: keyof RunSuggestions,
  now: number,
): Promise<readonly Suggestion[]> => {
  const query = kind === 'pinned' ? 'limit=100&pinned=true' : 'limit=100'
  const { runs } = readJson(await text(await ask('GET', `/api/v1/runs?${query}`))) as {
    readonly runs: readonly RunSummary[]
  }
  return kinds[kind](runs, now)
}

const ofRun = (run: RunSummary, now: number): Suggestion => {
  const { name, project_id, status, failure_tag, cost_micro, start_ns } = run
  const words = [
    name,
    agentOf(run) ?? project_id,
    failure_tag ?? status,
    `cost ${costText(cost_micro)}`,
    agoText(Number(BigInt(start_ns) / 1_000_000n), now),
  ]
  return { value: run.trace_id, meaning: words.filter((word) => word !== null && word !== '').join(', ') }
}

/** Models of requests of the last seven days. */
export const suggestModels = async (ask: AskStream): Promise<readonly Suggestion[]> => {
  const { series } = readJson(await text(await ask('GET', '/api/v1/figures?group=model&since=7d&step=day'))) as {
    readonly series: readonly { readonly group: string | null }[]
  }
  return series.flatMap(({ group }) => (group === null ? [] : [{ value: group }]))
}

/** Each value once, with how many runs have it. */
const counted = (values: readonly (string | null)[]): readonly Suggestion[] => {
  const counts = new Map<string, number>()
  for (const value of values) if (value !== null) counts.set(value, (counts.get(value) ?? 0) + 1)
  return [...counts].map(([value, count]) => ({ value, meaning: `${count} ${count === 1 ? 'run' : 'runs'}` }))
}

const kinds: RunSuggestions = {
  runs: (runs, now) => runs.map((run) => ofRun(run, now)),
  pinned: (runs, now) => runs.map((run) => ofRun(run, now)),
  agents: (runs) => counted(runs.map(agentOf)),
  projects: (runs) => counted(runs.map(({ project_id }) => project_id)),
  sessions: (runs) => counted(runs.map(({ session_id }) => session_id)),
}
