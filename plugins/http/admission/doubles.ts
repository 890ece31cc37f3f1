import { GuardError } from 'guard-gateway/core'
import { byHeaderName } from 'guard-gateway/lib/http'

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
/** Stands for every further name of a family of which each name may come once. */
const FAMILY = 1 << single.length

const bitOf = byHeaderName((lower) => {
  const index = single.indexOf(lower)
  if (index !== -1) return 1 << index
  return lower.startsWith('x-guard-') || lower.startsWith('sec-fetch-') ? FAMILY : 0
})

/** The names of the last request that was not refused: the next one mostly has the same. */
let sound: readonly string[] = []

/** Refuses a request that carries a header twice that two readers could read differently. Throws INVALID_HEADER. */
export const refuseDoubles = (rawHeaders: readonly string[]): void => {
  if (isSound(rawHeaders)) return
  let seen = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    const bit = bitOf(name)
    if ((seen & bit) !== 0 && (bit !== FAMILY || isDoubled(rawHeaders, name.toLowerCase()))) {
      throw new GuardError(
        'INVALID_HEADER',
        `The header ${name.toLowerCase()} stands twice in the request. Send it once.`,
      )
    }
    seen |= bit
  }
  sound = rawHeaders.filter((_text, index) => index % 2 === 0)
}

const isSound = (rawHeaders: readonly string[]): boolean => {
  if (rawHeaders.length !== 2 * sound.length) return false
  for (let index = 0; index < sound.length; index++) if (rawHeaders[2 * index] !== sound[index]) return false
  return true
}

const isDoubled = (rawHeaders: readonly string[], lower: string): boolean => {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) if (rawHeaders[index]?.toLowerCase() === lower) count++
  return count > 1
}
