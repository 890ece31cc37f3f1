import assert from 'node:assert/strict'
import type { Conversation } from 'guard-gateway/core'

const told = ({
  chain,
  talk,
  turns,
  besides,
  systems,
  fingerprint,
  opening,
  text_bytes,
  loose_results,
  ...more
}: Conversation) => ({
  tips: [chain.tip, talk.tip],
  ...{ turns, besides, systems, fingerprint, opening, text_bytes, loose_results },
  more,
})

/** Checks that two readings tell the same of a conversation. */
export const assertReadAlike = (one: Conversation, other: Conversation): void => {
  assert.deepEqual(told(one), told(other))
  assert.deepEqual(one.resultTexts?.(9), other.resultTexts?.(9))
}
