import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { cpus } from 'node:os'
import type { RunFacts } from './observation.ts'

/** List price in dollars of a million uncached input tokens of a typical coding model. */
export const LIST_PRICE = 3

/** The facts of a new bench run: machine, commit of the sources and token price. */
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
