import { readdirSync, readFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { answer } from './answers.ts'
import { startProfile, stopProfile } from './profile.ts'

/** What a process has used since it began, and its event loop's delay since it was last asked. */
export interface Usage {
  /** All threads, user and system, microseconds. */
  readonly cpu_us: number
  /** The same by thread name, where the system tells; names stand for all threads so named. */
  readonly threads_us: Readonly<Record<string, number>>
  readonly rss_bytes: number
  /** 99th percentile, milliseconds beyond the sampling interval. */
  readonly loop_delay_ms: number
}

const RESOLUTION_MS = 10

const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })

const usage = (): Usage => {
  const { user, system } = process.cpuUsage()
  const loop_delay_ms = Math.max(0, delay.percentile(99) / 1e6 - RESOLUTION_MS)
  delay.reset()
  return { cpu_us: user + system, threads_us: threads(), rss_bytes: process.memoryUsage.rss(), loop_delay_ms }
}

const threads = (): Record<string, number> => {
  const spent: Record<string, number> = {}
  for (const id of threadIds()) {
    try {
      const name = readFileSync(`/proc/self/task/${id}/comm`, 'utf8').trim()
      const [run = '0'] = readFileSync(`/proc/self/task/${id}/schedstat`, 'utf8').split(' ')
      spent[name] = (spent[name] ?? 0) + Math.round(Number(run) / 1000)
    } catch {
      // the thread has ended since it was listed
    }
  }
  return spent
}

const threadIds = (): string[] => {
  try {
    return readdirSync('/proc/self/task')
  } catch {
    return [] // not Linux
  }
}

// This module is loaded into every process of the bench before its own first module, workers apart.
if (process.send !== undefined) {
  delay.enable()
  answer('usage', usage)
  answer('profile_start', startProfile)
  answer('profile_stop', stopProfile)
  process.channel?.unref()
  process.once('disconnect', () => process.exit(0))
}
