import type { Ajv } from 'ajv'
import type { Plugin } from 'guard-gateway/core'
import type { ConfigurablePlugin } from '#lib/plugin-options'
import { type ConfigError, schemaErrors } from './config/config-errors.ts'

type Schema = Readonly<Record<string, unknown>>

/** The options of a plugin with defaults filled in, or what is wrong with them. `configured`: as configured. */
export const completeOptions = async (
  { options: schema }: ConfigurablePlugin,
  configured: Readonly<Record<string, unknown>>,
): Promise<{ readonly options: Readonly<Record<string, unknown>>; readonly errors: readonly ConfigError[] }> => {
  const { Ajv } = await import('ajv')
  const ajv: Ajv = new Ajv({ allErrors: true, useDefaults: true, verbose: true, strict: false })
  const options = structuredClone(configured)
  const validate = ajv.compile(closed(schema as Schema))
  return { options, errors: validate(options) ? [] : schemaErrors(validate.errors ?? [], options) }
}

/** Objects take no names that they do not list, unless they say that they do. */
const closed = (schema: Schema): Schema => {
  const { properties, additionalProperties = false } = schema
  if (schema.type !== 'object' || !isRecord(properties)) return schema
  const members = Object.entries(properties).map(([name, member]) => [name, isRecord(member) ? closed(member) : member])
  return { ...schema, properties: Object.fromEntries(members), additionalProperties }
}

const isRecord = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The plugins that `create` gives. Throws TypeError for anything else. */
export const createdPlugins = (made: unknown): readonly Plugin[] => {
  const plugins = Array.isArray(made) ? made : [made]
  if (plugins.length > 0 && plugins.every(isPlugin)) return plugins
  throw new TypeError('create() gives no plugin: an object with a name and an apply function.')
}

export const isPlugin = (value: unknown): value is Plugin =>
  typeof value === 'object' &&
  value !== null &&
  'name' in value &&
  typeof value.name === 'string' &&
  'apply' in value &&
  typeof value.apply === 'function'
