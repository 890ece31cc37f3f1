import { readdirSync, readFileSync } from 'node:fs'
import { createHistogram } from 'node:perf_hooks'
import { onMessage } from './message-handlers.ts'
import { startProfile, stopProfile } from './profile.ts'

/** Resource usage of a process since its start, and its event-loop delay while monitored. */
export interface Usage {
  /** CPU of all threads, user and system, in microseconds. */
  readonly cpu_us: number
  /** CPU by thread name, on Linux. Threads with equal names are summed. */
  readonly threads_us: Readonly<Record<string, number>>
  readonly rss_bytes: number
  /** 99th percentile, in milliseconds above the sampling interval. */
  readonly loop_delay_ms: number
}

/** A command to the monitor of the event-loop delay. `anew` clears its histogram. */
export type Watch = 'anew' | 'on' | 'off'

const RESOLUTION_MS = 10

/** Nanoseconds between runs of an interval timer. Node's own histogram keeps counting while it is disabled. */
const delays = createHistogram()
let watching: NodeJS.Timeout | undefined

const usage = (): Usage => {
  const { user, system } = process.cpuUsage()
  const loop_delay_ms = Math.max(0, delays.percentile(99) / 1e6 - RESOLUTION_MS)
  return { cpu_us: user + system, threads_us: threads(), rss_bytes: process.memoryUsage.rss(), loop_delay_ms }
}

const watch = (wanted: Watch): true => {
  clearInterval(watching)
  if (wanted === 'anew') delays.reset()
  if (wanted !== 'on') return true
  let last = performance.now()
  watching = setInterval(() => {
    const now = performance.now()
    delays.record(Math.max(1, Math.round((now - last) * 1e6)))
    last = now
  }, RESOLUTION_MS).unref()
  return true
}

const threads = (): Record<string, number> => {
  const spent: Record<string, number> = {}
  for (const id of threadIds()) {
    try {
      const name = readFileSync(`/proc/self/task/${id}/comm`, 'utf8').trim()
      const [run = '0'] = readFileSync(`/proc/self/task/${id}/schedstat`, 'utf8').split(' ')
      spent[name] = (spent[name] ?? 0) + Math.round(Number(run) / 1000)
    } catch {
      // the thread has ended since the listing
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

// This module is preloaded into every process of the bench, except worker threads.
if (process.send !== undefined) {
  onMessage('usage', usage)
  onMessage('watch', watch)
  onMessage('profile_start', startProfile)
  onMessage('profile_stop', stopProfile)
  process.channel?.unref()
  process.once('disconnect', () => process.exit(0))
}
