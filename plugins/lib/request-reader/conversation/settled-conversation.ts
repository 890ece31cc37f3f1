import type { Conversation } from 'guard-gateway/core'
import { Link } from './hash-chain.ts'

const none: readonly never[] = Object.freeze([])
const empty = Link.from('')

/**
 * What is left of a conversation whose request is settled. A record that waits for its commit holds the call, and so would have each
 * collection of young garbage copy all turns of hundreds of conversations.
 */
export const spent = ({ fingerprint, text_bytes }: Conversation): Conversation => ({
  chain: empty,
  talk: empty,
  turns: none,
  systems: none,
  besides: none,
  fingerprint,
  opening: '',
  text_bytes,
  loose_results: none,
})
