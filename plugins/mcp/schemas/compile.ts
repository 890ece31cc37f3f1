import type { Ajv, Options, ValidateFunction } from 'ajv'
import { type Dialect, dialectOf } from './dialect.ts'
import { type SchemaError, schemaError, schemaErrors } from './error-text.ts'
import { type Fuel, FuelSpent, MAX_FUEL, refuel } from './fuel.ts'
import { boundKeywords } from './keywords.ts'
import { patternMaker } from './patterns.ts'
import { plainSchema } from './plain.ts'
import { sizeFault } from './size.ts'

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
    const all = checker(validate, fuel)
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

const checker =
  (validate: ValidateFunction, fuel: Fuel) =>
  (value: unknown): readonly SchemaFault[] => {
    refuel(fuel, value)
    try {
      if (validate(value)) return NOTHING
      const [first, ...more] = validate.errors ?? []
      const told = first === undefined || more.length === 0 ? [schemaError(first)] : schemaErrors([first, ...more])
      return told.map((one) => ({ ...one, certain: true }))
    } catch (error) {
      const why = error instanceof FuelSpent ? 'takes too long to validate' : 'cannot be validated'
      return [{ pointer: '', message: why, certain: false }]
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
  const kept = judges.get(dialect) ?? classOf(dialect).then((ajv) => new ajv(options))
  judges.set(dialect, kept)
  const judge = await kept
  return judge.validateSchema(schema as object) === true ? undefined : judge.errorsText(judge.errors, { dataVar: '' })
}
