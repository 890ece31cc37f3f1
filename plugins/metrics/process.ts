import type { Gateway } from 'guard-gateway/core'
import { parserProcess } from 'guard-gateway/lib/parser-process'
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
  gauge(
    'guard_parser_process_starts_total',
    'Starts of processes that parse YAML, SQL and shell commands.',
    [],
    () => countedOnce(parserProcess.counts.starts),
    'counter',
  ),
  gauge(
    'guard_parser_process_deaths_total',
    'Those of them that ended by themselves, or because a text took too long.',
    [],
    () => countedOnce(parserProcess.counts.deaths),
    'counter',
  ),
  gauge(
    'guard_parser_refused_texts_total',
    'Texts refused because their parser gave no answer, by kind and cause: timeout, died, overloaded, unavailable.',
    ['kind', 'cause'],
    () =>
      [...parserProcess.counts.refused].flatMap(([kind, causes]) =>
        Object.entries(causes)
          .filter(([, count]) => count > 0)
          .map(([cause, count]) => [[kind, cause], count] as const),
      ),
    'counter',
  ),
]

const countedOnce = (count: number) => (count === 0 ? [] : [[[], count] as const])

const cpuSeconds = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}
