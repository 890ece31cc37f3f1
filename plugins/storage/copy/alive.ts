import { setTimeout as delay } from 'node:timers/promises'
import { type Driver, GuardError, type Table } from 'guard-gateway/core'
import { copyErrors } from './error-codes.ts'

/** Gateways that share a storage count each second. Who has not for so long is dead. */
const DEAD_MS = 6_000
const LOOK_MS = 250
const MOST = 1_000

/** Throws COPY_IN_USE if a gateway is at work on a shared storage. Rows of gateways that were killed are told by counting no more. */
export const refuseAlive = async (driver: Driver, tables: readonly Table[], title: string): Promise<void> => {
  const table = tables.find(({ id, columns }) => id === 'instances' && columns.beats !== undefined)
  if (table === undefined || !driver.capabilities.shared) return
  const first = await beatsOf(driver, table)
  const until = performance.now() + DEAD_MS
  while (first.size > 0 && performance.now() < until) {
    await delay(LOOK_MS)
    for (const [id, { beats, who }] of await beatsOf(driver, table))
      if (first.get(id)?.beats !== beats)
        throw new GuardError(
          copyErrors.COPY_IN_USE,
          `A gateway uses ${title}: ${who}. Stop all gateways of this database, and copy again.`,
        )
  }
}

const beatsOf = async (driver: Driver, table: Table) => {
  const order = ['recorded', 'asc'] as const
  const { rows } = await driver.find(table, { where: {}, search: [], order, limit: MOST, after: null })
  return new Map(rows.map(({ id, beats, host, pid }) => [id, { beats, who: `process ${pid} on ${host}` }]))
}
