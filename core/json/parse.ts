import { stringEnd } from '../frame/token.ts'

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
  const mark = crypto.randomUUID()
  const names = new Map<string, string>()
  const value = parse(withMarks(text, mark, names), reviver)
  const known = new Map([...names].map(([written, marked]) => [marked, JSON.parse(written) as string]))
  return renamed(value, (name) => (name.startsWith(mark) ? known.get(name) : undefined))
}

const parse = (text: string, reviver?: Reviver): unknown =>
  reviver === undefined ? JSON.parse(text) : JSON.parse(text, reviver as (name: string, value: unknown) => unknown)

/** JSON in which names without escapes stand for those with. `names` gets them, as they are written. */
const withMarks = (text: string, mark: string, names: Map<string, string>): string => {
  const pieces: string[] = []
  let from = 0
  for (let open = text.indexOf('"'); open !== -1; ) {
    const end = stringEnd(text, open)
    const written = text.slice(open, end)
    COLON.lastIndex = end
    if (written.includes('\\') && COLON.test(text)) {
      const marked = names.get(written) ?? mark + names.size
      names.set(written, marked)
      pieces.push(text.slice(from, open), `"${marked}"`)
      from = end
    }
    open = text.indexOf('"', end)
  }
  return pieces.join('') + text.slice(from)
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
