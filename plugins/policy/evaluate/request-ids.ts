import type { Finding, Row } from 'guard-gateway/core'
import type { History } from '../history/history.ts'

/** Adds the id of the first request that held it to each turn of a finding, as far as the thread's rows are in memory. */
export const withRequestIds = (finding: Finding, row: Row, history: History): Finding => {
  const { where } = finding
  if (finding.evidence !== 'history' || where === undefined) return finding
  const ids = firstHolders(row, history, Math.max(...where.map((place) => ('turn' in place ? -place.turn : 0))))
  return {
    ...finding,
    where: where.map((place) => {
      const request = 'turn' in place ? ids[-place.turn - 1] : undefined
      return request === undefined ? place : { ...place, request }
    }),
  }
}

/** Ids of the requests whose new turns these were, the last turn first. */
const firstHolders = (row: Row, { rows }: History, maxHolders: number): string[] => {
  const byId = new Map(rows.map((known) => [known.id, known]))
  const ids: string[] = []
  let holder: Row | undefined = row
  while (holder !== undefined && ids.length < maxHolders) {
    for (let count = holder.new_turns.length; count > 0; count--) ids.push(holder.id)
    holder = holder.parent === null ? undefined : byId.get(holder.parent)
  }
  return ids
}
