import { escapeInvisible } from '#lib/html'
import { isJsonObject, type JsonObject, pointerKeys } from '#lib/json'
import { isPlainArgument } from './drafted-tool.ts'
import { partAt, propertiesOf, requiredNames } from './schema-parts.ts'

/** Arguments of a call. */
export type Sample = Readonly<Record<string, unknown>>

const MAX_DEPTH = 6
const MAX_CHARS = 100
const MAX_MEMBERS = 20

/** Arguments as short as the schema of a tool lets them be; undefined where none can be made. */
export const sampleOf = (schema: unknown): Sample | undefined => {
  const value = objectOf(isJsonObject(schema) ? schema : {}, MAX_DEPTH)
  return isJsonObject(value) ? value : undefined
}

const exampleOf = (schema: unknown, left: number): unknown => {
  if (!isJsonObject(schema) || left === 0) return 'example'
  if (schema.const !== undefined) return plain(schema.const)
  if (Array.isArray(schema.enum)) return plain(schema.enum[0])
  const [branch] = [schema.anyOf, schema.oneOf].flatMap((some) => (Array.isArray(some) ? some : []))
  if (branch !== undefined) return exampleOf(branch, left - 1)
  const [type] = [schema.type].flat()
  switch (type) {
    case 'object':
      return objectOf(schema, left)
    case 'array':
      return Number(schema.minItems) > 0 ? [exampleOf(schema.items, left - 1)] : []
    case 'integer':
    case 'number':
      return typeof schema.minimum === 'number' ? schema.minimum : 1
    case 'boolean':
      return false
    case 'null':
      return null
    default:
      return 'example'
  }
}

/** What a schema lists may be anything; what is long, nested or hides something is left to the server. */
const plain = (value: unknown): unknown =>
  isPlainText(value) || typeof value === 'number' || typeof value === 'boolean' ? value : 'example'

const isPlainText = (value: unknown): boolean =>
  typeof value === 'string' && value.length <= MAX_CHARS && !value.includes('\n') && escapeInvisible(value) === value

const objectOf = (schema: JsonObject, left: number): unknown => {
  const properties = propertiesOf(schema) ?? {}
  const names = requiredNames(schema)
  if (names.length > MAX_MEMBERS || !names.every(isPlainArgument)) return undefined
  return Object.fromEntries(
    names.map((name) => [name, exampleOf(Object.hasOwn(properties, name) ? properties[name] : undefined, left - 1)]),
  )
}

/** The arguments with a value at a place; lists and objects on the way there are made as the schema has them. */
export const withValue = (schema: unknown, sample: Sample, pointer: string, value: unknown): Sample =>
  placed(schema, sample, pointerKeys(pointer), '', value) as Sample

const placed = (schema: unknown, at: unknown, keys: readonly string[], pointer: string, value: unknown): unknown => {
  const [key, ...rest] = keys
  if (key === undefined) return value
  const below = `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
  const part = partAt(schema, pointer)?.schema
  const isList = key === '*' && (part?.type === 'array' || part?.items !== undefined)
  if (isList) return [placed(schema, Array.isArray(at) ? at[0] : undefined, rest, below, value)]
  const name = key === '*' ? 'example' : key
  const made = isJsonObject(at) ? at : objectOf(part ?? {}, MAX_DEPTH)
  const own = isJsonObject(made) ? made : {}
  const inner = Object.hasOwn(own, name) ? own[name] : undefined
  return Object.fromEntries([
    ...Object.entries(own).filter(([one]) => one !== name),
    [name, placed(schema, inner, rest, below, value)],
  ])
}
