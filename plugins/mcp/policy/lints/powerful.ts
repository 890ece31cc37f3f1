import { isJsonObject, pointerPart } from '#lib/json'

/** What an argument leads to, as its name says. */
export type Reach = 'file' | 'address' | 'host' | 'command' | 'program' | 'code' | 'query'

/** Words in the names of arguments that lead out of the conversation: to files, hosts, programs, or text that is run. */
const WORDS: Readonly<Record<Reach, string>> = {
  file: `path paths pathname file files filename filenames filepath filepaths dir dirs dirname directory directories folder folders root
    cwd workdir workspace source destination dest output outfile outputs`,
  address: 'url urls uri uris href link links endpoint webhook callback',
  host: 'host hosts hostname origin proxy',
  command: 'command commands cmd cmds',
  program: 'shell exec executable binary program interpreter args argv arguments env environ environment',
  code: 'script scripts code function eval expression expressions expr',
  query: 'sql query queries statement statements',
}

const REACHES: ReadonlyMap<string, Reach> = new Map(
  (Object.entries(WORDS) as [Reach, string][]).flatMap(([reach, words]) =>
    words.split(/\s+/).map((word) => [word, reach] as const),
  ),
)

/** The words of a name, in lower case: those of `filePath`, `file_path` and `file-path` are the same. */
export const wordsOf = (name: string): readonly string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== '')

/** Everything that the words of a name lead to, in their order. */
export const reachesOf = (name: string): readonly Reach[] => wordsOf(name).flatMap((word) => REACHES.get(word) ?? [])

const isPowerful = (name: string): boolean => reachesOf(name).length > 0

const MAX_DEPTH = 6

/** The arguments of a tool whose names say that they reach out, as pointers, those in objects and lists too. */
export const powerfulArguments = (schema: unknown): readonly string[] => [...new Set(within(schema, '', MAX_DEPTH))]

const within = (schema: unknown, at: string, left: number): readonly string[] => {
  if (!isJsonObject(schema) || left === 0) return []
  const { properties, items, additionalProperties, anyOf, oneOf, allOf } = schema
  const named = isJsonObject(properties)
    ? Object.entries(properties).flatMap(([name, part]) => argument(name, part, `${at}/${pointerPart(name)}`, left))
    : []
  const elements = [items, additionalProperties].flatMap((part) => within(part, `${at}/*`, left - 1))
  const branches = [anyOf, oneOf, allOf].flatMap((parts) =>
    Array.isArray(parts) ? parts.flatMap((part) => within(part, at, left - 1)) : [],
  )
  return [...named, ...elements, ...branches]
}

const argument = (name: string, part: unknown, pointer: string, left: number): readonly string[] =>
  isPowerful(name) && mayHoldText(part) ? [pointer] : within(part, pointer, left - 1)

/** Numbers, switches and choices reach nowhere. */
const mayHoldText = (schema: unknown): boolean => {
  if (!isJsonObject(schema)) return schema !== false
  const { type, enum: choice, const: only } = schema
  if (choice !== undefined || only !== undefined) return false
  const types = [type].flat()
  return !(types.length > 0 && types.every((one) => /^(?:boolean|integer|number|null)$/.test(String(one))))
}
