import type { Ajv, KeywordCxt, Options, ValidateFunction } from 'ajv'
import { isJsonObject } from '#lib/json'
import { canonicalJson } from '#lib/trace'
import { namesIn, type SchemaError, schemaError, schemaErrors } from './error-text.ts'
import { burn, type Fuel, FuelSpent, MAX_FUEL, refuel } from './fuel.ts'
import { patternMaker } from './patterns.ts'
import { type Holds, KEYWORDS } from './vocabulary.ts'

/** The two versions of JSON Schema that servers write. */
type Dialect = '2020-12' | 'draft-07'

const DIALECTS: ReadonlyMap<string, Dialect> = new Map([
  ['https://json-schema.org/draft/2020-12/schema', '2020-12'],
  ['http://json-schema.org/draft-07/schema', 'draft-07'],
  ['https://json-schema.org/draft-07/schema', 'draft-07'],
])

/** The dialect a schema names in `$schema`, 2020-12 if it names none; undefined for one that is not understood. */
const dialectOf = (schema: unknown): Dialect | undefined => {
  const named = typeof schema === 'object' && schema !== null ? (schema as { $schema?: unknown }).$schema : undefined
  if (named === undefined) return '2020-12'
  return typeof named === 'string' ? DIALECTS.get(named.replace(/#$/, '')) : undefined
}

/** What a value has against a schema. */
export interface SchemaFault extends SchemaError {
  /** False: the validation was given up. */
  readonly certain: boolean
}

/** A schema ready for use, or why it cannot be used. */
export type CompiledSchema =
  | {
      readonly usable: true
      /** The first fault; undefined for a value that fits. Never throws. */
      readonly check: (value: unknown) => SchemaFault | undefined
      /** All faults where `every` was asked for, else the first. Never throws. */
      readonly every: (value: unknown) => readonly SchemaFault[]
      /** Patterns that cannot be run in linear time, and so are taken to match. */
      readonly skipped: readonly string[]
    }
  | { readonly usable: false; readonly reason: string }

/**
 * Compiles a schema from outside, whatever it holds: nothing is fetched, and what it can make a validation cost is bounded. `every`: a
 * validation continues after the first fault. Never throws.
 */
export const compileSchema = async (schema: unknown, { every = false } = {}): Promise<CompiledSchema> => {
  const dialect = dialectOf(schema)
  if (dialect === undefined) return { usable: false, reason: 'dialect not supported' }
  const reason = sizeFault(schema)
  if (reason !== undefined) return { usable: false, reason }
  const fuel: Fuel = { left: MAX_FUEL, value: undefined }
  const skipped: string[] = []
  try {
    const described = await describe(dialect, schema)
    if (described !== undefined) return { usable: false, reason: `is no JSON Schema: ${described}` }
    const validate = (await makeAjv(dialect, fuel, skipped, every)).compile(plainSchema(schema) as object)
    const all = checker(validate, fuel, schema)
    return { usable: true, check: (value) => all(value)[0], every: all, skipped }
  } catch (error) {
    return { usable: false, reason: reasonOf(error) }
  }
}

const reasonOf = (error: unknown): string => {
  if (error instanceof Error && 'missingRef' in error) return 'refers to a schema that it does not hold'
  return `cannot be compiled: ${error instanceof Error ? error.message : String(error)}`
}

const NOTHING: readonly SchemaFault[] = []

const checker = (validate: ValidateFunction, fuel: Fuel, schema: unknown) => {
  let held: ReadonlySet<string> | undefined
  const names = () => (held ??= namesIn(schema))
  return (value: unknown): readonly SchemaFault[] => {
    refuel(fuel, value)
    try {
      if (validate(value)) return NOTHING
      const [first, ...more] = validate.errors ?? []
      const validated = { value, names }
      const reported =
        first === undefined || more.length === 0
          ? [schemaError(first, validated)]
          : schemaErrors([first, ...more], validated)
      return reported.map((one) => ({ ...one, certain: true }))
    } catch (error) {
      const why = error instanceof FuelSpent ? 'takes too long to validate' : 'cannot be validated'
      const fault = { pointer: '', message: why }
      return [{ ...fault, recorded: fault, certain: false }]
    }
  }
}

const options: Options = {
  strict: false,
  logger: false,
  allErrors: false,
  validateFormats: false,
  // A member that every object inherits is not one that was sent.
  ownProperties: true,
  // 0.07 is a multiple of 0.01, whatever doubles make of it.
  multipleOfPrecision: 7,
  // An inlined reference is code for each place that refers, and a name that is asked for is code of its own.
  inlineRefs: false,
  loopRequired: 16,
}

const makeAjv = async (dialect: Dialect, fuel: Fuel, skipped: string[], allErrors: boolean): Promise<Ajv> => {
  const [ajv, { _ }, { RE2JS }] = await Promise.all([classOf(dialect), import('ajv'), import('re2js')])
  const regExp = Object.assign(patternMaker(RE2JS, fuel, skipped), { code: 'linear' })
  // No `process` here: with it, Ajv writes the $id of a schema into its code.
  // Checked before against the dialect by an instance that is kept; here it would be compiled again for each schema.
  // To tidy the code up takes time that grows with the square of its length.
  const made = new ajv({ ...options, allErrors, validateSchema: false, code: { regExp, optimize: false } })
  boundKeywords(made, _, fuel)
  return made
}

const classOf = async (dialect: Dialect): Promise<new (options: Options) => Ajv> =>
  dialect === 'draft-07' ? (await import('ajv')).Ajv : (await import('ajv/dist/2020.js')).Ajv2020

const judges = new Map<Dialect, Promise<Ajv>>()

/** What makes `schema` no schema of its dialect. */
const describe = async (dialect: Dialect, schema: unknown): Promise<string | undefined> => {
  const cached = judges.get(dialect) ?? classOf(dialect).then((ajv) => new ajv(options))
  judges.set(dialect, cached)
  const judge = await cached
  return judge.validateSchema(schema as object) === true ? undefined : judge.errorsText(judge.errors, { dataVar: '' })
}

/** Where schemas stand, in both dialects. */
export const PLACES: ReadonlyMap<string, Holds> = new Map([
  ...KEYWORDS,
  ['additionalItems', 'schema'] as const,
  ['dependencies', 'map'] as const,
])

/**
 * The schema without what the validator has beyond JSON Schema, for which these are words like any other:
 * `$async` would make validations promises, `id` and many a `nullable` would stop it altogether.
 */
const plainSchema = (schema: unknown): unknown => {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return schema
  const { type } = schema as { readonly type?: unknown }
  const isOurs = (name: string, part: unknown): boolean =>
    name !== '$async' && name !== 'id' && (name !== 'nullable' || (part === true && type !== undefined))
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([name, part]) => isOurs(name, part))
      .map(([name, part]) => [name, plainPart(PLACES.get(name), part)]),
  )
}

