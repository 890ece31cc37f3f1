import { postgres } from 'guard-gateway/plugins/storage/postgres'
import { median } from '../kit/table.ts'
import { runsDatabase } from '../replay/database.ts'
import { readPaths } from '../replay/reads.ts'
import { openRoutes, type Routes } from '../replay/routes.ts'
import type { Postgres } from './postgres.ts'
import { fillRuns } from './runs-database.ts'

/** Medians of one read on both storages, in milliseconds. */
export interface ReadFigures {
  readonly name: string
  readonly sqlite_ms: number
  readonly postgres_ms: number
  readonly ratio: number
}

/** How long each read is measured on both storages together. */
const MEASURE_MS = 600
const LEAST = 5
const MOST = 200

/** Answers of a store of `runs` runs of 25 rows, route and JSON included, on SQLite and PostgreSQL in turns. */
export const measureReads = async (
  server: Postgres,
  runs: number,
  smoke: boolean,
  log: (line: string) => void,
): Promise<readonly ReadFigures[]> => {
  const file = await runsDatabase(runs, log)
  const url = await server.database()
  log(`filling PostgreSQL with ${runs} runs`)
  await fillRuns(url, runs)
  const sqlite = await openRoutes(file)
  const shared = await openRoutes(postgres({ url }))
  try {
    const own = await readPaths(sqlite)
    const other = await readPaths(shared)
    const figures: ReadFigures[] = []
    for (const [name, path] of Object.entries(own))
      figures.push(await inTurns(name, [sqlite, path], [shared, other[name] ?? path], smoke))
    return figures
  } finally {
    await sqlite.close()
    await shared.close()
  }
}

type Read = readonly [routes: Routes, path: string]

const inTurns = async (name: string, sqlite: Read, shared: Read, smoke: boolean): Promise<ReadFigures> => {
  const times: [number[], number[]] = [[], []]
  const until = performance.now() + (smoke ? 0 : MEASURE_MS)
  for (const read of [sqlite, shared]) await timed(read)
  while (times[0].length < (smoke ? 1 : LEAST) || (performance.now() < until && times[0].length < MOST)) {
    times[0].push(await timed(sqlite))
    times[1].push(await timed(shared))
  }
  const [sqlite_ms, postgres_ms] = [median(times[0]), median(times[1])]
  return { name, sqlite_ms, postgres_ms, ratio: postgres_ms / sqlite_ms }
}

const timed = async ([routes, path]: Read): Promise<number> => {
  const start = performance.now()
  await routes.request(path)
  return performance.now() - start
}
