/** What a member of a registered thing must be. `prompt`: a function that is not waited for. */
type Wanted = 'text' | 'number' | 'list' | 'object' | 'function' | 'prompt'

/** Members by name; a name with `?` may be absent. */
export type Shape = Readonly<Record<string, Wanted>>

const words: Readonly<Record<Wanted, string>> = {
  text: 'a text',
  number: 'a number',
  list: 'a list',
  object: 'an object',
  function: 'a function',
  prompt: 'a function that answers at once',
}

/**
 * Throws TypeError where a thing of this kind lacks a member, or has it of another type: who runs a file has not had its types checked.
 * The message names kind, id, member, what it is and what it must be.
 */
export const checkShape = (kind: string, shape: Shape, entry: unknown): void => {
  if (typeof entry !== 'object' || entry === null)
    throw new TypeError(`The ${kind} is ${told(entry)}; it is an object.`)
  const members = entry as Readonly<Record<string, unknown>>
  if (typeof members.id !== 'string' || members.id === '')
    throw new TypeError(`The id of the ${kind} is ${told(members.id)}; it is a text that is not empty.`)
  for (const [name, wanted] of Object.entries(shape)) {
    const value = members[name.replace('?', '')]
    if (!(value === undefined && name.endsWith('?')) && !isWanted(value, wanted))
      throw new TypeError(
        `"${name.replace('?', '')}" of ${kind} "${members.id}" is ${told(value)}; it is ${words[wanted]}.`,
      )
  }
}

const isWanted = (value: unknown, wanted: Wanted): boolean => {
  switch (wanted) {
    case 'text':
      return typeof value === 'string'
    case 'list':
      return Array.isArray(value)
    case 'object':
      return typeof value === 'object' && value !== null
    case 'prompt':
      return typeof value === 'function' && !isAsync(value)
    default:
      return typeof value === wanted
  }
}

const isAsync = (value: unknown): boolean => Object.prototype.toString.call(value) === '[object AsyncFunction]'

const told = (value: unknown): string => {
  if (value === null || value === undefined || value === '') return value === '' ? 'empty' : String(value)
  if (Array.isArray(value)) return 'a list'
  return isAsync(value) ? 'async' : `of type ${typeof value}`
}
