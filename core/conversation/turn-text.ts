import type { ToolCall, Turn } from '../call.ts'

const USER_AFTER = '+'

/**
 * Turns as one text: `;` between turns, `,` between a turn's place and its calls, a space between the words of a call; names are
 * percent-encoded. It has neither quotes nor names of members, since it goes through several writers with every request.
 * `nameOf` tells how names of tools and ids are kept.
 */
export const turnText = (turns: readonly Turn[], nameOf: (name: string) => string): string => {
  let text = ''
  for (const { calls, item, user_after } of turns) {
    text += text === '' ? item : `;${item}`
    if (user_after) text += USER_AFTER
    for (const call of calls) text += `,${callText(call, item, nameOf)}`
  }
  return text
}

/** The inverse of `turnText`, but for ids that it leaves out. */
export const turnsIn = (text: string): readonly Turn[] => text.split(';').map(turnIn)

const callText = (
  { key, tool, id, result, error }: ToolCall,
  item: number,
  nameOf: (name: string) => string,
): string => {
  const text = `${word(nameOf(tool))} ${key} ${result ?? ''} ${error ? 1 : 0}`
  // a turn that no body holds is known by its ids when it is answered again
  return item < 0 && id !== null ? `${text} ${word(nameOf(id))}` : text
}

const turnIn = (text: string): Turn => {
  const [place = '', ...calls] = text.split(',')
  return { calls: calls.map(callIn), item: Number.parseInt(place, 10), user_after: place.endsWith(USER_AFTER) }
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
