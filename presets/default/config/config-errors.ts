import type { ErrorObject } from 'ajv'
import { GuardError } from 'guard-gateway/core'
import { suggestion } from 'guard-gateway/plugins/cli'
import { pointerKeys } from '#lib/json'
import type { Yaml } from '#lib/yaml'

/** Path in a configuration, as keys and indexes. */
export type Path = readonly (string | number)[]

export interface ConfigError {
  readonly path: Path
  readonly message: string
  readonly cause?: unknown
}

/** Throws INVALID_CONFIG with one line per error, if there are any. */
export type Refuse = (errors: readonly ConfigError[]) => void

/** Reports errors with file, line, column and key; without a file, only with the key. */
export const refusal =
  (file?: { readonly name: string; readonly locate: Yaml['locate'] }): Refuse =>
  (errors) => {
    const [first] = errors
    if (first === undefined) return
    const lines = errors.map(({ path, message }) => {
      const text = path.length === 0 ? message : `${dotted(path)}: ${message}`
      if (file === undefined) return text
      const { line, column } = file.locate(path)
      return `${file.name}:${line}:${column}: ${text}`
    })
    const { path, cause } = first
    throw new GuardError('INVALID_CONFIG', lines.join('\n'), { path: dotted(path), ...file?.locate(path), cause })
  }

/** The error with its path; empty for no message. */
export const at = (path: Path, message: string | undefined): ConfigError[] =>
  message === undefined ? [] : [{ path, message }]

/** Schema errors in plain words, without the values, which may be secret. */
export const schemaErrors = (errors: readonly ErrorObject[], value: unknown): readonly ConfigError[] =>
  errors.map((error) => configErrorOf(error, segments(error.instancePath, value)))

const configErrorOf = (error: ErrorObject, path: Path): ConfigError => {
  const { keyword, params, parentSchema } = error
  if (keyword === 'additionalProperties') {
    const key = String(params.additionalProperty)
    const [pattern] = Object.keys(parentSchema?.patternProperties ?? {})
    if (pattern !== undefined) return { path: [...path, key], message: patternText(pattern) }
    const known = Object.keys(parentSchema?.properties ?? {})
    const name = key.replace(tail, '')
    const isJoined = name !== key && known.includes(name)
    const advice = isJoined ? ' A colon and a space must follow it.' : suggestion(key, known)
    return { path: [...path, key], message: `unknown key.${advice}` }
  }
  if (keyword === 'required') return { path, message: missingText(String(params.missingProperty), parentSchema) }
  return { path, message: expectation(error) }
}

/** Says what the key is for, too. */
const missingText = (key: string, schema: ErrorObject['parentSchema']): string => {
  const description: unknown = schema?.properties?.[key]?.description
  return `the key ${key} is missing${typeof description === 'string' ? `: ${description}` : ''}`
}

const expectation = (error: ErrorObject): string =>
  wordings[error.keyword]?.(error) ?? error.message ?? 'cannot be used'

const wordings: Readonly<Record<string, (error: ErrorObject) => string>> = {
  type: ({ params, data }) =>
    `expected ${String(params.type).split(',').map(typeName).join(' or ')}, found ${foundType(data)}`,
  enum: ({ params, data }) => {
    const allowed = (params.allowedValues as readonly unknown[]).map(String)
    return `expected one of ${allowed.join(', ')}.${typeof data === 'string' ? suggestion(data, allowed) : ''}`
  },
  minimum: ({ params }) => `expected at least ${String(params.limit)}`,
  maximum: ({ params }) => `expected at most ${String(params.limit)}`,
  minLength: () => 'must not be empty',
  minItems: () => 'must not be empty',
  pattern: ({ schema }) => patternText(String(schema)),
}

const patternText = (pattern: string): string => patternNames[pattern] ?? `must match ${pattern}`

const typeName = (type: string): string => typeNames[type] ?? type

const typeNames: Readonly<Record<string, string>> = {
  integer: 'a whole number',
  string: 'text',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map of keys',
}

const patternNames: Readonly<Record<string, string>> = {
  '^/': 'must begin with a slash',
  '^[A-Za-z0-9._-]{1,64}$': 'must be 1 to 64 letters, digits, dots, underscores or dashes',
  '^(?!\\.{1,2}$)[A-Za-z0-9._-]{1,64}$':
    'must be 1 to 64 letters, digits, dots, underscores or dashes, and not "." or ".."',
}

const foundType = (data: unknown): string => {
  if (data === null) return 'nothing'
  if (Array.isArray(data)) return 'a list'
  if (typeof data === 'object') return 'a map of keys'
  return typeof data === 'string' ? 'text' : typeof data === 'boolean' ? 'true or false' : 'a number'
}

/** Keys and indexes of a JSON pointer into `value`. */
const segments = (pointer: string, value: unknown): Path => {
  let around = value as Readonly<Record<string, unknown>>
  return pointerKeys(pointer).map((key) => {
    const segment = Array.isArray(around) ? Number(key) : key
    around = around[key] as typeof around
    return segment
  })
}

/** A key from a colon, equals sign or blank on: YAML may have read a value as part of the key. */
const tail = /[:=\s].*$/s

/** `server.port`, `upstreams[0].name`. Other keys are quoted, without a possible secret value. */
export const dotted = (path: Path): string =>
  path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`
    if (!/^[\w-]+$/.test(part)) return `${text}[${JSON.stringify(part.replace(tail, '…'))}]`
    return text === '' ? part : `${text}.${part}`
  }, '')
