import type { Call } from 'guard-gateway/core'
import { jsonObjectOf, readJson } from '#lib/json'
import { badExternal, type Identifiers } from './identifiers.ts'

/** A session as its client names it. */
export interface ExternalId {
  readonly external_id: string
  readonly external_source: string
}

type Texts = Readonly<Record<string, string>>

/** Where clients put the id of their session: a header of this name, or what the API style found in the body. */
interface Source {
  readonly name: string
  /** An id that cannot be used is an error of the client, not a reason to look further. */
  readonly strict: boolean
  readonly hinted: ((hints: Texts) => string | undefined) | undefined
  /** It counts only for requests that came so: on a socket the headers are those of its handshake. */
  readonly transport?: 'websocket'
}

const header = (name: string, strict = false): Source => ({ name, strict, hinted: undefined })
const hint = (name: string, hinted: Source['hinted']): Source => ({ name, strict: false, hinted })

const IN_CREATE = 'client_metadata.session_id'
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
/** How a client marks the request that finds a title for a session. */
const SIDE_TASK = /^title-(?=(?:ses|sess|thread|conv)_.)/
const SESSION_LIKE = /^(?:ses|sess|thread|conv)_./

/** In order of precedence. */
const sources: readonly Source[] = [
  header('x-guard-session-id', true),
  header('x-client-session-id', true),
  header('x-claude-code-session-id'),
  hint('metadata.user_id', (hints) => sessionOfUser(hints['metadata.user_id'])),
  { ...hint(IN_CREATE, (hints) => hints[IN_CREATE]), transport: 'websocket' },
  header('session-id'),
  header('session_id'),
  header('x-session-id'),
  header('x-session-affinity'),
  header('agent-session-id'),
  hint('conversation', (hints) => hints.conversation),
  // many applications send one constant here, so only what has the form of a session's id counts
  hint('prompt_cache_key', (hints) => sessionLikeId(hints.prompt_cache_key)),
]

/** The first source that is present and valid; throws INVALID_HEADER if one that the client meant for us is not valid. */
export const externalId = (
  headers: Texts,
  hints: Texts,
  { external }: Identifiers,
  came?: Call['transport'],
): ExternalId | undefined => {
  for (const { name, strict, hinted, transport } of sources) {
    if (transport !== undefined && transport !== came) continue
    const sent = hinted === undefined ? headers[name]?.replace(SIDE_TASK, '') : hinted(hints)
    if (sent === undefined) continue
    const external_id = external(sent)
    if (external_id !== undefined) return { external_id, external_source: name }
    if (strict) throw badExternal(name)
  }
  return undefined
}

const sessionLikeId = (key: string | undefined): string | undefined =>
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
    const { session_id } = jsonObjectOf(readJson(text))
    return typeof session_id === 'string' ? session_id : undefined
  } catch {
    return undefined
  }
}
