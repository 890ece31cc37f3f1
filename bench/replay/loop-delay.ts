import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import { type Figure, figure } from './figures.ts'
import { words } from './reads.ts'
import type { Routes } from './routes.ts'

/** Concurrent searches. */
const TOGETHER = 8
const RESOLUTION_MS = 1

/** Event-loop delay during continuous searches, and of an idle event loop. */
export const loopDelay = async ({ gateway }: Routes, ms: number): Promise<readonly Figure[]> => {
  const idle = await delayDuring(() => wait(ms))
  const until = performance.now() + ms
  const search = async (word: string): Promise<void> => {
    while (performance.now() < until)
      await gateway.storage.find('runs', { search: [word], where: { status: 'error' }, limit: 50 })
  }
  const searching = await delayDuring(() =>
    Promise.all(Array.from({ length: TOGETHER }, (_, at) => search(at % 2 === 0 ? words.common : words.rare))),
  )
  return [
    figure('event loop late, idle, p99', idle.p99_ms, 'ms'),
    figure('event loop late, 8 searches at once, p99', searching.p99_ms, 'ms'),
    figure('event loop late, 8 searches at once, most', searching.max_ms, 'ms'),
  ]
}

/** Event-loop delay during the work, minus the delay of the measurement itself. */
export const delayDuring = async (work: () => Promise<unknown>): Promise<{ p99_ms: number; max_ms: number }> => {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  await work()
  delay.disable()
  const beyond = (ns: number): number => Math.max(0, ns / 1e6 - RESOLUTION_MS)
  return { p99_ms: beyond(delay.percentile(99)), max_ms: beyond(delay.max) }
}
