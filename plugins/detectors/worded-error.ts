import { type Call, detector, type Finding } from 'guard-gateway/core'
import {
  letterCounts,
  lettersIn,
  lettersOf,
  type NewTurn,
  optionalFlag,
  rememberTextHashes,
  rememberTurns,
  ruleParams,
  type TurnNotes,
  textHash,
  turnPlaces,
  turnsSinceUser,
} from 'guard-gateway/lib/detection'

/** Turns that a row tells of. */
const COMPLAINTS = 20
/** Complaints of one turn that are told apart. */
const PER_TURN = 3

const notes: TurnNotes<(readonly string[])[]> = {
  begin: () => [],
  note: (turns, turn) => rememberTextHashes(turns, complaintsOf(turn), COMPLAINTS),
  reach: COMPLAINTS,
}

/** Letters of the last turns, equal where one tool complained in the same words. Undefined where no texts can be read, or nobody did. */
const complaintLetters = (call: Call, memory: Map<string, unknown>): string | undefined => {
  const turns = rememberTurns(call, memory, notes)
  if (turns === undefined || turns === null || turns.at(-1)?.length === 0) return undefined
  return lettersOf(turns)
}

const complaintsOf = ({ content }: NewTurn): readonly string[] => {
  const marks: string[] = []
  for (const [place, result] of (content?.results ?? []).entries()) {
    const complaint = marks.length < PER_TURN ? complaintOf(result) : undefined
    const tool = content?.calls[place]?.tool ?? content?.calls[0]?.tool ?? ''
    if (complaint !== undefined) marks.push(textHash(`${tool}\0${complaint}`))
  }
  return marks
}

/**
 * The same tool complains in the same words, one tool turn after another, whatever it is asked. Errors are known by the words with which a
 * result begins, since most tools flag none; numbers, names and paths in it may differ.
 */
export const wordedError = detector({
  id: 'worded_error',
  code: 'LOOP_WORDED_ERROR',
  summary: 'A tool complains in the same words again and again',
  version: '1',
  kind: 'loop',
  defaults: { threshold: 4, window_size: 0 },
  unit: 'equal complaints',
  params: ruleParams({
    reset_on_user_message: optionalFlag('A user message ends the streak; true unless set'),
  }),
  reachable: ({ threshold }) => threshold <= COMPLAINTS,

  measure: complaintLetters,

  detect({ rule, row, turns }): Finding | undefined {
    const groups = lettersIn(row.measures.worded_error)
    const reset = rule.params?.reset_on_user_message !== false
    const ends = (back: number) => (turns[turns.length - 1 - back]?.calls.length ?? 1) > 0
    const reach = reset ? turnsSinceUser(turns, COMPLAINTS) : Math.min(COMPLAINTS, turns.length)
    for (const { steps } of letterCounts(groups, reach, ends)) {
      if (steps.length < rule.threshold) continue
      const tool = turns.at(-1)?.calls[0]?.tool
      return {
        message: `the same complaint came in ${steps.length} tool turns in a row`,
        evidence: 'history',
        count: steps.length,
        ...(tool === undefined ? {} : { tool }),
        where: turnPlaces(steps),
        results_equal: true,
      }
    }
  },
})

/** What a complaint is told by; what follows is mostly what it is about. */
const CHARS = 300
/** It says so within these. */
const BEGINNING = 200

/** Words with which tools complain. What merely holds one of them differs from turn to turn, or is another rule's. */
const word = new RegExp(
  `err(?:or|no)|exception|\\b(?:${[
    'traceback',
    'fatal',
    'panic',
    'fail(?:ed|ure|s)?',
    'invalid',
    'missing',
    'required',
    'unable',
    "can(?:not|'t)",
    "could(?: not|n't)",
    'not found',
    'no such',
    'does not exist',
    'un(?:known|supported|recogni[sz]ed|authori[sz]ed|expected)',
    'forbidden',
    'bad request',
    'denied',
    'refused',
    'reject(?:ed|s)',
    'http(?: error)? [45]\\d\\d',
  ].join('|')})\\b`,
  'i',
)

/** Members of JSON that say so. */
const member =
  /"(?:error|errors|exception)":\s*(?:"[^"]|\{|\[\s*[^\]\s]|true)|"(?:is_?error)":\s*true|"success":\s*false|"(?:status|code|type|object)":\s*"?(?:error|failed|failure|[45]\d\d\b)/i

/** A name of a member, which says nothing by itself. */
const name = /"[\w-]{1,64}"\s*:/g

/** Members that tell one answer from another. */
const unlike = /("[\w-]{0,40}(?:id|request|trace|time|timestamp|date|path|url|uri|instance)"\s*:\s*)"[^"\n]{0,200}"/gi

/** The complaint of a result without what differs: numbers, what stands in quotes, paths. Undefined if it is none. */
const complaintOf = (result: string): string | undefined => {
  const text = result.trimStart().slice(0, CHARS)
  const isJson = text.startsWith('{') || text.startsWith('[')
  const beginning = text.slice(0, BEGINNING)
  const complains = isJson ? member.test(text) || word.test(beginning.replace(name, '')) : word.test(beginning)
  return complains ? masked(text, isJson) : undefined
}

const masked = (text: string, isJson: boolean): string =>
  text
    .replace(unlike, '$1')
    .replace(isJson ? /\\"(?:[^"\\]|\\[^"])*\\"/g : /"[^"\n]{0,200}"/g, '"')
    .replace(/`[^`\n]{0,200}`|(?<![a-z])'[^'\n]{0,200}'/gi, "'")
    .replace(/(?:[\w.~-]*\/){1,64}[\w.-]*/g, '/')
    .replace(/\b(?:[0-9a-f]{8,64}|0x[0-9a-f]+)\b|\d+/gi, '#')
    .replace(/\s+/g, ' ')
    .trim()