const plainPart = (holds: Holds | undefined, part: unknown): unknown => {
  if (Array.isArray(part)) return holds === 'schemas' || holds === 'schema' ? part.map(plainSchema) : part
  if (holds === 'schema') return plainSchema(part)
  return holds === 'map' && typeof part === 'object' && part !== null
    ? Object.fromEntries(Object.entries(part).map(([name, inner]) => [name, plainMember(inner)]))
    : part
}

/** Names that one member of `dependencies` needs are said in the way that becomes a loop, not code for each name. */
const plainMember = (inner: unknown): unknown => (Array.isArray(inner) ? { required: inner } : plainSchema(inner))

const MAX_BYTES = 262_144
const MAX_DEPTH = 64
/** Counts nested and adjacent parts, since all of them nest in the generated code: reading it takes quadratic time, and stack. */
const MAX_NESTING = 700
/** Each becomes code, and to make it takes longer the more there is. */
const MAX_OBJECTS = 2000

/** Why a schema is too large to be compiled; undefined for one that is not. Does not recurse. */
const sizeFault = (schema: unknown): string | undefined => {
  if (!isJsonObject(schema)) return 'is no object'
  const waiting: (readonly [part: unknown, depth: number])[] = [[schema, 1]]
  let bytes = 0
  let objects = 0
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [part, depth] = next
    if (depth > MAX_DEPTH) return `nests deeper than ${MAX_DEPTH} levels`
    bytes += ownBytes(part)
    if (bytes > MAX_BYTES) return `has more than ${MAX_BYTES} bytes`
    objects += shareOf(part)
    if (objects > MAX_OBJECTS) return `has more than ${MAX_OBJECTS} objects`
    for (const child of childrenOf(part)) waiting.push([child, depth + 1])
  }
  return nestingOf(schema) > MAX_NESTING
    ? `has more than ${MAX_NESTING} parts beside and within one another`
    : undefined
}

