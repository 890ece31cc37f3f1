import type { Call } from 'guard-gateway/core'
import {
  countLines,
  lettersOf,
  linesOf,
  type NewTurn,
  RecentHashes,
  rememberTextHashes,
  rememberTurns,
  type TurnNotes,
  textHash,
} from 'guard-gateway/lib/detection'
import { argumentText } from 'guard-gateway/lib/request-reader'
import { targetOf } from './target.ts'

/** Turns that a row tells of. */
export const LOOKS = 20
/** Targets of one turn that are told apart. */
const PER_TURN = 3
/** A look with so small a share of new lines shows nothing new. */
const NEW_SHARE = 0.2

/** What is remembered: the lines that looks have shown, which looks there were, and which targets the last turns looked at in vain. */
interface Looked {
  readonly lines: RecentHashes
  readonly looks: RecentHashes
  readonly turns: (readonly string[])[]
}

const notes: TurnNotes<Looked> = {
  begin: () => ({ lines: new RecentHashes(), looks: new RecentHashes(), turns: [] }),
  note: (looked, turn) => rememberTextHashes(looked.turns, vainLooks(looked, turn), LOOKS),
}

/** Letters of the last turns, equal where they looked at one target and saw little that was new. Undefined where no texts can be read, or the last one did not. */
export const lookLetters = (call: Call, memory: Map<string, unknown>): string | undefined => {
  const looked = rememberTurns(call, memory, notes)
  if (looked === undefined || looked === null || looked.turns.at(-1)?.length === 0) return undefined
  return lettersOf(looked.turns)
}

/** The same look again is another rule's: who waits makes it, and who checks. */
const vainLooks = (looked: Looked, { content }: NewTurn): readonly string[] => {
  const marks: string[] = []
  if (content === undefined) return marks
  for (const [place, { tool, args }] of content.calls.entries()) {
    const target = targetOf(tool, args)
    if (target === undefined) continue
    const { lines, fresh } = countLines(looked.lines, linesOf(content)[place] ?? [])
    const isOther = looked.looks.add(Number.parseInt(textHash(`${tool}\0${argumentText(args)}`).slice(0, 8), 16))
    if (isOther && lines > 0 && fresh < lines * NEW_SHARE && marks.length < PER_TURN) marks.push(textHash(target))
  }
  return marks
}
