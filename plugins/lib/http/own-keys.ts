import type { Secrets } from 'guard-gateway/core'
import { AGENT_KEY } from './header-names.ts'

/** Shorter texts hold no agent key, in whatever coding. */
const MIN_LENGTH = 47
const BASIC = /^basic\s+([A-Za-z0-9+/_=-]+)$/i

/** A header's value is or holds a key of this gateway, a configured secret or any agent key: bare, after a scheme, percent-encoded or in Basic. */
export const holdsOwnKey = (secrets: Secrets, value: string): boolean =>
  secrets.holds(value) || (value.length >= MIN_LENGTH && holdsAgentKey(value))

const holdsAgentKey = (value: string): boolean => {
  if (AGENT_KEY.test(value)) return true
  if (value.includes('%') && AGENT_KEY.test(unescaped(value))) return true
  const coded = BASIC.exec(value)?.[1]
  return coded !== undefined && AGENT_KEY.test(Buffer.from(coded, 'base64').toString('latin1'))
}

const unescaped = (text: string): string =>
  text.replace(/%([0-9a-f]{2})/gi, (_all, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
