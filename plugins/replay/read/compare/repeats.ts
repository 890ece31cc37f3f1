import type { ComparedRow } from './row.ts'

/** Two rows tell the same: the same step, with the same outcome and the same change. */
export const isSameStep = (one: ComparedRow, other: ComparedRow): boolean =>
  one.presence === other.presence &&
  one.name === other.name &&
  one.left?.label === other.left?.label &&
  one.right?.label === other.right?.label &&
  one.left?.status === other.left?.status &&
  one.right?.status === other.right?.status &&
  one.arguments_changed === other.arguments_changed

/** Rows with those that tell the same in a row put together, in order. */
export const repeatsOf = (rows: readonly ComparedRow[]): readonly (readonly [ComparedRow, ...ComparedRow[]])[] => {
  const groups: [ComparedRow, ...ComparedRow[]][] = []
  for (const row of rows) {
    const group = groups.at(-1)
    if (group !== undefined && isSameStep(group[0], row)) group.push(row)
    else groups.push([row])
  }
  return groups
}
