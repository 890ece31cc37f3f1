import type { Gateway } from 'guard-gateway/core'
import { gauge, type Metric } from './samples.ts'

/** What the process itself uses, by the names that collectors know. */
export const processMetrics = (gateway: Gateway): readonly Metric[] => [
  gauge(
    'guard_instance_info',
    'This process among those that share its storage; absent where it is alone.',
    ['instance'],
    () => {
      const cluster = gateway.service('cluster').get()
      return cluster === undefined ? [] : [[[cluster.instance], 1]]
    },
  ),
  gauge('process_resident_memory_bytes', 'Resident memory.', [], () => [[[], process.memoryUsage.rss()]]),
  gauge('process_start_time_seconds', 'Start, seconds since 1970.', [], () => [[[], performance.timeOrigin / 1_000]]),
  gauge('process_cpu_seconds_total', 'Processor time of all threads.', [], () => [[[], cpuSeconds()]], 'counter'),
]

const cpuSeconds = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}
