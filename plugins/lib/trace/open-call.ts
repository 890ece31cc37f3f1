import { table } from 'guard-gateway/core'
import type { OpenClaim } from 'guard-gateway/lib/session'
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
