import { readJson, shapeOf } from 'guard-gateway/core'
import { badExternal, type Identifiers } from './identifiers.ts'

/** Where clients put the id of their session: header values by name, and what the API style found in the body. */
export interface Clues {
  readonly headers: Readonly<Record<string, string>>
  readonly hints: Readonly<Record<string, string>>
}

/** A session as its client names it. */
export interface ExternalId {
  readonly external_id: string
  readonly external_source: string
}

interface Source {
  readonly name: string
  /** An id that cannot be used is an error of the client, not a reason to look further. */
  readonly strict?: true
  read(clues: Clues): string | undefined
}

const header = (name: string): Source => ({ name, read: ({ headers }) => headers[name] })

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const SESSION_LIKE = /^(?:ses|sess|thread|conv)_./

/** In order of precedence. */
const sources: readonly Source[] = [
  { ...header('x-guard-session-id'), strict: true },
  { ...header('x-client-session-id'), strict: true },
  header('x-claude-code-session-id'),
  { name: 'metadata.user_id', read: ({ hints }) => sessionOfUser(hints['metadata.user_id']) },
  header('session-id'),
  header('session_id'),
  header('x-session-id'),
  header('x-session-affinity'),
  { name: 'conversation', read: ({ hints }) => hints.conversation },
  // many applications send one constant here, so only what has the form of a session's id counts
  { name: 'prompt_cache_key', read: ({ hints }) => likeSession(hints.prompt_cache_key) },
]

/** The first source that is present and valid; throws INVALID_HEADER if one that the client meant for us is not valid. */
export const externalId = (clues: Clues, { isExternal }: Identifiers): ExternalId | undefined => {
  for (const { name, strict, read } of sources) {
    const external_id = read(clues)
    if (external_id === undefined) continue
    if (isExternal(external_id)) return { external_id, external_source: name }
    if (strict) throw badExternal(name)
  }
  return undefined
}

const likeSession = (key: string | undefined): string | undefined =>
  key !== undefined && (UUID.test(key) || SESSION_LIKE.test(key)) ? key : undefined

/** The session inside a user id: `{"session_id": …}`, or what follows the last `_session_`. */
const sessionOfUser = (user: string | undefined): string | undefined => {
  if (user === undefined) return undefined
  if (user.startsWith('{')) return memberSession(user)
  const mark = user.lastIndexOf(MARK)
  return mark === -1 ? undefined : user.slice(mark + MARK.length)
}
const MARK = '_session_'
const MAX_USER = 4096

const memberSession = (text: string): string | undefined => {
  if (text.length > MAX_USER) return undefined
  try {
    const { session_id } = shapeOf(readJson(text))
    return typeof session_id === 'string' ? session_id : undefined
  } catch {
    return undefined
  }
}
