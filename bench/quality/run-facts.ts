import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { cpus } from 'node:os'
import type { RunFacts } from './observation.ts'

/** Dollars a million input tokens of a usual model for coding cost at list price, none of them from a cache. */
export const LIST_PRICE = 3

/** Who measures: a new run on this machine, from this state of the sources, at so many dollars a million tokens. */
export const runFacts = (price = LIST_PRICE): RunFacts => ({
  schema: 'bench.observation.v1',
  run_id: randomUUID(),
  at: new Date().toISOString(),
  git: gitHead(),
  node: process.version,
  cpu: cpus()[0]?.model ?? 'unknown',
  usd_per_million_tokens: price,
})

/** Null outside a repository. */
const gitHead = (): string | null => {
  try {
    const stdio: ['ignore', 'pipe', 'ignore'] = ['ignore', 'pipe', 'ignore']
    return execFileSync('git', ['rev-parse', 'HEAD'], { cwd: import.meta.dirname, stdio, encoding: 'utf8' }).trim()
  } catch {
    return null
  }
}
