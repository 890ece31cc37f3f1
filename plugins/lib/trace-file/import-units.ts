import { createReadStream, type Dirent } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { GuardError } from 'guard-gateway/core'
import type { Io } from 'guard-gateway/lib/command'

/** What is sent as one file. */
export interface ImportUnit {
  /** As the user may write it. */
  readonly name: string
  /** Undefined for a stream. */
  readonly bytes: number | undefined
  open(): Readable
}

export interface ImportUnits {
  readonly units: readonly ImportUnit[]
  /** Files were looked for in a folder, so some may be of other kinds. */
  readonly searched: boolean
}

const ENDINGS = /\.(?:json|jsonl|ndjson)(?:\.gz)?$/i
/** Agents nest projects, sessions and subagents; nothing lies deeper. */
const MAX_DEPTH = 8

/** The files that a command line names: stdin for `-`, and all below a folder. Throws USAGE for what cannot be read. */
export const importUnits = async (names: readonly string[], io: Io): Promise<ImportUnits> => {
  const found = await Promise.all(names.map((name) => unitsAt(name, io)))
  return { units: found.flatMap(({ units }) => units), searched: found.some(({ searched }) => searched) }
}

const unitsAt = async (name: string, io: Io): Promise<ImportUnits> => {
  if (name === '-') {
    const { in: input } = io
    if (input === undefined) throw new GuardError('USAGE', 'Nothing comes in that could be imported.')
    return { units: [{ name, bytes: undefined, open: () => Readable.from(input) }], searched: false }
  }
  const path = resolve(io.cwd, name)
  try {
    const found = await stat(path)
    if (!found.isDirectory()) return { units: [await unitOf(name, [path])], searched: false }
    const units = await folderUnits(path, name, 0)
    if (units.length === 0) throw new Error('no file below it ends in .json, .jsonl, .ndjson, or one of these and .gz')
    return { units, searched: true }
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    const why = code === 'ENOENT' ? 'there is no such file' : message
    throw new GuardError('USAGE', `${name} cannot be read: ${why}.`, { cause })
  }
}

/** A file, or several as one: a session and its subagents. Throws what opening the first one throws. */
const unitOf = async (name: string, paths: readonly string[]): Promise<ImportUnit> => {
  const sizes = await Promise.all(paths.map((path) => stat(path)))
  const [first = ''] = paths
  const file = createReadStream(first)
  await new Promise((ready, failed) => file.once('open', ready).once('error', failed))
  file.destroy()
  const isWhole = sizes.every((one) => one.isFile())
  return {
    name,
    bytes: isWhole ? sizes.reduce((sum, { size }) => sum + size, 0) : undefined,
    open: () => (paths.length === 1 ? createReadStream(first) : Readable.from(joined(paths), { objectMode: false })),
  }
}

/** Files one after another, each on lines of its own. */
async function* joined(paths: readonly string[]): AsyncGenerator<Buffer> {
  for (const path of paths) {
    yield* createReadStream(path) as AsyncIterable<Buffer>
    yield Buffer.from('\n')
  }
}

const byName = (one: Dirent, other: Dirent): number => (one.name < other.name ? -1 : 1)

/** Units below a folder. What lies in `x/` beside `x.jsonl` belongs to that file. */
const folderUnits = async (folder: string, shown: string, depth: number): Promise<readonly ImportUnit[]> => {
  const entries = (await readdir(folder, { withFileTypes: true })).sort(byName)
  const folders = new Set(entries.filter((entry) => entry.isDirectory()).map(({ name }) => name))
  const units: ImportUnit[] = []
  for (const { name } of entries.filter((entry) => entry.isFile() && ENDINGS.test(entry.name))) {
    const own = name.replace(/\.jsonl$/i, '')
    const parts = own !== name && folders.delete(own) ? await filesBelow(join(folder, own), depth + 1) : []
    units.push(await unitOf(join(shown, name), [join(folder, name), ...parts]))
  }
  if (depth < MAX_DEPTH)
    for (const name of folders) units.push(...(await folderUnits(join(folder, name), join(shown, name), depth + 1)))
  return units
}

const filesBelow = async (folder: string, depth: number): Promise<readonly string[]> => {
  const paths: string[] = []
  for (const entry of (await readdir(folder, { withFileTypes: true })).sort(byName)) {
    const path = join(folder, entry.name)
    if (entry.isFile() && /\.jsonl$/i.test(entry.name)) paths.push(path)
    else if (entry.isDirectory() && depth < MAX_DEPTH) paths.push(...(await filesBelow(path, depth + 1)))
  }
  return paths
}
