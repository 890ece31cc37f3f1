import { GuardError } from 'guard-gateway/core'
import { byHeaderName } from '#lib/http'

const single = [
  'host',
  'origin',
  'content-type',
  'authorization',
  'x-api-key',
  'x-client-session-id',
  'mcp-session-id',
  'mcp-protocol-version',
  'sec-fetch-site',
  'sec-fetch-mode',
  'sec-fetch-dest',
  'sec-fetch-user',
  'x-guard-key',
  'x-guard-project-id',
  'x-guard-session-id',
  'x-guard-agent-id',
  'x-guard-mode',
]
/** One bit for all further names with these prefixes; each of them may come once. */
const FAMILY = 1 << single.length

const bitOf = byHeaderName((lower) => {
  const index = single.indexOf(lower)
  if (index !== -1) return 1 << index
  return lower.startsWith('x-guard-') || lower.startsWith('sec-fetch-') ? FAMILY : 0
})

/** The header names of the last valid request: the next request mostly has the same. */
let lastValid: readonly string[] = []

/** Refuses a request that repeats a header which two parsers could read differently. Throws INVALID_HEADER. */
export const refuseDuplicateHeaders = (rawHeaders: readonly string[]): void => {
  if (isLastValid(rawHeaders)) return
  let seen = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    const bit = bitOf(name)
    if ((seen & bit) !== 0 && (bit !== FAMILY || isDuplicate(rawHeaders, name.toLowerCase()))) {
      throw new GuardError(
        'INVALID_HEADER',
        `The header ${name.toLowerCase()} appears twice in the request. Send it once.`,
      )
    }
    seen |= bit
  }
  lastValid = rawHeaders.filter((_text, index) => index % 2 === 0)
}

const isLastValid = (rawHeaders: readonly string[]): boolean => {
  if (rawHeaders.length !== 2 * lastValid.length) return false
  for (let index = 0; index < lastValid.length; index++) if (rawHeaders[2 * index] !== lastValid[index]) return false
  return true
}

const isDuplicate = (rawHeaders: readonly string[], lower: string): boolean => {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) if (rawHeaders[index]?.toLowerCase() === lower) count++
  return count > 1
}
