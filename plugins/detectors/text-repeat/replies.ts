import type { Call, TurnContent } from 'guard-gateway/core'
import {
  lettersOf,
  type NewTurn,
  rememberTextHashes,
  rememberTurns,
  type TurnNotes,
  textHash,
  withoutVolatile,
} from 'guard-gateway/lib/detection'
import { argumentText, calledTool } from 'guard-gateway/lib/request-reader'
import { changes } from 'guard-gateway/lib/tools'
import { type Act, actOf } from './act.ts'

/** Turns that a row tells of. */
export const REPLIES = 24

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
    const told = toldBy(spoken, turn)
    rememberTextHashes(spoken.marks, told === undefined ? [] : [told.mark], REPLIES)
    spoken.kinds = (spoken.kinds + (told?.kind ?? '.')).slice(-REPLIES)
  },
  reach: REPLIES,
}

/**
 * Letters of the last turns, equal where a turn without calls for the client did and heard the same, and a sign each: `c` its command
 * changes something, `w` it waits, `.` neither. Undefined where no texts can be read, or nothing was said.
 */
export const repliesOf = (call: Call, memory: Map<string, unknown>): string | undefined => {
  const spoken = rememberTurns(call, memory, notes)
  if (spoken === undefined || spoken === null || spoken.marks.every(({ length }) => length === 0)) return undefined
  return `${lettersOf(spoken.marks)} ${spoken.kinds}`
}

interface Told {
  readonly mark: string
  readonly kind: 'c' | 'w' | '.'
}

const toldBy = (spoken: Spoken, { content }: NewTurn): Told | undefined => {
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
  const act: Act = served === '' ? actOf(content.said) : { text: served, spoken: false }
  if (act.text === '') return undefined
  return { mark: textHash(`${act.text}\0${heard}`), kind: act.spoken ? kindOf(act.text) : '.' }
}

const callsText = ({ calls }: TurnContent): string =>
  calls.map(({ tool, args }) => `${tool} ${argumentText(args)}\n`).join('')

const kindOf = (command: string): Told['kind'] => {
  const { effect } = calledTool('shell', command)
  if (changes(effect)) return 'c'
  return effect === 'wait' || isIdle(command) ? 'w' : '.'
}

/** Terminus waits by commands that press no keys. */
const isIdle = (command: string): boolean => /"commands",\s?\[(?:\{"keystrokes":"\s*"[^}]*\},?)*\]/.test(command)