/** Recurses, no deeper than schemas nest. */
const nestingOf = (part: unknown): number => {
  const parts = childrenOf(part).filter((child) => shareOf(child) > 0 || Array.isArray(child))
  return parts.length + parts.reduce<number>((most, child) => Math.max(most, nestingOf(child)), 0)
}

/** A schema that is a boolean becomes code, too, but little. */
const shareOf = (part: unknown): number => (typeof part === 'boolean' ? 1 / 4 : Number(isJsonObject(part)))

const childrenOf = (part: unknown): readonly unknown[] =>
  typeof part === 'object' && part !== null ? Object.values(part) : []

/** Of a scalar, or of a container without what its members hold. */
const ownBytes = (part: unknown): number => {
  if (typeof part === 'string') return Buffer.byteLength(part) + 3
  if (typeof part !== 'object' || part === null) return String(part).length + 1
  if (Array.isArray(part)) return 3
  let bytes = 3
  for (const name of Object.keys(part)) bytes += Buffer.byteLength(name) + 3
  return bytes
}

/** How many evaluations of cheap keywords, or lookups of a name, take the time of one unit of fuel. */
const PER_UNIT = 25
/** Most members that a schema names are not there. */
const ABSENT = 4

/** Units of fuel that some schemas, each evaluated once, take without what their keywords are charged for. Recurses, no deeper than schemas nest. */
const weightOf = (held: unknown): number =>
  (Array.isArray(held) ? held : [held]).reduce<number>((sum, schema) => sum + stepsOf(schema), 0) / PER_UNIT

const stepsOf = (schema: unknown): number => {
  if (!isJsonObject(schema)) return 1
  const { properties } = schema
  const named = isJsonObject(properties) ? Object.values(properties) : []
  return named.reduce<number>((sum, part) => sum + stepsOf(part) / ABSENT, 1 + Object.keys(schema).length)
}

/** Units of fuel to look for so many names. */
const namesWeight = (names: number): number => names / PER_UNIT

/** Units of fuel to compare a value with this one, which may be equal. */
const sizeWeight = (value: unknown): number => {
  let parts = 0
  const waiting = [value]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next !== 'object' || next === null) continue
    const inner: readonly unknown[] = Object.values(next)
    parts += 1 + inner.length
    for (const part of inner) waiting.push(part)
  }
  return parts / PER_UNIT
}

/** Units of fuel that an evaluation takes: by what the keyword holds, or by the value it is asked about and what each part of it takes. */
type Cost =
  | { readonly held: (held: unknown) => number }
  | { readonly value: (value: unknown, each: number) => number; readonly each?: (held: unknown) => number }

const count = (parts: unknown): number =>
  typeof parts === 'object' && parts !== null ? (Array.isArray(parts) ? parts : Object.keys(parts)).length : 1

const perBranch: Cost = { held: (held) => 1 + count(held) / 2 }
const perPart: Cost = { held: (held) => count(held) / 64 }
const perSchema: Cost = { held: weightOf }
const perElement: Cost = { value: (value, each) => count(value) * (1 / 4 + each), each: weightOf }
const perMember: Cost = { value: (value, each) => count(value) * (1 + each), each: weightOf }
const perName: Cost = { held: (held) => namesWeight(count(held)) }
const perCharacter: Cost = { value: (value) => String(value).length / 128 }

