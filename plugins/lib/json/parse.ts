import { stringEnd } from './scan.ts'

/** What `JSON.parse` calls for each value; here a member's name may be another one. */
export type Reviver = (name: string, value: unknown, context: { readonly source?: string }) => unknown

/** The last escape in a name of a member, to the colon. */
const ESCAPED_NAME = /\\(?:u[0-9a-fA-F]{4}|[^u])[^"\\]*"\s*:/
const COLON = /\s*:/y

/**
 * Parses JSON, each member by the name that is written. `JSON.parse` of V8 takes a name with an escape in it, such as `"pat\u0068"`,
 * for another one that it read in an earlier text, such as `pat\` (nodejs/node#63785): who sends both could hide an argument.
 * Looking for such names costs as much as parsing: it is done where names decide what is allowed, not in bodies that are only watched for loops.
 * Throws SyntaxError.
 */
export const parseJson = (text: string, reviver?: Reviver): unknown => {
  if (!text.includes('\\') || !ESCAPED_NAME.test(text)) return parse(text, reviver)
  JSON.parse(text)
  const { text: marked, names, mark } = withoutEscapes(text)
  const value = parse(marked, reviver)
  return names.size === 0 ? value : renamed(value, (name) => (name.startsWith(mark) ? names.get(name) : undefined))
}

const parse = (text: string, reviver?: Reviver): unknown =>
  reviver === undefined ? JSON.parse(text) : JSON.parse(text, reviver as (name: string, value: unknown) => unknown)

/** A name that can be in JSON as it is. */
const PLAIN = /^[^"\\\p{Cc}]*$/u

/** JSON whose names hold no escapes. A placeholder that starts with `mark` replaces each name that needs one. */
const withoutEscapes = (text: string) => {
  const mark = crypto.randomUUID()
  const marks = new Map<string, string>()
  const names = new Map<string, string>()
  const standIn = (name: string): string => {
    if (PLAIN.test(name)) return name
    const known = marks.get(name) ?? mark + marks.size
    marks.set(name, known)
    names.set(known, name)
    return known
  }
  const pieces: string[] = []
  let from = 0
  for (let open = text.indexOf('"'); open !== -1; ) {
    const end = stringEnd(text, open)
    const written = text.slice(open, end)
    COLON.lastIndex = end
    if (written.includes('\\') && COLON.test(text)) {
      pieces.push(text.slice(from, open), `"${standIn(JSON.parse(written) as string)}"`)
      from = end
    }
    open = text.indexOf('"', end)
  }
  return { text: pieces.join('') + text.slice(from), names, mark }
}

/** The value with the names that some in it stand for. Does not recurse. */
const renamed = (value: unknown, nameOf: (name: string) => string | undefined): unknown => {
  const root = [value]
  const waiting: object[] = [root]
  for (let container = waiting.pop(); container !== undefined; container = waiting.pop()) {
    for (const [name, member] of Object.entries(container)) {
      if (typeof member !== 'object' || member === null) continue
      const fresh = withNames(member, nameOf)
      if (fresh !== member) Reflect.set(container, name, fresh)
      waiting.push(fresh)
    }
  }
  return root[0]
}

const withNames = (container: object, nameOf: (name: string) => string | undefined): object =>
  Object.keys(container).some((name) => nameOf(name) !== undefined)
    ? Object.fromEntries(Object.entries(container).map(([name, member]) => [nameOf(name) ?? name, member]))
    : container
