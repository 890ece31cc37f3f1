import type { ValidateFunction } from 'ajv'
import { configSchema } from './schema.ts'

/** Options of the compiler. The type of our own schema proves it valid; checking it would take longer than the rest of the start. */
export const VALIDATOR_OPTIONS = {
  allErrors: true,
  useDefaults: true,
  verbose: true,
  validateSchema: false,
  allowUnionTypes: true,
} as const

/** Compiles the schema of the configuration. In the package this is done already. */
export const configValidator = async (): Promise<ValidateFunction> => {
  const { Ajv } = await import('ajv')
  return new Ajv(VALIDATOR_OPTIONS).compile(configSchema)
}
