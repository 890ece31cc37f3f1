import type { Statement } from '../connection/statement.ts'

/** What is added to a row, as its statement: the values of the key come first, then the addends. */
export interface RowAdd {
  readonly row: string
  readonly keySize: number
  readonly statement: Statement
}

/**
 * Additions of a transaction in the order of their rows, those to the same columns of a row as one where that comes to the same:
 * sums stop at the safe integers, so what is added to one at its end and what is taken away again are kept apart.
 */
export const mergedAdds = (adds: readonly RowAdd[]): readonly Statement[] => {
  const merged: RowAdd[] = []
  for (const add of [...adds].sort((one, other) => (one.row < other.row ? -1 : one.row === other.row ? 0 : 1))) {
    const last = merged.at(-1)
    const both = last === undefined ? undefined : sumOf(last, add)
    if (both === undefined) merged.push(add)
    else merged[merged.length - 1] = both
  }
  return merged.map(({ statement }) => statement)
}

const sumOf = (one: RowAdd, other: RowAdd): RowAdd | undefined => {
  const { name, values } = one.statement
  // statements of the same name have the same columns
  if (one.row !== other.row || name === undefined || name !== other.statement.name) return undefined
  const sums = values.map((value, at) => (at < one.keySize ? value : exactSum(value, other.statement.values[at])))
  if (sums.includes(undefined)) return undefined
  return { ...one, statement: { ...one.statement, values: sums as Statement['values'] } }
}

const exactSum = (one: string | null, other: string | null | undefined): string | undefined => {
  const [a, b] = [Number(one), Number(other)]
  const isSameWay = a >= 0 ? b >= 0 : b <= 0
  return isSameWay && Number.isSafeInteger(a + b) ? String(a + b) : undefined
}
