import type { Fragment, Gateway } from 'guard-gateway/core'
import { jsonObjectOf, listOf } from '#lib/json'
import type { ToolRecord } from '#lib/trace'
import { Counter, gauge, type Metric } from './samples.ts'

const MAX_PLACES = 200
const KINDS = ['spans', 'events', 'artifacts'] as const
const STATES = ['ok', 'busy', 'full', 'failing'] as const

/** What was kept, what failed, and how full everything is that can fill. */
export const partMetrics = (gateway: Gateway): readonly Metric[] => {
  const places = new LabelValues(MAX_PLACES, gateway.redact.text)
  const faults = new Counter('guard_faults_total', 'Failures that nobody waited for, by place.', ['where'])
  const records = new Counter('guard_kept_records_total', 'Records of runs that were kept.', ['origin', 'kind'])
  const tools = new Counter('guard_mcp_decisions_total', 'Decided tool calls.', ['decision'])
  const decisions = new LabelValues(MAX_PLACES, gateway.redact.text)

  gateway.hooks.fault.tap('metrics', (_error, where) => faults.add([places.of(where)]))
  const count = (fragment: Fragment): void => {
    for (const kind of KINDS) {
      const { length } = fragment[kind]
      if (length > 0) records.add([fragment.origin, kind], length)
    }
    for (const { attributes } of decisionsIn(fragment)) tools.add([decisions.of(String(attributes?.decision ?? ''))])
  }
  const countTool = ({ action }: ToolRecord): void => {
    for (const kind of ['spans', 'events'] as const) records.add(['mcp', kind])
    tools.add([decisions.of(action ?? '')])
  }
  gateway.hooks.tool.tap('metrics', (isRead, { record, written }) => {
    if (isRead)
      written.then(
        () => countTool(record),
        () => {},
      )
    return isRead
  })
  gateway.hooks.keep.tap('metrics', (fragments) => {
    for (const fragment of fragments) count(fragment)
  })

  return [
    faults,
    records,
    tools,
    gauge('guard_storage_state', '1 for the state that the storage is in.', ['state'], () =>
      STATES.map((state) => [[state], gateway.storage.state === state ? 1 : 0] as const),
    ),
    gauge('guard_storage_journal_bytes', 'Length of the journal of the database.', [], () =>
      gateway.storage.journal_bytes === undefined ? [] : [[[], gateway.storage.journal_bytes]],
    ),
    gauge('guard_sessions_open', 'Sessions in memory.', [], () =>
      [...fills(gateway)]
        .filter(([[part, what]]) => part === 'sessions' && what === 'in_memory')
        .map(([, open]) => [[], open]),
    ),
    gauge(
      'guard_otlp_spans_total',
      'Spans for receivers of OTLP, by what became of them.',
      ['receiver', 'outcome'],
      () => pushed(gateway, 'otlp_push'),
      'counter',
    ),
    gauge(
      'guard_audit_push_records_total',
      'Records of the MCP audit for receivers and files, by what became of them.',
      ['receiver', 'outcome'],
      () => pushed(gateway, 'audit_push'),
      'counter',
    ),
    gauge(
      'guard_notifications_total',
      'Messages to receivers of notifications, by what became of them.',
      ['receiver', 'outcome'],
      () => notified(gateway),
      'counter',
    ),
    gauge(
      'guard_otlp_ignored_requests_total',
      'Requests of OpenTelemetry exporters of logs and metrics: answered, not kept.',
      ['signal'],
      () => ignored(gateway),
      'counter',
    ),
    gauge(
      'guard_refused_credentials_total',
      'Keys and logins that were refused beyond loopback.',
      ['kind'],
      () => Object.entries(gateway.service('principals').get()?.refusals ?? {}).map(([kind, count]) => [[kind], count]),
      'counter',
    ),
    gauge('guard_memory_budget_bytes', 'What all parts may hold together, about.', [], () => {
      const budget = gateway.service('memory_budget').get()
      return budget === undefined ? [] : [[[], budget.bytes]]
    }),
    gauge('guard_memory_bytes', 'What a part of the memory budget holds, about.', ['part'], () =>
      [...(gateway.service('memory_budget').get()?.byName() ?? [])].map(([part, bytes]) => [[part], bytes]),
    ),
    gauge('guard_fill', 'Whatever a part of the gateway counts of itself.', ['part', 'what'], () => fills(gateway)),
  ]
}

/** What the MCP proxy decided. */
const decisionsIn = ({ owner, events }: Fragment) =>
  owner === 'mcp' ? events.filter(({ name }) => name === 'policy.decision') : []

/** What became of the spans or records for each receiver. */
function* pushed(
  gateway: Gateway,
  section: 'otlp_push' | 'audit_push',
): Generator<readonly [values: readonly string[], value: number]> {
  const { receivers } = jsonObjectOf(reportOf(gateway.health.get(section) ?? (() => undefined)))
  for (const receiver of listOf(receivers).map(jsonObjectOf))
    for (const outcome of ['sent', 'dropped', 'failed'])
      yield [[String(receiver.url), outcome], Number(receiver[outcome])]
}

/** What became of the messages to each receiver. */
function* notified(gateway: Gateway): Generator<readonly [values: readonly string[], value: number]> {
  const { receivers } = jsonObjectOf(reportOf(gateway.health.get('notify') ?? (() => undefined)))
  for (const receiver of listOf(receivers).map(jsonObjectOf))
    for (const outcome of ['delivered', 'dropped', 'failed'])
      yield [[String(receiver.name), outcome], Number(receiver[outcome])]
}

/** Signals that are not kept. */
function* ignored(gateway: Gateway): Generator<readonly [values: readonly string[], value: number]> {
  const section = jsonObjectOf(reportOf(gateway.health.get('otlp') ?? (() => undefined)))
  for (const signal of ['logs', 'metrics']) {
    const count = section[`ignored_${signal}`]
    if (typeof count === 'number') yield [[signal], count]
  }
}

/** The numbers among what the parts say of their health. */
function* fills(gateway: Gateway): Generator<readonly [values: readonly string[], value: number]> {
  for (const [part, tell] of gateway.health) {
    for (const [what, value] of Object.entries(reportOf(tell)))
      if (typeof value === 'number') yield [[part, what], value]
  }
}

const reportOf = (tell: () => unknown): object => {
  try {
    const section = tell()
    return typeof section === 'object' && section !== null ? section : {}
  } catch {
    // that a part cannot tell is said by its health
    return {}
  }
}

const MAX_CHARS = 128
const OTHER = 'other'

/** Words that come from outside as label values: redacted, cut, and at most so many different ones; the rest are `other`. */
export class LabelValues {
  readonly #max: number
  readonly #redact: (text: string) => string
  readonly #known = new Map<string, string>()

  constructor(max: number, redact: (text: string) => string) {
    this.#max = max
    this.#redact = redact
  }

  of(text: string): string {
    const known = this.#known.get(text)
    if (known !== undefined) return known
    if (this.#known.size >= this.#max || text.length > MAX_CHARS) return OTHER
    const label = this.#redact(text).replaceAll('\u0000', '').toWellFormed()
    this.#known.set(text, label)
    return label
  }
}
