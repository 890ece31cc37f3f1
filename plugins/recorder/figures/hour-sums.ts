import type { Change } from 'guard-gateway/core'
import type { CallRecord } from '#lib/trace'
import { HOUR_MS, hourOf, partOf } from './hours.ts'
import { measuresOf } from './measures.ts'
import type { HourGroup } from './tables.ts'

/** Stands for the names that are too many. No id and no common model name is spelled like this. */
export const OTHER = '(other)'

/** Groups of one hour that a process tells apart. Clients choose the names of models and projects, and a new name for each call would make a row of each. */
export const MOST_GROUPS = 2_000
/** Hours whose groups are remembered: the present one, those of calls that took long, and those of a clock that was set back. */
const MOST_HOURS = 6

/** By group, its key. */
type Keys = Map<string, readonly string[]>

/** What a call is grouped by. */
type Grouped = Pick<CallRecord, 'received_at' | Exclude<keyof HourGroup, 'hour'>>

/** The sums of each hour: what a call adds, and to which row. */
export class HourSums {
  readonly #hours = new Map<number, Keys>()
  #part = ''

  /** Other processes add to the same hours: from now on this one adds to a part of each. A row is locked until its transaction is on the disk, and all calls of an hour may add to the same one. */
  divide(number: number): void {
    this.#part = partOf(number)
    this.#hours.clear()
  }

  /** The change that counts a call. It belongs into the batch that writes the call, whose first change must be its row, `absent`. */
  call(record: CallRecord): Change {
    return { table: 'calls_by_hour', key: this.keyOf(record), add: measuresOf(record) }
  }

  /** Changes that count these calls: one for each row, the oldest call first. */
  calls(records: readonly CallRecord[]): Change[] {
    const rows = new Map<string, { readonly key: readonly string[]; readonly add: Record<string, number> }>()
    for (const record of records.toReversed()) {
      const key = this.keyOf(record)
      const name = key.join('\0')
      const row = rows.get(name)
      if (row === undefined) rows.set(name, { key, add: { ...measuresOf(record) } })
      else addTo(row.add, measuresOf(record))
    }
    return [...rows.values()].map(({ key, add }) => ({ table: 'calls_by_hour', key, add }))
  }

  /** The change that counts one more repetition of a blocked call. */
  repeat(record: CallRecord): Change {
    return { table: 'calls_by_hour', key: this.keyOf(record), add: { blocked_retries: 1 } }
  }

  /** Key of the row that counts a call. */
  keyOf(record: Grouped): readonly string[] {
    const keys = this.#keysOf(record.received_at)
    const name = nameOf(record)
    const known = keys.get(name)
    if (known !== undefined) return known
    if (keys.size < MOST_GROUPS) return this.#remembered(keys, name, record)
    const other = { ...record, model_requested: OTHER }
    const otherName = nameOf(other)
    const knownOther = keys.get(otherName)
    if (knownOther !== undefined) return knownOther
    if (keys.size < 2 * MOST_GROUPS) return this.#remembered(keys, otherName, other)
    return newKey({ ...other, project_id: OTHER, agent_id: null }, this.#part)
  }

  #remembered(keys: Keys, name: string, of: Grouped): readonly string[] {
    const key = newKey(of, this.#part)
    keys.set(name, key)
    return key
  }

  #keysOf(at: number): Keys {
    const hour = Math.floor(at / HOUR_MS)
    const known = this.#hours.get(hour)
    if (known !== undefined) return known
    const keys: Keys = new Map()
    this.#hours.set(hour, keys)
    for (const oldest of this.#hours.keys()) {
      if (this.#hours.size <= MOST_HOURS) break
      this.#hours.delete(oldest)
    }
    return keys
  }
}

const nameOf = ({ project_id, agent_id, style, model_requested, upstream, decision, reason }: Grouped): string =>
  `${project_id}\0${agent_id}\0${style}\0${model_requested}\0${upstream}\0${decision}\0${reason}`

const newKey = (of: Grouped, part: string): readonly string[] => [
  hourOf(of.received_at) + part,
  of.project_id,
  of.agent_id ?? '',
  of.style,
  of.model_requested,
  of.upstream ?? '',
  of.decision,
  of.reason ?? '',
]

const addTo = (sums: Record<string, number>, more: Readonly<Record<string, number | undefined>>): void => {
  for (const name in more) sums[name] = safeSum(sums[name] ?? 0, more[name] ?? 0)
}

const safeSum = (one: number, other: number): number =>
  Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, one + other))
