import type { BatchValues } from '../protocol.ts'
import { type PreparedChange, runChange } from './prepared-change.ts'

/** One sum: its values are the key of its row, then what is added. */
interface Sum {
  readonly change: PreparedChange
  readonly values: number[]
}

/**
 * The sums of one group commit. The batches of a group mostly add to the same few rows, such as those of the present hour,
 * so their sums are added up here first and each row is written once.
 */
export class GroupSums {
  readonly #sums = new Map<string, Sum>()
  readonly #tables = new Set<string>()

  /** Adds one change, whose values start at `at`. `shape` is its number. */
  add(shape: number, change: PreparedChange, batch: BatchValues, at: number): void {
    const end = at + change.arity
    const name = `${shape} ${JSON.stringify(batch.slice(at, at + change.keySize))}`
    const sum = this.#sums.get(name)
    if (sum === undefined) {
      this.#sums.set(name, { change, values: batch.slice(at, end) as number[] })
      this.#tables.add(change.table)
    } else if (!addTo(sum.values, batch, at, change)) {
      runChange(sum.change, sum.values, 0)
      this.#sums.set(name, { change, values: batch.slice(at, end) as number[] })
    }
  }

  /** Whether a row of this table is among the sums. */
  has(table: string): boolean {
    return this.#tables.has(table)
  }

  /** Writes all sums and forgets them. */
  run(): void {
    for (const { change, values } of this.#sums.values()) runChange(change, values, 0)
    this.#sums.clear()
    this.#tables.clear()
  }
}

/**
 * Adds the sums of one more change. Returns false, and changes nothing, if written in turn they could have another result: a row's sums
 * end at the safe integers, so what is added on one side of an end and what is taken away again do not cancel.
 */
const addTo = (values: number[], batch: BatchValues, at: number, { keySize, arity }: PreparedChange): boolean => {
  for (let index = keySize; index < arity; index++)
    if (!isSameWay(values[index] ?? 0, Number(batch[at + index]))) return false
  for (let index = keySize; index < arity; index++) values[index] = (values[index] ?? 0) + Number(batch[at + index])
  return true
}

const isSameWay = (one: number, other: number): boolean =>
  (one >= 0 ? other >= 0 : other <= 0) && Number.isSafeInteger(one + other)
