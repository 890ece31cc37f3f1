import {
  type Call,
  type Cost,
  type Decision,
  noUsage,
  type Reading,
  type Settled,
  table,
  totalled,
  type Usage,
} from 'guard-gateway/core'
import type { UnseenUsage } from '#lib/budget'
import type { OpenClaim } from '#lib/session'
import { type CallRecord, callColumns } from './call-record.ts'

/** A forwarded call that has not ended, where several gateways share a storage. */
export interface OpenCallRow extends OpenClaim, OpenRecord {
  readonly id: string
  /** The process that forwards it. */
  readonly instance: string
}

/** The record of an open call, as it is if nobody settles it: `interrupted`. Members that are null are left out. */
export interface OpenRecord {
  /** Members that table `calls` redacts. */
  readonly record: Partial<CallRecord>
  /** Its other members: numbers, ids and the gateway's own words. */
  readonly facts: Partial<CallRecord> | null
}

declare module 'guard-gateway/core' {
  interface Tables {
    open_calls: OpenCallRow
  }
  interface Services {
    prices: Prices
  }
}

export const openCallTable = table<'open_calls'>({
  id: 'open_calls',
  columns: {
    ...{ id: 'text', session_id: 'text', instance: 'text', reserved: 'integer', windows: 'json' },
    ...{ record: 'json', facts: 'json' },
  },
  indexes: [
    ['session_id', 'recorded'],
    ['instance', 'recorded'],
  ],
  exact: ['id', 'session_id', 'instance', 'windows', 'facts'],
})

const { columns, exact } = callColumns
const names = Object.keys(columns) as readonly (keyof CallRecord)[]
const isRedacted = (name: keyof CallRecord): boolean =>
  ['text', 'json'].includes(columns[name]) && !exact.some((one) => one === name)
const redacted = names.filter(isRedacted)
const plain = names.filter((name) => !isRedacted(name))

const without: CallRecord = Object.fromEntries(names.map((name) => [name, null])) as never

const known = (record: CallRecord, of: readonly (keyof CallRecord)[]): Partial<CallRecord> => {
  const members: Record<string, unknown> = {}
  for (const name of of) if (record[name] !== null) members[name] = record[name]
  return members
}

/** What is stored of the record of an open call. */
export const openRecordOf = (record: CallRecord): OpenRecord => ({
  record: known(record, redacted),
  facts: known(record, plain),
})

/** The record of an open call. */
export const recordOfOpen = ({ record, facts }: OpenRecord): CallRecord => ({ ...without, ...record, ...facts })

const NO_READING: Reading = Object.freeze({
  usage: null,
  output_bytes: 0,
  model: null,
  response_id: null,
  finish_reason: null,
  calls: Object.freeze([]),
  error: null,
  complete: false,
})
const NO_BYTES = new Uint8Array(0)

const BYTES_PER_TOKEN = 4

/** Prices of model usage. */
export interface Prices {
  /** The first model with a price counts. */
  cost(models: readonly (string | null)[], usage: Usage): Cost
}

/** A call that has just been decided, as it is on record if its process dies: `interrupted`. The provider may bill it, so it counts. */
export const unsettled = (call: Call, decision: Decision, unseen: UnseenUsage, prices: Prices | undefined): Settled => {
  const isBlocked = decision.decision === 'block'
  const usage = isBlocked || call.uncounted !== undefined ? noUsage : unseenUsage(call, decision, unseen)
  return {
    call,
    decision,
    outcome: isBlocked ? 'blocked' : 'interrupted',
    status: 0,
    reading: NO_READING,
    usage,
    usage_source: usage === noUsage ? 'none' : 'estimated',
    error: null,
    upstream: call.upstream,
    attempts: [],
    upstream_request_id: null,
    forwarded_at: null,
    first_byte_at: null,
    ended_at: call.at,
    bytes_out: 0,
    head: NO_BYTES,
    ...(prices !== undefined && { cost: prices.cost([call.envelope.model], usage) }),
  }
}

const unseenUsage = ({ conversation }: Call, { row }: Decision, unseen: UnseenUsage): Usage => {
  const input_tokens = Math.ceil(conversation.text_bytes / BYTES_PER_TOKEN)
  const output_tokens = unseen === 'reserved' ? Math.max(0, (row?.reserved ?? 0) - input_tokens) : 0
  return totalled({ input_tokens, output_tokens })
}
