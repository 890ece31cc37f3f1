import { AGENT_KEY, GuardError, type Secrets } from 'guard-gateway/core'

const ENCODED_CONTROL = /%(?:[01][0-9a-f]|7f)/i

/** Refuses a request target that is no plain path, or that holds a key. Throws INVALID_TARGET, CREDENTIAL_IN_URL. */
export const checkTarget = (target: string, secrets: Secrets): void => {
  if (target.charCodeAt(0) !== 0x2f || (target.includes('%') && ENCODED_CONTROL.test(target))) {
    throw new GuardError('INVALID_TARGET')
  }
  if (secrets.holds(target) || AGENT_KEY.test(target)) throw new GuardError('CREDENTIAL_IN_URL')
}

/** The part of a target before its query. */
export const pathOf = (target: string): string => {
  const mark = target.indexOf('?')
  return mark === -1 ? target : target.slice(0, mark)
}

/** The query of a target with its question mark, or empty. */
export const queryOf = (target: string): string => {
  const mark = target.indexOf('?')
  return mark === -1 ? '' : target.slice(mark)
}

/** The path as a router reads it; as it stands if it cannot be decoded. */
export const decodedPath = (target: string): string => {
  const path = pathOf(target)
  try {
    return path.includes('%') ? decodeURIComponent(path) : path
  } catch {
    return path
  }
}
