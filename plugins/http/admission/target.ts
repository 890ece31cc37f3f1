import { GuardError, type Secrets } from 'guard-gateway/core'
import { AGENT_KEY } from '#lib/http'
import { httpErrors } from '../error-codes.ts'

const ENCODED_CONTROL = /%(?:[01][0-9a-f]|7f)/i
/** A segment `.` or `..` as some upstream may read it: encoded once or more, between slashes of either kind, with parameters. */
const DOT_SEGMENT = /(?:[/\\]|%(?:25)*(?:2f|5c))(?:\.|%(?:25)*2e){1,2}(?:[/\\;#]|%(?:25)*(?:2f|5c|3b|23|3f)|$)/i

/** Refuses a request target that is no plain path, or that holds a key. Throws INVALID_TARGET, CREDENTIAL_IN_URL. */
export const checkTarget = (target: string, secrets: Secrets): void => {
  if (target.charCodeAt(0) !== 0x2f || (target.includes('%') && ENCODED_CONTROL.test(target))) {
    throw new GuardError(httpErrors.INVALID_TARGET)
  }
  if (secrets.holds(target) || AGENT_KEY.test(target)) throw new GuardError(httpErrors.CREDENTIAL_IN_URL)
}

/** Refuses a path that, resolved elsewhere, is another one than was judged here. Throws INVALID_TARGET. */
export const refuseDotSegments = (target: string): void => {
  const path = pathOf(target)
  if ((path.includes('.') || path.includes('%')) && DOT_SEGMENT.test(path)) {
    throw new GuardError(
      httpErrors.INVALID_TARGET,
      'The path has a segment . or .., plain or encoded, which the upstream could resolve to another path. Send the path that is meant.',
    )
  }
}

/** An encoded letter, digit, slash or other character that nobody needs to encode, once or more. */
const PLAIN = /%(?:25)*(?:2[def]|3\d|4[1-9a-f]|5[0-9acf]|6[1-9a-f]|7[0-9ae])/gi

/** A path decoded but for what means the same decoded: its fixed part is read from this. */
export const literalPath = (path: string): string =>
  decoded(path.replace(PLAIN, (encoded) => encoded.replaceAll('%', '%25')))

/** Refuses a segment of a fixed part that is spelled otherwise than it is matched. Throws ENCODED_PATH. */
export const refuseEncodedPlain = (segment: string): void => {
  if (segment.includes('%') && segment.search(PLAIN) !== -1) throw encodedFixedPart()
}

export const encodedFixedPart = (): GuardError => new GuardError(httpErrors.ENCODED_PATH)

/** What an upstream that decodes once more could read as another path, or as the end of one. */
export const AMBIGUOUS = /[%?#;\\]/
/** What some servers cut off a name. */
export const EDGES = /^[\s.]|[\s.]$/

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

/** A target, or its query, without the parameters that hold keys, and the keys in them; every other byte stays. `name`: undefined where keys are in headers alone. */
export const withoutQueryKey = (
  target: string,
  name: string | undefined,
): { readonly target: string; readonly keys: readonly string[] } => {
  const mark = name === undefined ? -1 : target.indexOf('?')
  if (mark === -1) return { target, keys: [] }
  const pieces = target.slice(mark + 1).split('&')
  const isKey = (piece: string): boolean => decoded(piece.split('=', 1)[0] ?? '') === name
  const keys = pieces.filter(isKey).map((piece) => decoded(piece.slice(piece.indexOf('=') + 1)))
  if (keys.length === 0) return { target, keys }
  const rest = pieces.filter((piece) => !isKey(piece)).join('&')
  return { target: target.slice(0, mark) + (rest === '' ? '' : `?${rest}`), keys }
}

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The path as a router reads it; as it is if it cannot be decoded. */
export const decodedPath = (target: string): string => {
  const path = pathOf(target)
  return path.includes('%') ? decoded(path) : path
}
