import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, join, relative, resolve, sep } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { collectionsOf } from './collections.ts'
import { type CompactRun, fromCompact, merged } from './compact.ts'
import type { Trajectory } from './trajectory.ts'

const unzip = promisify(gunzip)
const NEWLINE = 0x0a

/** The runs of a folder of trajectories. */
export interface Corpus {
  readonly folder: string
  /** Each run once, even if several files contain it. */
  readonly trajectories: readonly Trajectory[]
  /** The collection of each run, by run id. */
  readonly collections: ReadonlyMap<string, string>
  /** Number of trajectories of other splits. */
  readonly left_out: number
}

/**
 * Reads every `.jsonl` and `.jsonl.gz` file of a folder, recursively, in the format `bench.trajectory.v1` or the
 * compact one. Throws a TypeError with file and line of an invalid record.
 */
export const loadCorpus = async (folder: string, split?: string): Promise<Corpus> => {
  const runs = new Map<string, Trajectory>()
  const places = new Map<string, Set<string>>()
  let leftOut = 0
  for (const file of await filesOf(folder)) {
    for (const run of await runsOf(join(folder, file), file)) {
      const known = runs.get(run.id)
      if (split !== undefined && run.split !== split) {
        leftOut++
        continue
      }
      runs.set(run.id, known === undefined ? run : merged(known, run))
      places.set(run.id, (places.get(run.id) ?? new Set()).add(placeOf(folder, file)))
    }
  }
  const trajectories = [...runs.values()]
  return { folder: resolve(folder), trajectories, collections: collectionsOf(places), left_out: leftOut }
}

/** The first folder below the given one, or that folder itself. */
const placeOf = (folder: string, file: string): string => {
  const [below, ...rest] = file.split(sep)
  return rest.length === 0 || below === undefined ? basename(resolve(folder)) : below
}

const filesOf = async (folder: string): Promise<string[]> => {
  const found = await stat(folder).catch(() => undefined)
  if (found === undefined || !found.isDirectory())
    throw new TypeError(`There is no folder ${resolve(folder)} to read trajectories from.`)
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile() && /\.jsonl(\.gz)?$/.test(entry.name))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
  if (files.length === 0) throw new TypeError(`${resolve(folder)} holds no .jsonl or .jsonl.gz file.`)
  return files.sort()
}

const runsOf = async (path: string, file: string): Promise<Trajectory[]> => {
  const bytes = await readFile(path)
  const plain = file.endsWith('.gz') ? await unpacked(bytes, file) : bytes
  const runs: Trajectory[] = []
  let line = 0
  for (let from = 0; from < plain.length; ) {
    const end = plain.indexOf(NEWLINE, from)
    const text = plain.toString('utf8', from, end === -1 ? plain.length : end)
    line++
    if (text.trim() !== '') runs.push(runOf(text, `${file}:${line}`))
    from = end === -1 ? plain.length : end + 1
  }
  return runs
}

const unpacked = async (bytes: Buffer, file: string): Promise<Buffer> => {
  try {
    return await unzip(bytes)
  } catch (cause) {
    throw new TypeError(`${file} is not gzip: ${(cause as Error).message}`, { cause })
  }
}

const runOf = (text: string, where: string): Trajectory => {
  const run = parsed(text, where)
  if (typeof run !== 'object' || run === null || !('id' in run) || !('steps' in run) || !Array.isArray(run.steps))
    throw new TypeError(`${where} is no trajectory: it needs an id and a list of steps.`)
  if ('schema' in run && run.schema === 'bench.trajectory.v1') {
    const odd = run.steps.findIndex((step) => !Array.isArray(step?.calls) || !Array.isArray(step.results))
    if (odd === -1) return run as unknown as Trajectory
    throw new TypeError(`${where} is no trajectory: step ${odd + 1} needs lists of calls and of results.`)
  }
  if ('src' in run) return fromCompact(run as unknown as CompactRun)
  throw new TypeError(`${where} is no trajectory: it has neither the schema bench.trajectory.v1 nor a src.`)
}

const parsed = (text: string, where: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new TypeError(`${where} is not JSON: ${(cause as Error).message}`, { cause })
  }
}
