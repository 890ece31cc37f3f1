import { type Call, detector, type Finding, type TurnContent } from 'guard-gateway/core'
import {
  letterCounts,
  lettersIn,
  lettersOf,
  type NewTurn,
  rememberTextHashes,
  rememberTurns,
  type TurnNotes,
  textHash,
  turnPlaces,
  withoutVolatile,
} from 'guard-gateway/lib/detection'
import { argumentText, calledTool } from '#lib/request-reader'
import { changes, isProse } from '#lib/tools'

/** Turns that a row tells of. */
const REPLIES = 24

/** Answers behind these characters are not looked at. */
const CHARS = 40_000

/** What is remembered of the last turns: what each did and heard as one mark, and what kind of act it was. */
interface Spoken {
  readonly marks: (readonly string[])[]
  kinds: string
  /** What tools at the provider did before the reply went on. */
  served: string
}

const notes: TurnNotes<Spoken> = {
  begin: () => ({ marks: [], kinds: '', served: '' }),
  note(spoken, turn) {
    const answer = answerOf(spoken, turn)
    rememberTextHashes(spoken.marks, answer === undefined ? [] : [answer.mark], REPLIES)
    spoken.kinds = (spoken.kinds + (answer?.kind ?? '.')).slice(-REPLIES)
  },
  reach: REPLIES,
}

/**
 * Letters of the last turns, equal where a turn without calls for the client did and heard the same, and a sign each: `c` its command
 * changes something, `w` it waits, `.` neither. Undefined where no texts can be read, or nothing was said.
 */
const repliesOf = (call: Call, memory: Map<string, unknown>): string | undefined => {
  const spoken = rememberTurns(call, memory, notes)
  if (spoken === undefined || spoken === null || spoken.marks.every(({ length }) => length === 0)) return undefined
  return `${lettersOf(spoken.marks)} ${spoken.kinds}`
}

interface Answer {
  readonly mark: string
  readonly kind: 'c' | 'w' | '.'
}

/** What a turn of words does, as far as its form tells: the command it speaks, or all that it says. */
interface Act {
  readonly text: string
  /** It is written in the form of a call: a fenced or tagged block, an object, or lines of ReAct. */
  readonly spoken: boolean
}

/** Thoughts around a spoken call differ from turn to turn, so they are left out. */
const actOf = (reply: string): Act => {
  const text = reply.slice(0, CHARS)
  const spoken = fenced(text) ?? object(text.trim()) ?? tagged(text) ?? react(text)
  return spoken === undefined ? { text: plain(text), spoken: false } : { text: plain(spoken), spoken: true }
}

const plain = (text: string): string => text.replace(/\s+/g, ' ').trim()

const fence = /^[ \t]*```[^\n`]*\n([\s\S]*?)^[ \t]*```[ \t]*$/gm

/** The one fenced block of a text: mini-swe-agent, SWE-agent, Terminus in its JSON. Of several nobody knows which is run. */
const fenced = (text: string): string | undefined => {
  if (!text.includes('```')) return undefined
  const blocks = [...text.matchAll(fence)]
  const [, body] = blocks[0] ?? []
  if (body === undefined || blocks.length > 1) return undefined
  return object(body.trim()) ?? body
}

/** A JSON object without what it says in prose: Terminus. */
const object = (text: string): string | undefined => {
  if (!text.startsWith('{') || !text.endsWith('}')) return undefined
  try {
    const value = JSON.parse(text) as Readonly<Record<string, unknown>>
    const rest = Object.entries(value).filter(([name]) => !isProse(name) && !isPlan(name))
    return rest.length === 0 ? undefined : JSON.stringify(rest)
  } catch {
    return undefined
  }
}

/** What Terminus and its like call their thoughts besides. */
const isPlan = (name: string): boolean => /^(?:plan|observation|state_analysis|summary|think)$/i.test(name)

const prose = /<(think|thinking|thought|analysis|plan|reasoning|reflection|explanation)>[\s\S]*?<\/\1>/gi

