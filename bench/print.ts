import { duration, printTable } from './kit/table.ts'
import { crowdTable, latencyLine, leastTable, profileText, ratioTable, threadTable } from './load/report.ts'
import type { Figure } from './replay/figures.ts'
import type { LoadResult } from './suites/load.ts'
import type { ReplayResult } from './suites/replay.ts'
import type { Timing } from './suites/throughput.ts'

/** Formats the throughput suite as a table. */
export const throughputText = (timings: readonly Timing[]): string =>
  printTable(
    ['operation', 'median', 'p99', '±', 'samples'],
    timings.map((one) => [
      one.name,
      duration(one.p50_ms),
      duration(one.p99_ms),
      `${one.margin_percent.toFixed(1)} %`,
      String(one.samples),
    ]),
  )

/** Formats the load suite as tables. */
export const loadText = (result: LoadResult): string => {
  const { shapes, least, steady, crowd, profiles, recorded, sent, failures } = result
  const parts: string[] = []
  if (shapes.length > 0) parts.push(ratioTable(shapes), threadTable(shapes))
  if (least.length > 0) parts.push(leastTable(least))
  if (steady !== null) parts.push(latencyLine(steady))
  if (crowd.length > 0) parts.push(crowdTable(crowd))
  for (const { title, profile } of profiles) parts.push(profileText(title, profile))
  parts.push(`${sent} requests sent to the gateway, ${recorded} on record`)
  for (const failure of failures) parts.push(`FAILED: ${failure}`)
  return parts.join('\n\n')
}

/** Formats the replay suite as tables. */
export const replayText = ({ runs, timings, figures }: ReplayResult): string => {
  const parts: string[] = []
  if (timings.length > 0) parts.push(`${runs} runs, ${runs * 25} rows\n${throughputText(timings)}`)
  if (figures.length > 0) parts.push(figuresText(figures))
  return parts.join('\n\n')
}

/** Formats figures as a table. */
export const figuresText = (figures: readonly Figure[]): string =>
  printTable(
    ['figure', 'value'],
    figures.map(({ name, value, unit }) => [name, `${value.toFixed(value < 10 ? 2 : 0)} ${unit}`]),
  )