/** What hostile schemas can make costly: references that call one another, branches that all fail, lists walked for every part of a schema. */
const COSTS: Readonly<Record<string, Cost>> = {
  $ref: { held: () => 1 },
  $dynamicRef: { held: () => 4 },
  $recursiveRef: { held: () => 4 },
  anyOf: perBranch,
  oneOf: perBranch,
  not: perBranch,
  if: perBranch,
  allOf: perSchema,
  properties: perPart,
  items: perElement,
  additionalItems: perElement,
  prefixItems: perSchema,
  contains: perMember,
  unevaluatedItems: perElement,
  additionalProperties: perMember,
  propertyNames: perMember,
  patternProperties: perMember,
  unevaluatedProperties: perMember,
  maxLength: perCharacter,
  minLength: perCharacter,
  maxProperties: { value: count },
  minProperties: { value: count },
  required: perName,
  const: { held: sizeWeight },
}

/** Bounds what a hostile schema can make a validation cost. */
const boundKeywords = (ajv: Ajv, code: typeof import('ajv')._, fuel: Fuel): void => {
  for (const [keyword, cost] of Object.entries(COSTS)) charge(ajv, keyword, cost, code, fuel)
  const isKnown = ajv.getKeyword('dependentRequired') !== false
  for (const keyword of ['uniqueItems', 'enum', 'dependentRequired']) ajv.removeKeyword(keyword)
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    error: { message: 'must NOT have duplicate items' },
    validate: (enabled: boolean, items: readonly unknown[]) => !enabled || areUnique(items, fuel),
  })
  ajv.addKeyword({
    keyword: 'enum',
    schemaType: 'array',
    error: { message: 'must be equal to one of the allowed values' },
    compile: (allowed: readonly unknown[]) => oneOf(allowed, fuel),
  })
  // draft-07 has it as a part of `dependencies`
  if (!isKnown) return
  ajv.addKeyword({
    keyword: 'dependentRequired',
    type: 'object',
    schemaType: 'object',
    error: { message: 'must have the properties that others of its properties require' },
    validate: (needed: Readonly<Record<string, readonly string[]>>, members: object) =>
      hasNeeded(needed, members, fuel),
  })
}

const charge = (ajv: Ajv, keyword: string, cost: Cost, code: typeof import('ajv')._, fuel: Fuel): void => {
  const rule = ajv.RULES.all[keyword]
  if (typeof rule !== 'object' || !('code' in rule.definition)) return
  const { definition } = rule
  const generate = definition.code
  const step =
    'held' in cost
      ? (units: number) => burn(fuel, units)
      : (each: number, value: unknown) => burn(fuel, cost.value(value, each))
  rule.definition = {
    ...definition,
    code: (cxt: KeywordCxt, type?: string) => {
      const spend = cxt.gen.scopeValue('func', { ref: step })
      const units = 'held' in cost ? cost.held(cxt.schema) : (cost.each?.(cxt.schema) ?? 0)
      if (!('held' in cost)) cxt.gen.code(code`${spend}(${units}, ${cxt.data})`)
      else if (units > 0) cxt.gen.code(code`${spend}(${units})`)
      generate(cxt, type)
    },
  }
}

/** The canonical text of a value, paid for by its length. */
const textOf = (value: unknown, fuel: Fuel): string => {
  const text = canonicalJson(value)
  burn(fuel, 2 + text.length / 64)
  return text
}

const areUnique = (items: readonly unknown[], fuel: Fuel): boolean =>
  new Set(items.map((item) => textOf(item, fuel))).size === items.length

const isContainer = (value: unknown): boolean => typeof value === 'object' && value !== null

/** Looks a value up in one step, however many are allowed. */
const oneOf = (allowed: readonly unknown[], fuel: Fuel): ((value: unknown) => boolean) => {
  const scalars = new Set(allowed.filter((value) => !isContainer(value)))
  const containers = new Set(allowed.filter(isContainer).map(canonicalJson))
  return (value) =>
    isContainer(value) ? containers.size > 0 && containers.has(textOf(value, fuel)) : scalars.has(value)
}

const hasNeeded = (needed: Readonly<Record<string, readonly string[]>>, members: object, fuel: Fuel): boolean =>
  Object.entries(needed).every(([name, others]) => {
    burn(fuel, namesWeight(others.length))
    return !Object.hasOwn(members, name) || others.every((other) => Object.hasOwn(members, other))
  })
