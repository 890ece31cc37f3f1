import { argumentText, calledTool } from 'guard-gateway/lib/request-reader'

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
export const targetOf = (tool: string, args: unknown): string | undefined => {
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
