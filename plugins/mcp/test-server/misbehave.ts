/** What a server can do wrong on purpose. */
export const misbehaviours = {
  noise: 'says what is no message before each of its messages',
  'late-tool': 'lists one tool more from the second list on',
  'endless-cursor': 'has always one more page of tools',
  'duplicate-json': 'names a member twice in lists of tools and results of calls',
  drop: 'goes away in place of the answer to a call',
} as const

export type Misbehaviour = keyof typeof misbehaviours

/** True for the name of something that a server can do wrong. */
export const isMisbehaviour = (name: string): name is Misbehaviour => Object.hasOwn(misbehaviours, name)

/** A result whose first member is there once more, with another value. */
export const doubled = (result: object): string => {
  const [name] = Object.keys(result)
  const json = JSON.stringify(result)
  return name === undefined ? json : `${json.slice(0, -1)},${JSON.stringify(name)}:[]}`
}
