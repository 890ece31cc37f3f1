import { writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { GuardError, type Plugin } from 'guard-gateway/core'
import { type AskJson, type Command, commandKind, type Input, type Io } from '#lib/command'
import { writeError } from '#lib/errors'
import { makeFolders } from '#lib/private-folders'
import { terminalLine } from '#lib/text'
import { instantOf } from '#lib/time'
import { benchCommand } from './command-bench.ts'

/** Where commands find stored sessions. */
export interface BenchOptions {
  /** Lets `work` ask the gateway that runs, or one that is opened for it. */
  readonly asking: <T>(work: (ask: AskJson) => Promise<T>) => Promise<T>
}

/** Gives the command line `bench` and `bench export`, and the interface the trajectories that the latter writes. */
export const bench = ({ asking }: BenchOptions): Plugin => ({
  name: 'bench',
  requires: ['recorder'],
  apply(gateway) {
    gateway.registry(commandKind).add(benchCommand)
    gateway.registry(commandKind).add(exportCommand(asking))
    gateway.hooks.http.tapPromise('bench', async (app) => {
      const { trajectoryRoutes } = await import('./routes.ts')
      await app.register(trajectoryRoutes(gateway), { prefix: '/api' })
    })
  },
})

/** Sends a request to the interface and gives the answer's body; rejects with the error that it answers with. */
type Asking = <T>(work: (ask: AskJson) => Promise<T>) => Promise<T>

interface Page {
  readonly trajectories: readonly object[]
  readonly next_cursor: string | null
}

/** `guard bench export`: writes stored conversations as lines of `bench.trajectory.v1`, for a bench on one's own traffic. */
export const exportCommand = (asking: Asking): Command => ({
  id: 'bench export',
  summary: 'write stored conversations as trajectories for a bench: tools, hashes and flags, no text',
  options: {
    '--since <time>': 'sessions since: an age such as 7d, or a time',
    '--project <id>': 'of this project',
    '--output <file>': 'write here instead of stdout; replaces no file',
  },
  example: ['guard bench export --since yesterday', 'guard bench export --since 7d --output mine/week.jsonl'],
  run: (input, io) => asking((ask) => exportTrajectories(ask, input, io)),
})

const exportTrajectories = async (ask: AskJson, { options }: Input, io: Io): Promise<number> => {
  const query = new URLSearchParams({ limit: '200' })
  if (options.since !== undefined) query.set('since', String(sinceOf(String(options.since), Date.now())))
  if (options.project !== undefined) query.set('project_id', String(options.project))
  const lines: string[] = []
  let cursor: string | null = null
  do {
    if (cursor !== null) query.set('cursor', cursor)
    const page = (await ask('GET', `/api/export/trajectories?${query}`)) as Page
    for (const trajectory of page.trajectories) lines.push(`${JSON.stringify(trajectory)}\n`)
    cursor = page.next_cursor
  } while (cursor !== null)
  await write(lines.join(''), options.output, io)
  if (options.quiet !== true && options.json !== true)
    io.err.write(`${lines.length} ${lines.length === 1 ? 'conversation' : 'conversations'}\n`)
  return 0
}

const write = async (text: string, output: unknown, io: Io): Promise<void> => {
  if (output === undefined) {
    io.out.write(text)
    return
  }
  const file = resolve(io.cwd, String(output))
  try {
    makeFolders(dirname(file))
    await writeFile(file, text, { flag: 'wx', mode: 0o600 })
  } catch (cause) {
    throw writeError(terminalLine(String(output)), cause)
  }
}

const sinceOf = (text: string, now: number): number => {
  const at = instantOf(text, now)
  if (at !== undefined) return at
  throw new GuardError(
    'USAGE',
    `--since takes an age such as 7d, today, yesterday, or a time such as 2026-01-31, not "${terminalLine(text)}".`,
  )
}
