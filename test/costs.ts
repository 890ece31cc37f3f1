/** What files of tests cost: written by the processes that run them, read and shown at the end. */
import { appendFileSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** What a file took, in seconds. */
export interface Cost {
  readonly file: string
  /** Of this process, and of the children that ended meanwhile: the parsers of untrusted texts end with the file that is last to use them. */
  readonly cpu: number
  readonly children: number
  /** It is the first one of its process, which compiles for all. */
  readonly first: boolean
  readonly loading: number
  readonly wall: number
  /** Processes that it started. */
  readonly processes: number
}

/** What a file that starts no process may cost, in seconds of CPU: three times what CONTRIBUTING allows, since a slow or busy machine makes all dearer. */
const MAX_FILE_CPU = 6
/** What all of them may cost together: one and a half times what they are to take on two quiet cores. */
const MAX_FAST_CPU = 420

const TICKS_PER_SECOND = 100

/** Seconds of CPU of this process. */
export const ownSeconds = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

/** Seconds of CPU of the children that this process has waited for; 0 where the system does not say it. */
export const childrenSeconds = (): number => {
  if (process.platform !== 'linux') return 0
  const stat = readFileSync('/proc/self/stat', 'utf8')
  // after the name in parentheses; proc(5): cutime and cstime are fields 16 and 17, the first after the name is field 3
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND
}

const fileIn = (folder: string): string => join(folder, 'costs.jsonl')

export const writeCost = (folder: string, cost: Cost): void =>
  appendFileSync(fileIn(folder), `${JSON.stringify(cost)}\n`)

export const readCosts = async (folder: string): Promise<readonly Cost[]> => {
  const text = await readFile(fileIn(folder), 'utf8').catch(() => '')
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Cost)
}

/** The folders and the twenty costliest files, as text. */
export const report = (costs: readonly Cost[], wall: number): string => {
  const folders = [...Map.groupBy(costs, ({ file }) => folderOf(file))].map(([file, members]) => ({
    file,
    cpu: total(members),
    wall: sum(members, 'wall'),
  }))
  return [
    '',
    `CPU ${total(costs).toFixed(0)} s, ${sum(costs, 'loading').toFixed(0)} of them loading, wall ${wall.toFixed(0)} s. CPU and waiting of folders and of the costliest files, in seconds:`,
    ...sorted(folders).slice(0, 20).map(line),
    '',
    ...sorted(costs.map((cost) => ({ ...cost, cpu: total([cost]) })))
      .slice(0, 20)
      .map(line),
    '',
  ].join('\n')
}

/** Which files of the fast part cost too much. */
export const checkCosts = (costs: readonly Cost[]): readonly string[] => {
  const files = costs
    .filter(({ cpu, first }) => !first && cpu > MAX_FILE_CPU)
    .map(
      ({ file, cpu }) =>
        `${file} took ${cpu.toFixed(1)} s of CPU; what takes more than ${MAX_FILE_CPU} s is named *.system.test.ts.`,
    )
  const all = total(costs)
  if (all <= MAX_FAST_CPU) return files
  return [...files, `The tests of "npm test" took ${all.toFixed(0)} s of CPU; they may take ${MAX_FAST_CPU} s.`]
}

const folderOf = (file: string): string =>
  file
    .split('/')
    .slice(0, file.startsWith('plugins/') ? 2 : 1)
    .join('/')

const sum = (costs: readonly Cost[], member: 'cpu' | 'children' | 'loading' | 'wall'): number =>
  costs.reduce((seconds, cost) => seconds + cost[member], 0)

const total = (costs: readonly Cost[]): number => sum(costs, 'cpu') + sum(costs, 'children') + sum(costs, 'loading')

const sorted = <Row extends { readonly cpu: number }>(rows: readonly Row[]): readonly Row[] =>
  rows.toSorted((one, other) => other.cpu - one.cpu)

const line = ({ file, cpu, wall }: { readonly file: string; readonly cpu: number; readonly wall: number }): string =>
  `${cpu.toFixed(1).padStart(8)} ${Math.max(0, wall - cpu)
    .toFixed(1)
    .padStart(8)}  ${file}`
