import type { Call, TurnContent } from 'guard-gateway/core'
import {
  countLines,
  linesOf,
  type NewTurn,
  RecentHashes,
  rememberTurns,
  type TurnNotes,
} from 'guard-gateway/lib/detection'

/** Verdicts that a row keeps, one character a turn. */
export const VERDICTS = 128

/** What is remembered of a conversation: its lines and calls as hashes, and the verdicts. */
interface Seen {
  readonly lines: RecentHashes
  readonly keys: RecentHashes
  verdicts: string
}

const notes: TurnNotes<Seen> = {
  begin: () => ({ lines: new RecentHashes(), keys: new RecentHashes(), verdicts: '' }),
  note(seen, turn) {
    seen.verdicts = (seen.verdicts + verdictOf(seen, turn)).slice(-VERDICTS)
  },
}

/**
 * A verdict a turn, of those up to the last one: `n` new lines, `s` none, `e` only empty results, `t` no tool; a capital says that one of
 * its calls is new. Undefined where no results can be read.
 */
export const verdictsOf = (call: Call, memory: Map<string, unknown>): string | undefined => {
  const seen = rememberTurns(call, memory, notes)
  return seen === null ? '' : seen?.verdicts
}

/** The calls of a turn that the body leaves out are not known: they are taken for new. */
const verdictOf = (seen: Seen, { content, turn }: NewTurn): string => {
  if (content === undefined || (turn !== undefined && turn.calls.length === 0)) return 't'
  let fresh = turn === undefined
  for (const { key } of turn?.calls ?? []) if (seen.keys.add(Number.parseInt(key.slice(0, 8), 16))) fresh = true
  const verdict = textVerdict(seen, content)
  return fresh ? verdict.toUpperCase() : verdict
}

const textVerdict = ({ lines: known }: Seen, content: TurnContent): 'n' | 's' | 'e' => {
  let verdict: 'n' | 's' | 'e' = 'e'
  for (const lines of linesOf(content)) {
    const counted = countLines(known, lines)
    if (counted.fresh > 0) verdict = 'n'
    else if (counted.lines > 0 && verdict === 'e') verdict = 's'
  }
  return verdict
}
