/** What a member of a registered thing must be. `prompt`: a function that is not waited for. */
type ExpectedType = 'text' | 'number' | 'list' | 'object' | 'function' | 'prompt'

/** Members by name; a name with `?` may be absent. */
export type Shape = Readonly<Record<string, ExpectedType>>

const words: Readonly<Record<ExpectedType, string>> = {
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
    throw new TypeError(`The ${kind} is ${describe(entry)}; it is an object.`)
  const members = entry as Readonly<Record<string, unknown>>
  if (typeof members.id !== 'string' || members.id === '')
    throw new TypeError(`The id of the ${kind} is ${describe(members.id)}; it is a text that is not empty.`)
  for (const [name, expected] of Object.entries(shape)) {
    const value = members[name.replace('?', '')]
    if (!(value === undefined && name.endsWith('?')) && !isOfType(value, expected))
      throw new TypeError(
        `"${name.replace('?', '')}" of ${kind} "${members.id}" is ${describe(value)}; it is ${words[expected]}.`,
      )
  }
}

const isOfType = (value: unknown, expected: ExpectedType): boolean => {
  switch (expected) {
    case 'text':
      return typeof value === 'string'
    case 'list':
      return Array.isArray(value)
    case 'object':
      return typeof value === 'object' && value !== null
    case 'prompt':
      return typeof value === 'function' && !isAsync(value)
    default:
      return typeof value === expected
  }
}

const isAsync = (value: unknown): boolean => Object.prototype.toString.call(value) === '[object AsyncFunction]'

const describe = (value: unknown): string => {
  if (value === null || value === undefined || value === '') return value === '' ? 'empty' : String(value)
  if (Array.isArray(value)) return 'a list'
  return isAsync(value) ? 'async' : `of type ${typeof value}`
}
