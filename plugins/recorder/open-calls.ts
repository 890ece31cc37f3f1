import type { Change, Gateway } from 'guard-gateway/core'
import { type OpenCallRow, recordOfOpen } from 'guard-gateway/lib/trace'
import type { HourSums } from './figures/hour-sums.ts'

const PAGE_ROWS = 100

/** Ends the calls that a process has left open which has died, each once: they are recorded as interrupted, and what they held is given back. */
export const endOpenCalls = async (gateway: Gateway, instance: string, sums: HourSums): Promise<void> => {
  const { storage } = gateway
  for (let left = PAGE_ROWS; left === PAGE_ROWS; ) {
    const { rows } = await storage.find('open_calls', { where: { instance }, limit: PAGE_ROWS })
    for (const row of rows) {
      if (!(await storage.write(endOf(gateway, row, sums)))) await storage.remove('open_calls', { id: row.id }, 1)
    }
    left = rows.length
  }
}

/** Fails if the call is on record, or its session is not. */
const endOf = (gateway: Gateway, open: OpenCallRow, sums: HourSums): readonly Change[] => {
  const known = recordOfOpen(open)
  const record = { ...known, ended_at: Math.max(known.received_at, gateway.clock.now()), counted: true as const }
  return [
    { table: 'calls', put: record, when: 'absent' },
    { table: 'sessions', key: open.session_id, patch: {} },
    ...(gateway.service('claims').get()?.released(open) ?? []),
    { table: 'open_calls', key: open.id, remove: true },
    sums.call(record),
  ]
}
