import { cline } from './cline.ts'
import { geminiCli } from './gemini-cli.ts'
import { goose } from './goose.ts'
import { opencode, opencodeTurns } from './opencode.ts'
import { openhands, openhandsActions } from './openhands.ts'
import type { Peer } from './peer.ts'

/** Loop guards of other agents, for comparison with the rules. */
export const peers: readonly Peer[] = [openhands, openhandsActions, geminiCli, cline, goose, opencode, opencodeTurns]

const ALL = 'all'

/** The peers with these ids, or all of them for `all`. Throws a TypeError that lists the known ids. */
export const findPeers = (ids: readonly string[]): readonly Peer[] =>
  ids.includes(ALL) ? peers : [...new Set(ids)].map(needed)

const needed = (id: string): Peer => {
  const found = peers.find((one) => one.id === id)
  if (found !== undefined) return found
  throw new TypeError(`There is no peer "${id}"; there is ${peers.map((one) => one.id).join(', ')}, or ${ALL}.`)
}
