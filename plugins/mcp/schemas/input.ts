import { isJsonObject, pointerKeys } from '#lib/json'
import { type CompiledSchema, compileSchema, PLACES, type SchemaFault } from './compile.ts'

/** What a tool says of its arguments, ready for use, or why it cannot be used. */
export type CompiledInput =
  | {
      readonly usable: true
      /** The first fault; undefined for arguments that fit, `partial` if not by every letter of the schema. Never throws. */
      readonly check: (args: unknown) => SchemaFault | 'partial' | undefined
      /** Every fault of arguments that do not fit, at least one. Never rejects. */
      readonly faults: (args: unknown) => Promise<readonly SchemaFault[]>
    }
  | { readonly usable: false; readonly reason: string }

/**
 * Compiles the `inputSchema` of a tool. Arguments fit that meet it as it is written, or that meet it when its server fills in the
 * defaults that the schema itself names.
 */
export const compileInput = async (schema: unknown): Promise<CompiledInput> => {
  const strict = await compileSchema(schema)
  if (!strict.usable) return strict
  const filling = withoutDefaulted(schema)
  const lax = filling === schema ? strict : await compileSchema(filling)
  const last = lax.usable ? lax : strict
  let all: Promise<CompiledSchema> | undefined
  return {
    usable: true,
    check(args) {
      const fault = strict.check(args)
      const passed = strict.skipped.length > 0 ? 'partial' : undefined
      if (fault === undefined) return passed
      return last === strict ? fault : (last.check(args) ?? 'partial')
    },
    async faults(args) {
      const first = last.check(args)
      if (first?.certain !== true) return first === undefined ? [] : [first]
      all ??= compileSchema(last === strict ? schema : filling, { every: true })
      const compiled = await all
      const found = compiled.usable ? compiled.every(args) : []
      return found.length > 0 && found.every(({ certain }) => certain) ? found : [first]
    },
  }
}

type Names = ReadonlySet<string>
type Schema = Readonly<Record<string, unknown>>

const NONE: Names = new Set()

/** How many references are followed one after the other. */
const MAX_REFERENCES = 16

/**
 * The schema with no member required that has a `default` of its own: its server fills that in. Generators that describe what comes
 * out of a parser, not what goes in, list such members under `required`. The same object if there are none. What is under `not`
 * and `if` is left alone, where less to require would be more to refuse.
 */
const withoutDefaulted = (schema: unknown): unknown => relaxed(schema, NONE, schema)

const relaxed = (schema: unknown, outer: Names, root: unknown): unknown => {
  if (!isJsonObject(schema)) return schema
  const filled = new Set([...outer, ...defaultedIn(schema, root, MAX_REFERENCES)])
  let isSame = true
  const entries = Object.entries(schema).map(([keyword, part]) => {
    const made = part === undefined ? part : partOf(keyword, part, filled, root)
    isSame &&= made === part
    return [keyword, made] as const
  })
  return isSame ? schema : Object.fromEntries(entries)
}

/** Keywords about the value that the schema itself is about. */
const SAME_VALUE: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'then', 'else', 'dependentSchemas'])
/** Where a weaker schema is a stricter one. */
const TURNED: ReadonlySet<string> = new Set(['not', 'if'])

const partOf = (keyword: string, part: unknown, filled: Names, root: unknown): unknown => {
  if (keyword === 'required') return needed(part, filled)
  if (keyword === 'dependentRequired') return eachOf(part, (names) => needed(names, filled))
  if (keyword === 'dependencies')
    return eachOf(part, (one) => (Array.isArray(one) ? needed(one, filled) : relaxed(one, filled, root)))
  const holds = PLACES.get(keyword) ?? 'value'
  if (holds === 'value' || TURNED.has(keyword)) return part
  const outer = SAME_VALUE.has(keyword) ? filled : NONE
  const next = (one: unknown): unknown => relaxed(one, outer, root)
  if (Array.isArray(part)) return listOf(part, next)
  return holds === 'map' ? eachOf(part, next) : next(part)
}

const needed = (names: unknown, filled: Names): unknown =>
  Array.isArray(names) && names.some((name) => filled.has(name)) ? names.filter((name) => !filled.has(name)) : names

const listOf = (parts: readonly unknown[], next: (part: unknown) => unknown): readonly unknown[] => {
  const made = parts.map(next)
  return made.every((part, index) => part === parts[index]) ? parts : made
}

const eachOf = (map: unknown, next: (part: unknown) => unknown): unknown => {
  if (!isJsonObject(map)) return map
  const made = Object.entries(map).map(([name, part]) => [name, next(part)] as const)
  return made.every(([name, part]) => part === map[name]) ? map : Object.fromEntries(made)
}

/** The members that a schema gives a default, in itself, in its parts that all hold, or after its reference. */
const defaultedIn = (schema: Schema, root: unknown, left: number): readonly string[] => {
  const { properties, allOf, $ref } = schema
  const own = isJsonObject(properties)
    ? Object.entries(properties).flatMap(([name, part]) => (hasDefault(part, root, left) ? [name] : []))
    : []
  const parts = Array.isArray(allOf) ? allOf : []
  const target = left > 0 && $ref !== undefined ? targetOf($ref, root) : undefined
  return [
    ...own,
    ...[...parts, target].flatMap((part) => (left > 0 && isJsonObject(part) ? defaultedIn(part, root, left - 1) : [])),
  ]
}

const hasDefault = (part: unknown, root: unknown, left: number): boolean => {
  if (!isJsonObject(part)) return false
  if (Object.hasOwn(part, 'default')) return true
  if (left === 0) return false
  const parts = Array.isArray(part.allOf) ? part.allOf : []
  const target = part.$ref === undefined ? undefined : targetOf(part.$ref, root)
  return [...parts, target].some((one) => hasDefault(one, root, left - 1))
}

/** What a reference within the schema leads to; undefined for any other. */
const targetOf = (reference: unknown, root: unknown): unknown => {
  if (reference === '#') return root
  if (typeof reference !== 'string' || !reference.startsWith('#/')) return undefined
  let target: unknown = root
  for (const key of pointerKeys(decoded(reference.slice(1)))) {
    if (typeof target !== 'object' || target === null || !Object.hasOwn(target, key)) return undefined
    target = (target as Schema)[key]
  }
  return target
}

const decoded = (pointer: string): string => {
  try {
    return decodeURIComponent(pointer)
  } catch {
    return pointer
  }
}
