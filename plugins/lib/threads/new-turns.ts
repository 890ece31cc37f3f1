import type { Row, Turn } from 'guard-gateway/core'

/** What of a conversation a request brings. */
type Brought = Pick<Row, 'user_first' | 'new_turns'>

/**
 * Whether a user message is before the new turns of a request, or after the last turn where none is new, that the row it extends
 * did not hold. `turns` are those of the request, the new ones last; rows are newest first.
 */
export const isUserFirst = (
  turns: readonly Turn[],
  fresh: readonly Turn[],
  parent: Row | undefined,
  rows: readonly Row[],
): boolean =>
  parent !== undefined && turns[turns.length - fresh.length - 1]?.user_after === true && !endsInUser(parent, rows)

/** Whether a user message follows the last turn of a row's conversation. */
const endsInUser = (row: Row, rows: readonly Row[]): boolean => {
  let at: Row | undefined = row
  while (at !== undefined) {
    const { new_turns, user_first, parent }: Row = at
    const last = new_turns.at(-1)
    if (last !== undefined) return last.user_after
    if (user_first === true) return true
    at = rows.find(({ id }) => id === parent)
  }
  return false
}

/** The turns of a conversation from what its requests brought, oldest first. */
export const joinedTurns = (rows: Iterable<Brought>): readonly Turn[] => {
  const turns: Turn[] = []
  for (const { user_first, new_turns } of rows) {
    const last = turns.at(-1)
    if (user_first === true && last !== undefined) turns[turns.length - 1] = { ...last, user_after: true }
    turns.push(...new_turns)
  }
  return turns
}
