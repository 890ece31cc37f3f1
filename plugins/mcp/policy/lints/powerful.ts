import { isJsonObject, pointerPart } from 'guard-gateway/lib/json'

/** Words in the names of arguments that lead out of the conversation: to files, hosts, programs, or text that is run. */
const POWERFUL = new Set(
  `path paths pathname file files filename filenames filepath filepaths dir dirs dirname directory directories folder folders root cwd
  workdir workspace source destination dest output outfile outputs url urls uri uris href link links endpoint host hosts hostname origin
  webhook callback proxy command commands cmd cmds shell exec executable binary program interpreter args argv arguments env environ
  environment script scripts code function eval expression expressions expr sql query queries statement statements`.split(
    /\s+/,
  ),
)

const isPowerful = (name: string): boolean =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .some((word) => POWERFUL.has(word))

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
