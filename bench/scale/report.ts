import { duration, printTable } from '../kit/table.ts'
import { profileText } from '../load/report.ts'
import type { ScaleResult } from '../suites/scale.ts'
import type { ExactResult } from './exact.ts'
import type { StatementFigures } from './profiles.ts'
import type { ReadFigures } from './reads.ts'
import type { CaseFigures, LatencyFigures } from './summary.ts'

/** Formats the scale suite as tables. */
export const scaleText = (result: ScaleResult): string => {
  const { left_out, server, gateways, latency, exact, reads, profiles, statements, failures } = result
  if (left_out !== null) return `scale: ${left_out}`
  const parts: string[] = [server]
  if (gateways.length > 0) parts.push(gatewaysTable(gateways), threadsTable(gateways))
  if (latency !== null) parts.push(latencyLine(latency))
  if (exact !== null) parts.push(exactLine(exact))
  if (reads.length > 0) parts.push(`${result.runs} runs, ${result.runs * 25} rows\n${readsTable(reads)}`)
  for (const { title, profile } of profiles) parts.push(profileText(title, profile))
  if (statements.length > 0) parts.push(statementsTable(statements))
  for (const failure of failures) parts.push(`FAILED: ${failure}`)
  return parts.join('\n\n')
}

const us = (value: number | null): string => (value === null ? '' : `${value.toFixed(0)} µs`)

const gatewaysTable = (figures: readonly CaseFigures[]): string =>
  printTable(
    [
      ...['case', 'req/s', 'to sqlite', 'to ×1', 'by CPU', 'p50', 'p99', 'gateway', 'to sqlite', 'postgres'],
      ...['writes', 'WAL'],
    ],
    figures.map((one) => [
      one.name,
      one.requests_per_s.toFixed(0),
      one.served_to_sqlite.toFixed(2),
      one.of.store === 'sqlite' ? '' : one.served_to_one.toFixed(2),
      one.of.store === 'sqlite' ? '' : one.by_cpu.toFixed(2),
      `${one.p50_ms.toFixed(1)} ms`,
      `${one.p99_ms.toFixed(1)} ms`,
      us(one.gateway_us),
      one.cpu_to_sqlite.toFixed(2),
      us(one.postgres_us),
      one.of.store === 'sqlite' ? '' : one.transactions.toFixed(2),
      one.of.store === 'sqlite' ? '' : `${(one.wal_bytes / 1024).toFixed(1)} KB`,
    ]),
  )

const threadsTable = (figures: readonly CaseFigures[]): string => {
  const names = [...new Set(figures.flatMap((one) => Object.keys(one.threads_us)))]
  return printTable(
    ['case', ...names],
    figures.map((one) => [one.name, ...names.map((name) => us(one.threads_us[name] ?? 0))]),
  )
}

const latencyLine = (one: LatencyFigures): string => {
  const ms = (value: number): string => `${value.toFixed(2)} ms`
  return `one request at a time: SQLite p50 ${ms(one.sqlite_p50_ms)}, p99 ${ms(one.sqlite_p99_ms)}; PostgreSQL p50 ${ms(one.postgres_p50_ms)}, p99 ${ms(one.postgres_p99_ms)}; adds ${ms(one.added_p50_ms)} and ${ms(one.added_p99_ms)} (to stay within 2 ms at p50)`
}

const exactLine = (one: ExactResult): string =>
  `${one.processes} processes, ${one.agents} agents, any request anywhere: ${one.requests} requests with planted loops, ${one.blocked} blocked; ${one.budget_requests} requests against a budget of ${one.budget_limit}, ${one.budget_passed} passed: ${one.failures.length === 0 ? 'exact' : 'NOT exact'}`

const readsTable = (figures: readonly ReadFigures[]): string =>
  printTable(
    ['read', 'sqlite', 'postgres', 'ratio'],
    figures.map((one) => [one.name, duration(one.sqlite_ms), duration(one.postgres_ms), one.ratio.toFixed(2)]),
  )

const statementsTable = (statements: readonly StatementFigures[]): string =>
  printTable(
    ['statement of PostgreSQL', 'a request', 'time'],
    statements.map(({ text, calls, exec_us }) => [text.slice(0, 100), calls.toFixed(2), `${exec_us.toFixed(1)} µs`]),
  )
