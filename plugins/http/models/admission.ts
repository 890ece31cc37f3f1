import type { IncomingMessage } from 'node:http'
import { type Admission, GuardError, type ProviderObject } from 'guard-gateway/core'
import { distinct, NONE, objectsIn, objectsInPath } from '#lib/api-style'
import { AMBIGUOUS, decodedPath } from '../admission/target.ts'

/** Headers that may name a session, in order: requests of one session start alike, which is what readers use this for. */
const sessionHeaders = [
  'x-guard-session-id',
  'x-client-session-id',
  'x-claude-code-session-id',
  'session-id',
  'session_id',
  'x-session-id',
  'agent-session-id',
]

/** What groups requests whose bodies start alike; empty if the request names no session. */
export const hintOf = ({ headers }: IncomingMessage): string => {
  for (const name of sessionHeaders) {
    const value = headers[name]
    if (typeof value === 'string' && value !== '') return value
  }
  return ''
}

/** What was read of a request. `headers`: once the project of its key stands in them. Throws INVALID_BODY for more objects than are looked up. */
export const admissionOf = (
  request: IncomingMessage,
  path: string,
  headers: Readonly<Record<string, string>>,
  objects: readonly ProviderObject[],
): Admission => {
  const named = objects.length === 0 ? NONE : distinct(objects)
  if (named.length > MAX_OBJECTS)
    throw new GuardError(
      'INVALID_BODY',
      `The request names more than ${MAX_OBJECTS} things that a provider keeps. Name fewer.`,
    )
  return Object.freeze({
    path: decodedPath(path),
    project_id: headers['x-guard-project-id'] || null,
    session: hintOf(request) || null,
    objects: Object.freeze(named),
  })
}

/** Each of them is looked up. */
const MAX_OBJECTS = 2_000

/** The objects that a path names. Throws NOT_FOUND for an id that an upstream could take for another one. */
export const objectsAt = (path: string): readonly ProviderObject[] => {
  const objects = objectsInPath(decodedPath(path))
  if (objects.some(({ id }) => AMBIGUOUS.test(id)))
    throw new GuardError(
      'NOT_FOUND',
      'The path holds an id with a mark or a blank that no id has. Send the id as it was given.',
    )
  return objects
}

/** The objects that the parameters of a query name. */
export const objectsInQuery = (query: string): readonly ProviderObject[] =>
  query === '' ? NONE : objectsIn([...new URLSearchParams(query)].map(([name, value]) => ({ [name]: value })))

/** Bytes in which the first that is no blank stands. */
const SNIFFED = 1_024

/** The objects that a body names, whatever type it says it has; a body that is no JSON names none. */
export const objectsInBody = (plain: Buffer): readonly ProviderObject[] => {
  if (!/^[\s\ufeff]*[[{]/.test(plain.toString('utf8', 0, SNIFFED))) return NONE
  try {
    return objectsIn(JSON.parse(plain.toString().replace(/^\ufeff/, '')))
  } catch {
    return NONE
  }
}
