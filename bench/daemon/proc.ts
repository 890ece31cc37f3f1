import { readdirSync, readFileSync } from 'node:fs'
import { parseStat } from '../scale/processes.ts'

/** Whether this system tells what a process uses, as Linux does. */
export const hasProc = (): boolean => read('self', 'io') !== undefined

/** What a process used since its start. */
export interface ProcessUsage {
  readonly rss_bytes: number
  /** CPU of all its threads, user and system. */
  readonly cpu_us: number
  /** Bytes that it made the system write to a disk. 0 on a file system in memory. */
  readonly written_bytes: number
}

/** Reads the usage of a process from outside, so that measuring costs it nothing. Throws if the process has ended. */
export const usageOf = (pid: number): ProcessUsage => {
  const [status, stat, io] = [read(pid, 'status'), read(pid, 'stat'), read(pid, 'io')]
  if (status === undefined || stat === undefined || io === undefined) throw new Error(`there is no process ${pid}`)
  return {
    rss_bytes: (numberAfter(status, 'VmRSS') ?? 0) * 1024,
    // stat counts ended threads too, in ticks of 10 ms; threads count nanoseconds
    cpu_us: Math.max(parseStat(stat).own_us, threadsOf(pid)),
    written_bytes: numberAfter(io, 'write_bytes') ?? 0,
  }
}

/** The number after `name:` at the beginning of a line. */
export const numberAfter = (text: string, name: string): number | undefined => {
  const found = new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1]
  return found === undefined ? undefined : Number(found)
}

const threadsOf = (pid: number): number => {
  let sum = 0
  for (const id of readdirSync(`/proc/${pid}/task`))
    sum += Number(read(pid, `task/${id}/schedstat`)?.split(' ')[0] ?? 0)
  return Math.round(sum / 1000)
}

const read = (pid: number | 'self', name: string): string | undefined => {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return undefined // it has ended, or this is not Linux
  }
}
