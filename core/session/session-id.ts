import type { Reader } from '../contracts/storage.ts'
import { GuardError } from '../errors.ts'
import type { SessionRow } from '../session.ts'

declare module '../contracts/storage.ts' {
  interface Tables {
    sessions: SessionRow
  }
}

/** The session of this id, or of this external id if only one project has it. Throws SESSION_NOT_FOUND or AMBIGUOUS_ID. */
export const sessionById = async (storage: Reader, id: string): Promise<SessionRow> => {
  const row = await storage.get('sessions', id)
  if (row !== undefined) return row
  const { rows } = await storage.find('sessions', { where: { external_id: id }, limit: MAX_NAMED })
  const [first, second] = rows
  if (first === undefined) {
    throw new GuardError(
      'SESSION_NOT_FOUND',
      `There is no session "${id}", neither by id nor by external id. List them with GET /api/sessions.`,
    )
  }
  if (second === undefined) return first
  const known = rows.map((session) => session.id)
  throw new GuardError(
    'AMBIGUOUS_ID',
    `Several projects have a session "${id}": ${known.join(', ')}. Use one of these ids.`,
    { known },
  )
}

/** How many ids an error about an ambiguous one lists. */
const MAX_NAMED = 10
