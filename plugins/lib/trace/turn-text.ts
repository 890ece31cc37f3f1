import { crc32 } from 'node:zlib'
import type { ToolCall, ToolEffect, Turn } from 'guard-gateway/core'
import { cutText } from '#lib/text'
import { effectOfName } from '#lib/tools'

const USER = '+'
/** No percent-encoded id begins with it. */
const MARKED = '#'

/**
 * Turns as one text: `;` between turns, `,` between a turn's place and its calls, a space between the words of a call, `+` after a
 * place that a user message follows, and before all turns if one comes first; names are percent-encoded, and where neither a flag nor an id follows, nothing does. It has neither quotes nor names of members, since it goes through several writers with every request.
 * A call that has a result ends in `#` and the mark of its id, by which `resultsIn` finds the call of a reply.
 * `nameOf` gives the stored form of tool names and ids.
 */
export const turnText = (turns: readonly Turn[], nameOf: (name: string) => string, user_first = false): string => {
  let text = user_first ? USER : ''
  for (const [index, { calls, item, user_after }] of turns.entries()) {
    text += index === 0 ? item : `;${item}`
    if (user_after) text += USER
    for (const call of calls) text += `,${callText(call, item, nameOf)}`
  }
  return text
}

/** The inverse of `turnText`, but for ids that it leaves out. */
export const turnsIn = (text: string): readonly Turn[] => {
  const turns = isUserFirstIn(text) ? text.slice(USER.length) : text
  return turns === '' ? [] : turns.split(';').map(turnIn)
}

/** Whether a user message comes before the turns. */
export const isUserFirstIn = (text: string): boolean => text.startsWith(USER)

const callText = (
  { key, tool, id, result, error, passed, effect }: ToolCall,
  item: number,
  nameOf: (name: string) => string,
): string => {
  const text = `${word(nameOf(tool))} ${key} ${result ?? ''}`
  const flags = (error ? FAILED : passed ? PASSED : '') + (effect === effectOfName(tool) ? '' : letterOf(effect))
  // a turn that no body holds is known by its ids when it is answered again
  if (item < 0 && id !== null) return `${text} ${flags} ${word(nameOf(id))}`
  if (id !== null && (error || passed || result !== null)) return `${text} ${flags} ${MARKED}${markOf(id)}`
  return flags === '' ? text : `${text} ${flags}`
}

/** Shortens the id of a call, as an id takes a third of a stored call. Ids are told apart within one run. */
export const markOf = (id: string): string => crc32(cutText(id, ID_CHARS)).toString(36)

/** So much of an id is on record of the reply that it comes from. */
const ID_CHARS = 256

/** The result of a tool call that a request holds. */
export interface SeenResult {
  readonly tool: string
  /** Mark of the call's id; null where the client gives none. */
  readonly mark: string | null
  readonly error: boolean
}

/** Results in the turns of a stored text, in its order. */
export const resultsIn = (text: string): readonly SeenResult[] => {
  const results: SeenResult[] = []
  for (const turn of text.split(';')) {
    const [, ...calls] = turn.split(',')
    for (const call of calls) {
      const { tool, id, result, error, passed } = callIn(call)
      if (result !== null || error || passed) results.push({ tool, mark: markIn(call, id), error })
    }
  }
  return results
}

/** The mark of a stored call whose id may be stored too. */
const markIn = (call: string, id: string | null): string | null => {
  const [, , , , last = ''] = call.split(' ')
  if (last.startsWith(MARKED)) return last.slice(MARKED.length)
  return id === null ? null : markOf(id)
}

const turnIn = (text: string): Turn => {
  const [place = '', ...calls] = text.split(',')
  return { calls: calls.map(callIn), item: Number.parseInt(place, 10), user_after: place.endsWith(USER) }
}

const callIn = (text: string): ToolCall => {
  const [name = '', key = '', result = '', flags = '', id] = text.split(' ')
  const tool = decodeURIComponent(name)
  return {
    key,
    tool,
    id: id === undefined || id.startsWith(MARKED) ? null : decodeURIComponent(id),
    result: result === '' ? null : result,
    error: flags.startsWith(FAILED),
    passed: flags.startsWith(PASSED),
    effect: effectIn(flags, tool),
  }
}

const FAILED = '1'
const PASSED = 'p'
/** An effect that follows from the arguments; one that follows from the name is left out. */
const letters = { edit: 'e', act: 'a', look: 'l', wait: 'w' } as const
const NO_EFFECT = 'n'

const letterOf = (effect: ToolEffect | null): string => (effect === null ? NO_EFFECT : letters[effect])

/** Without a letter the effect follows from the name. */
const effectIn = (flags: string, tool: string): ToolEffect | null => {
  const letter = flags.replace(/^[1p]/, '')
  if (letter === '') return effectOfName(tool)
  return effects.find((effect) => letters[effect] === letter) ?? null
}

const effects = ['edit', 'act', 'look', 'wait'] as const

const PLAIN = /^[\w.-]*$/

const word = (name: string): string => (PLAIN.test(name) ? name : encodeURIComponent(name.toWellFormed()))
