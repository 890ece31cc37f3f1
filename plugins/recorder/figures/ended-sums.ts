import type { Storage } from 'guard-gateway/core'
import { LRU } from 'tiny-lru'
import { visibleProjects } from '#lib/principal'
import { HOUR_MS, hourOf } from './hours.ts'

type Source = Pick<Storage, 'sum'>
type Sum = Source['sum']
type Groups = Awaited<ReturnType<Sum>>

const MOST_ANSWERS = 600
/** An answer with more groups is not kept. */
const MOST_GROUPS = 400
/** Calls count in the hour in which they were received, also if they end later. */
const GRACE_MS = HOUR_MS
const MAX_AGE_MS = 60_000

interface Answer {
  readonly at: number
  readonly groups: Groups
}

/**
 * Sums of hours that have ended, kept for a minute: a page that is open asks for a month again with each request that is recorded.
 * Other hours are always read.
 */
export class EndedSums {
  readonly #now: () => number
  readonly #answers = new LRU<Answer>(MOST_ANSWERS)

  /** `now`: milliseconds since 1970. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** The storage, with sums that may be up to a minute old. */
  over(storage: Source): Source {
    const sum = async (table: string, query: object): Promise<Groups> => {
      const read = () => storage.sum(table as 'calls_by_hour', query as never)
      const now = this.#now()
      if (!hasEnded(query, now)) return read()
      const key = JSON.stringify([table, query, visibleProjects()])
      const known = this.#answers.get(key)
      if (known !== undefined && now >= known.at && now - known.at < MAX_AGE_MS) return known.groups
      const groups = await read()
      if (groups.length <= MOST_GROUPS) this.#answers.set(key, { at: now, groups })
      return groups
    }
    return { sum: sum as Sum }
  }
}

const hasEnded = (query: { readonly where?: { readonly hour?: { readonly lt?: string } } }, now: number): boolean => {
  const end = query.where?.hour?.lt
  return end !== undefined && end <= hourOf(now - GRACE_MS)
}
