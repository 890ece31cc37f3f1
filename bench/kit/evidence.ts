import type { Call, Detector, Ended, Evidence, Row, Rule } from 'guard-gateway/core'
import type { Static, TSchema } from 'typebox'
import { sha256 } from '#lib/ids'

/**
 * The evidence for a detector: the turns of the current call and `rows` different earlier requests, by default as
 * many as a session keeps.
 */
export const fullEvidence = <P extends TSchema>(detector: Detector<P>, call: Call, rows = 64): Evidence<Static<P>> => {
  const past = Array.from({ length: rows }, (_, back) => rowOf(call, `past ${back}`, call.at - back * 1000))
  return {
    rule: ruleOf(detector),
    call,
    row: { ...rowOf(call, 'in hand', call.at), fingerprint: call.conversation.fingerprint },
    past,
    turns: call.conversation.turns,
    session: {
      requests: rows,
      failed: rows,
      unpriced: 0,
      tokens: 0,
      cost_micro: 0,
      reserved: 0,
      outcomes: past.map(endedOf).reverse(),
      probe_open: false,
    },
  }
}

/** A rule with the defaults of a detector. */
export const ruleOf = <P extends TSchema>({ id, defaults }: Detector<P>): Rule<Static<P>> => ({
  id,
  rule_type: id,
  threshold: defaults.threshold,
  window_size: defaults.window_size,
  action: 'block',
  enabled: true,
  ...(defaults.params === undefined ? {} : { params: defaults.params }),
})

const rowOf = ({ conversation }: Call, name: string, at: number): Row => ({
  id: `guardreq_${name}`,
  at,
  ended_at: at + 500,
  fingerprint: sha256(name),
  chain_tip: sha256(`chain ${name}`),
  talk_tip: sha256(`talk ${name}`),
  items: conversation.chain.length,
  talk_items: conversation.talk.length,
  thread: 'guardreq_first',
  root: false,
  parent: null,
  keys: [sha256(`key ${name}`)],
  new_turns: conversation.turns.slice(-1),
  user_first: false,
  decision: 'allow',
  reason: null,
  rule_id: null,
  matches: [],
  retry: false,
  probe: false,
  retries: 0,
  last_at: null,
  outcome: 'upstream_error',
  error_fingerprint: sha256(`error ${name}`),
  response_id: null,
  total_tokens: 20,
  cost_micro: 0,
  measures: {},
  reserved: 0,
})

const endedOf = ({ id, at, error_fingerprint }: Row): Ended => ({
  id,
  ended_at: at + 500,
  outcome: 'upstream_error',
  error_fingerprint,
})
