import { isUtf8 } from 'node:buffer'
import type { Redactor } from 'guard-gateway/core'
import { GuardError } from 'guard-gateway/core'
import { isId, storedId } from 'guard-gateway/lib/ids'

const MAX_SPELLINGS = 1_024
const MAX_LENGTH = 64

/**
 * Caches a function of header names by spelling: the result takes the name as sent, `tell` gets it in lower case.
 * What is remembered is bounded, since names come from outside.
 */
export const byHeaderName = <T extends string | number | boolean | null>(
  tell: (lower: string) => T,
): ((spelled: string) => T) => {
  const known = new Map<string, T>()
  return (spelled) => {
    const found = known.get(spelled)
    if (found !== undefined) return found
    const told = tell(spelled.toLowerCase())
    if (spelled.length <= MAX_LENGTH) {
      if (known.size >= MAX_SPELLINGS) known.clear()
      known.set(spelled, told)
    }
    return told
  }
}

const BEYOND_ASCII = /[\x80-\xff]/

/** The text that the value of a header means. Node gives a character a byte; bytes that are UTF-8 are read as that. */
export const headerText = (value: string): string => {
  if (!BEYOND_ASCII.test(value)) return value
  const bytes = Buffer.from(value, 'latin1')
  return isUtf8(bytes) ? bytes.toString() : value
}

const credentials = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'cookie2',
  'x-api-key',
  'x-guard-key',
  'api-key',
  'apikey',
  'x-goog-api-key',
  'x-auth-token',
  'x-access-token',
])
const CREDENTIAL_ENDING = /[-_](?:api[-_]key|access[-_]token|auth[-_]token|secret|password)$/

/** A header of this name (in lower case) carries a credential, whatever its value. */
export const isCredentialName = (lower: string): boolean => credentials.has(lower) || CREDENTIAL_ENDING.test(lower)

/** The form of agent keys: nothing else looks like it, so it is recognised without knowing the keys. */
export const AGENT_KEY = /gak_[A-Za-z0-9_-]{43}/

/** The project that the header of a request names for the records in it; undefined without one. Throws INVALID_HEADER. */
export const projectHeader = (
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  redact: Pick<Redactor, 'judgeId'>,
): string | undefined => {
  const project = headers['x-guard-project-id']
  if (project === undefined || project === '') return undefined
  const stored = isId(project) && project !== '.' && project !== '..' ? storedId(project, redact) : undefined
  if (stored !== undefined) return stored
  throw new GuardError(
    'INVALID_HEADER',
    'The header x-guard-project-id cannot be used. Send 1 to 128 letters, digits or . _ : @ / + = - that hold no credential and are not "." or "..".',
    { path: 'x-guard-project-id' },
  )
}
