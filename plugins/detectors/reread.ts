import { type Call, detector, type Finding } from 'guard-gateway/core'
import {
  countLines,
  letterCounts,
  lettersIn,
  lettersOf,
  linesOf,
  type NewTurn,
  RecentHashes,
  rememberTextHashes,
  rememberTurns,
  type TurnNotes,
  textHash,
  turnPlaces,
  turnsSinceUser,
} from 'guard-gateway/lib/detection'
import { argumentText, calledTool } from '#lib/request-reader'
import { isNewChange } from '#lib/tools'

/** Turns that a row tells of. */
const LOOKS = 20
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
const lookLetters = (call: Call, memory: Map<string, unknown>): string | undefined => {
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

/** Longer arguments are no question for a target. */
const CHARS = 8192

/** Arguments that name what is looked at. */
const paths =
  /^(?:absolute_?)?(?:target_?)?(?:file|path|file_?path|file_?name|notebook_?path|uri|url|resource|dir|directory|relative_?path|relative_?workspace_?path)$/i

/** Arguments that ask for something in it: another question is another look. */
const questions = /pattern|query|search|regex|text|question|prompt|symbol|command|selector|xpath|sql|^q$|^name$/i

/**
 * What a call looks at: of a reader the file or address that it names, whatever part of it; of a command that changes nothing its
 * arguments but for their numbers. Undefined if it looks at nothing, or waits.
 */
const targetOf = (tool: string, args: unknown): string | undefined => {
  const { effect } = calledTool(tool, args)
  if (effect !== 'look' && effect !== null) return undefined
  const text = argumentText(args)
  if (text.length > CHARS || !/\d|"/.test(text)) return undefined
  if (effect === null) return commandIn(text, tool)
  const named = namedIn(text)
  return named === undefined ? `${tool}\0${text.replace(/\d+/g, '#')}` : `\0${named}`
}

/** A command that may look: `sed -n 1,50p a.ts`. What a tool does of which nothing else is known is not. */
const commandIn = (text: string, tool: string): string | undefined =>
  membersOf(text).some(([name]) => /^(?:command|commands|cmd|script)$/i.test(name))
    ? `${tool}\0${text.replace(/\d+/g, '#')}`
    : undefined

const namedIn = (text: string): string | undefined => {
  const members = membersOf(text)
  if (members.some(([name]) => questions.test(name))) return undefined
  const named = members.filter(([name, value]) => paths.test(name) && typeof value === 'string')
  return named.length === 1 ? String(named[0]?.[1]) : undefined
}

const membersOf = (text: string): readonly (readonly [name: string, value: unknown])[] => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? Object.entries(value) : []
  } catch {
    return []
  }
}

/** One file or address is looked at again and again in other pieces, and hardly a line of it is new. A change in between starts over. */
export const reread = detector({
  id: 'reread',
  code: 'LOOP_REREAD',
  summary: 'One target is looked at again and again',
  version: '1',
  kind: 'loop',
  defaults: { threshold: 6, window_size: 12 },
  unit: 'looks without new lines',
  reachable: ({ threshold, window_size }) => threshold <= Math.min(window_size, LOOKS),

  measure: lookLetters,

  detect({ rule, row, turns }): Finding | undefined {
    const groups = lettersIn(row.measures.reread)
    const ends = (back: number) => isNewChange(turns, turns.length - 1 - back)
    for (const { steps } of letterCounts(groups, turnsSinceUser(turns, rule.window_size), ends)) {
      if (steps.length < rule.threshold) continue
      return {
        message: `the same target was looked at in ${steps.length} of the last ${rule.window_size} turns, and hardly a line was new`,
        evidence: 'history',
        count: steps.length,
        where: turnPlaces(steps),
        results_equal: null,
      }
    }
  },
})
