import type { Reader } from 'guard-gateway/core'
import { GuardError } from 'guard-gateway/core'
import { derivedId } from '#lib/ids'

declare module 'guard-gateway/core' {
  interface Tables {
    sessions: SessionRow
  }
}

/** The one session that a name has led to. Throws SESSION_NOT_FOUND for none, AMBIGUOUS_ID for several. */
export const onlySession = <S extends { readonly id: string }>(name: string, found: readonly S[]): S => {
  const [first, second] = found
  if (first === undefined) {
    throw new GuardError(
      'SESSION_NOT_FOUND',
      `There is no session "${name}", neither by id nor by external id. List them with GET /api/sessions.`,
    )
  }
  if (second === undefined) return first
  const known = found.map(({ id }) => id)
  throw new GuardError(
    'AMBIGUOUS_ID',
    `Several projects have a session "${name}": ${known.join(', ')}. Use one of these ids.`,
    { known },
  )
}

/** As in the headers of model requests. */
const NAME = /^[^\p{C}\p{Zl}\p{Zp}]{1,512}$/u
/** What records hold as an id. */
const RECORD_ID = /^[A-Za-z0-9._:@/+=-]{1,128}$/

/** 1 to 512 printable characters, not all blank. */
export const isSessionName = (name: string): boolean => NAME.test(name) && name.trim() !== ''

/** The id that records bear of a session which a client calls `name`: that of the session where there is one, or would be one if the name is no id. It starts none. */
export const namedSession = async (storage: Reader, project_id: string, name: string): Promise<string> => {
  const id = derivedId('ses_', project_id, name)
  return RECORD_ID.test(name) && (await storage.get('sessions', id)) === undefined ? name : id
}
