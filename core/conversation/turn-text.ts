import type { ToolCall, Turn } from '../call.ts'

const USER = '+'

/**
 * Turns as one text: `;` between turns, `,` between a turn's place and its calls, a space between the words of a call, `+` behind a
 * place that a user message follows, and before all turns if one comes first; names are percent-encoded, and where no failure and no id follow, nothing does. It has neither quotes nor names of members, since it goes through several writers with every request.
 * `nameOf` tells how names of tools and ids are kept.
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
  { key, tool, id, result, error }: ToolCall,
  item: number,
  nameOf: (name: string) => string,
): string => {
  const text = `${word(nameOf(tool))} ${key} ${result ?? ''}`
  // a turn that no body holds is known by its ids when it is answered again
  if (item < 0 && id !== null) return `${text} ${error ? 1 : ''} ${word(nameOf(id))}`
  return error ? `${text} 1` : text
}

const turnIn = (text: string): Turn => {
  const [place = '', ...calls] = text.split(',')
  return { calls: calls.map(callIn), item: Number.parseInt(place, 10), user_after: place.endsWith(USER) }
}

const callIn = (text: string): ToolCall => {
  const [tool = '', key = '', result = '', error, id] = text.split(' ')
  return {
    key,
    tool: decodeURIComponent(tool),
    id: id === undefined ? null : decodeURIComponent(id),
    result: result === '' ? null : result,
    error: error === '1',
  }
}

const PLAIN = /^[\w.-]*$/

const word = (name: string): string => (PLAIN.test(name) ? name : encodeURIComponent(name.toWellFormed()))
