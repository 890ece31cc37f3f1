import type { Case } from '../quality/case.ts'
import type { Observation, RunFacts } from '../quality/observation.ts'
import { initialState, type Judged, observationOf, type SubjectState } from '../quality/observed.ts'
import type { Peer } from './peer.ts'

/** Plays a case through the peers, turn by turn. Turn i (from 0) is the last history of request i + 2, which is not sent after a stop. */
export const observePeers = (one: Case, peers: readonly Peer[], facts: RunFacts): readonly Observation[] => {
  if (peers.length === 0) return []
  const played = { tokens: one.tokens(), bytes: [], state_bytes: null }
  return peers.map((peer) => observationOf(one, judged(peer), seenBy(peer, one), played, facts))
}

const seenBy = (peer: Peer, { turns }: Case): SubjectState => {
  const seen = initialState()
  const say = peer.watch()
  // no request follows the last turn
  for (const [index, turn] of (turns ?? []).slice(0, -1).entries()) {
    const rule_id = say(turn)
    if (rule_id === undefined) continue
    seen.matches++
    seen.alarm ??= { step: index + 2, action: 'block', code: 'PEER_RULE', rule_id }
  }
  return seen
}

/** No preset has the prefix `peer.`. */
const judged = ({ id, source, version, thresholds }: Peer): Judged => ({
  id: `peer.${id}`,
  kind: 'peer',
  version,
  rule_type: null,
  params: { source, ...thresholds },
  needs: ['turns'],
})
