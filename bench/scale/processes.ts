import { readdirSync, readFileSync } from 'node:fs'

/** Clock ticks a second of the times in /proc, on every Linux. */
const TICKS = 100
const US = 1_000_000

/** What /proc/<pid>/stat says of a process; times in microseconds. */
export interface ProcessStat {
  readonly parent: number
  /** User and system time of all its threads. */
  readonly own_us: number
  /** The same of its children that have ended. */
  readonly ended_us: number
}

/** Parses a line of /proc/<pid>/stat. The name in it may hold spaces and parentheses. */
export const parseStat = (line: string): ProcessStat => {
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
  const us = (at: number): number => (Number(fields[at] ?? 0) * US) / TICKS
  return { parent: Number(fields[1]), own_us: us(11) + us(12), ended_us: us(13) + us(14) }
}

/** CPU of a process and of everything that it started, also of what has ended, in microseconds. 0 where there is no /proc. */
export const cpuOfTree = (root: number): number => {
  const stats = new Map<number, ProcessStat>()
  for (const name of listed()) {
    const stat = statOf(name)
    if (stat !== undefined) stats.set(Number(name), stat)
  }
  return cpuOf(root, stats)
}

/** Times of a process and its descendants. */
export const cpuOf = (root: number, stats: ReadonlyMap<number, ProcessStat>): number => {
  const own = stats.get(root)
  if (own === undefined) return 0
  let sum = own.own_us + own.ended_us
  for (const [pid, { parent }] of stats) if (parent === root) sum += cpuOf(pid, stats)
  return sum
}

const listed = (): string[] => {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  } catch {
    return []
  }
}

const statOf = (name: string): ProcessStat | undefined => {
  try {
    return parseStat(readFileSync(`/proc/${name}/stat`, 'utf8'))
  } catch {
    return undefined // it has ended
  }
}
