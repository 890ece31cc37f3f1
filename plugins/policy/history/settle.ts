import { endedMoment, type Outcome, type Row, type SessionRow, type Settled } from 'guard-gateway/core'
import { sha256 } from '#lib/ids'
import { calledTool } from '#lib/request-reader'
import type { CallRecord } from '#lib/trace'
import type { Policy } from '../policy.ts'
import type { History } from './history.ts'

const failures: ReadonlySet<Outcome> = new Set<Outcome>(['upstream_error', 'unreachable', 'truncated'])

/** The upstream refused the request, broke the reply off, or was not reached. */
export const hasFailed = ({ outcome }: Pick<Row, 'outcome'>): boolean => outcome !== null && failures.has(outcome)

/** The request used tokens that a budget of money cannot count. */
export const isUnpriced = (tokens: number, source: CallRecord['cost_source'] | undefined): boolean =>
  tokens > 0 && source !== 'priced'

/** Completes the row of a finished request and the usage of its session, and notes rules that could not count its cost. */
export const settle = (
  settled: Settled,
  row: Row,
  session: SessionRow,
  history: History,
  priced: Policy['priced'] = [],
): void => {
  const { decision, outcome, ended_at, reading } = settled
  // A repeated block has no row of its own.
  if (decision.repeats !== null) return
  row.ended_at = ended_at
  row.outcome = outcome
  if (outcome === 'blocked') return
  row.response_id = reading.response_id
  countUsage(settled, row, session, history, priced)
  if (isNotRun(settled)) history.uncount(row)
  if (!row.uncounted) {
    row.error_fingerprint = hasFailed(settled) ? fingerprintOf(settled) : null
    const ended_tick = endedMoment(row, ended_at).tick
    const { id, error_fingerprint } = row
    history.ended({ id, ended_at, ended_tick, outcome, error_fingerprint, ...wordlessIn(reading) })
  }
  for (const { id, tool, args } of reading.calls) {
    if (id !== null) history.replies(id, calledTool(tool, args))
  }
}

const countUsage = (
  settled: Settled,
  row: Row,
  session: SessionRow,
  history: History,
  priced: Policy['priced'],
): void => {
  const { decision, usage, cost } = settled
  const failed = hasFailed(settled)
  row.total_tokens = usage.total_tokens
  row.cache_read_tokens = usage.cache_read_tokens
  row.cost_micro = cost?.cost_micro ?? 0
  addUp(session, settled, failed)
  // Only now is known what its reply held.
  if (row.decision === 'allow' && decision.decision === 'shadow_flag') session.flagged++
  use(row, failed, history)
  if (isUnpriced(usage.total_tokens, cost?.cost_source)) {
    history.noteUnpriced(row.thread)
    if (priced.length > 0) settled.call.notes.unpriced_rules = priced
  }
}

/** Errors of a WebSocket's provider that say that it did not run a request, which the client therefore sends again. */
const notRun: ReadonlySet<string> = new Set(['websocket_connection_limit_reached', 'previous_response_not_found'])

const isNotRun = ({ call, outcome, error }: Settled): boolean =>
  call.transport === 'websocket' && outcome === 'upstream_error' && notRun.has(error?.code ?? '')

const wordlessIn = ({ wordless }: Settled['reading']): { wordless?: true } => (wordless === true ? { wordless } : {})

const addUp = (session: SessionRow, { usage }: Settled, failed: boolean): void => {
  session.input_tokens += usage.input_tokens
  session.output_tokens += usage.output_tokens
  session.total_tokens += usage.total_tokens
  session.cache_read_tokens += usage.cache_read_tokens
  if (failed) session.errors++
}

/** Adds to the usage of a conversation, and releases the reservation. */
const use = (row: Row, failed: boolean, history: History): void => {
  if (history.probe === row.id) history.probe = null
  history.reserved = Math.max(0, history.reserved - row.reserved)
  const used = history.usageOf(row.thread)
  if (failed) used.failed++
  used.tokens += row.total_tokens
  used.cache_read_tokens += row.cache_read_tokens ?? 0
  used.cost_micro += row.cost_micro
  used.reserved = Math.max(0, used.reserved - row.reserved)
}

/** A truncated reply gives no reason: all such have the same fingerprint. */
const fingerprintOf = ({ status, error, outcome }: Settled): string =>
  errorFingerprint(status, error ?? { type: outcome, code: null, message: '' })

const TEXT_LIMIT = 4096
const MAX_CHARS = 500

const uuids = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi
const prefixed = /\b[a-z]{2,16}[_-][0-9a-z_-]{6,128}/gi
const hexRuns = /\b(?:0x)?[0-9a-f]{8,128}\b/gi
const numbers = /\d{1,64}(?:[.,]\d{1,64}){0,8}/g

const ifNumbered = (text: string): string => (/\d/.test(text) ? '#' : text)

/** An error message with ids, hex runs and numbers replaced by `#`; at most 500 characters. */
export const maskedMessage = (message: string): string =>
  message
    .slice(0, TEXT_LIMIT)
    .replace(uuids, '#')
    .replace(prefixed, ifNumbered)
    .replace(hexRuns, ifNumbered)
    .replace(numbers, '#')
    .replace(/\s{1,64}/g, ' ')
    .trim()
    .slice(0, MAX_CHARS)

/** The error of a provider's reply. */
interface UpstreamError {
  readonly type: string | null
  readonly code: string | null
  readonly message: string
}

/** SHA-256 of status, type (else code) and masked message: equal fingerprints are the same error. */
export const errorFingerprint = (status: number, error: UpstreamError | null): string =>
  sha256(`${status}\0${error?.type ?? error?.code ?? ''}\0${maskedMessage(error?.message ?? '')}`)
