import { table } from 'guard-gateway/core'
import type { OpenClaim } from 'guard-gateway/lib/session'
import type { CallRecord } from './call-record.ts'

/** A forwarded call that has not ended, where several gateways share a storage. */
export interface OpenCallRow extends OpenClaim {
  readonly id: string
  /** The process that forwards it. */
  readonly instance: string
  /** Its record, as it is if nobody settles it: `interrupted`. */
  readonly record: CallRecord
}

declare module 'guard-gateway/core' {
  interface Tables {
    open_calls: OpenCallRow
  }
}

export const openCallTable = table<'open_calls'>({
  id: 'open_calls',
  columns: { id: 'text', session_id: 'text', instance: 'text', reserved: 'integer', windows: 'json', record: 'json' },
  indexes: [
    ['session_id', 'recorded'],
    ['instance', 'recorded'],
  ],
  exact: ['id', 'session_id', 'instance', 'windows'],
})