const element = /<([a-z][\w.:-]{0,63})((?:\s[^<>]{0,1024})?|=[^<>\s]{1,128})>[\s\S]*?<\/\1>/gi

/** The tagged blocks of a text: `<execute_bash>`, `<function_calls>`, `<read_file>` of Cline and Roo, the commands of Terminus in its XML. */
const tagged = (text: string): string | undefined => {
  if (!text.includes('</')) return undefined
  const blocks = text.replace(prose, '').match(element)
  return blocks === null ? undefined : blocks.join('\n')
}

/** `Action:` and `Action Input:` of ReAct. */
const react = (text: string): string | undefined => /^Action:[^\n]*(?:\n+Action Input:[\s\S]*)?/m.exec(text)?.[0]

const answerOf = (spoken: Spoken, { content }: NewTurn): Answer | undefined => {
  if (content === undefined) return undefined
  if (content.served) {
    spoken.served += callsText(content)
    return undefined
  }
  const served = spoken.served + (content.results.length === 0 ? callsText(content) : '')
  spoken.served = ''
  const isClients = content.calls.length > 0 && content.results.length > 0
  const heard = withoutVolatile(content.heard.slice(0, CHARS)).replace(/\s+/g, ' ').trim()
  if (isClients || heard === '') return undefined
  const act: Act = served === '' ? actOf(content.text) : { text: served, spoken: false }
  if (act.text === '') return undefined
  return { mark: textHash(`${act.text}\0${heard}`), kind: act.spoken ? kindOf(act.text) : '.' }
}

const callsText = ({ calls }: TurnContent): string =>
  calls.map(({ tool, args }) => `${tool} ${argumentText(args)}\n`).join('')

const kindOf = (command: string): Answer['kind'] => {
  const { effect } = calledTool('shell', command)
  if (changes(effect)) return 'c'
  return effect === 'wait' || isIdle(command) ? 'w' : '.'
}

/** Terminus waits by commands that press no keys. */
const isIdle = (command: string): boolean => /"commands",\s?\[(?:\{"keystrokes":"\s*"[^}]*\},?)*\]/.test(command)

/**
 * Turns of words that say the same and hear the same: agents that speak their calls as text, and agents that are told to go on and say
 * once more what they will do. That somebody answers ends nothing here, for who answers the same each time has not looked.
 */
export const textRepeat = detector({
  id: 'text_repeat',
  code: 'LOOP_TEXT',
  summary: 'The same reply was repeated',
  version: '1',
  kind: 'loop',
  defaults: { threshold: 3, window_size: 8 },
  unit: 'equal replies',
  reachable: ({ threshold, window_size }) => threshold <= Math.min(window_size, REPLIES),

  measure: repliesOf,

  detect({ rule, row, turns }): Finding | undefined {
    const measure = row.measures.text_repeat
    if (typeof measure !== 'string') return undefined
    const [letters = '', kinds = ''] = measure.split(' ')
    const groups = lettersIn(letters).slice(-Math.max(1, turns.length))
    if (turns.length === 0 || kinds.endsWith('w')) return undefined
    const newChange = (back: number) => isNewChange(groups, kinds, back)
    for (const { steps } of letterCounts(groups, rule.window_size, newChange)) {
      if (steps.length < rule.threshold) continue
      return {
        message: `${steps.length} of the last ${rule.window_size} turns said the same and were answered the same`,
        evidence: 'history',
        count: steps.length,
        where: turnPlaces(steps),
        results_equal: true,
      }
    }
  },
})

/** A spoken command changed something, and no turn before it did the same: what is checked behind it is checked anew. */
const isNewChange = (groups: readonly string[], kinds: string, back: number): boolean => {
  if (kinds.charAt(kinds.length - 1 - back) !== 'c') return false
  const at = groups.length - 1 - back
  const letter = groups[at] ?? ''
  return letter === '' || !groups.slice(0, at).includes(letter)
}
