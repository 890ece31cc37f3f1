import type { ErrorObject } from 'ajv'
import { GuardError } from 'guard-gateway/core'
import { pointerKeys } from 'guard-gateway/lib/json'
import type { Yaml } from 'guard-gateway/lib/yaml'
import { suggestion } from 'guard-gateway/plugins/cli'

/** A place in a configuration, as keys and positions. */
export type Path = readonly (string | number)[]

/** One thing wrong with a configuration: where it stands, and what is wrong with it. */
export interface ConfigFault {
  readonly path: Path
  readonly message: string
  readonly cause?: unknown
}

/** Throws GuardError INVALID_CONFIG with one line a fault, if there is one. */
export type Refuse = (faults: readonly ConfigFault[]) => void

/** Refuses faults at their place in a file: file, line, column, key; without a file only by their key. */
export const refusal =
  (file?: { readonly name: string; readonly locate: Yaml['locate'] }): Refuse =>
  (faults) => {
    const [first] = faults
    if (first === undefined) return
    const lines = faults.map(({ path, message }) => {
      const told = path.length === 0 ? message : `${dotted(path)}: ${message}`
      if (file === undefined) return told
      const { line, column } = file.locate(path)
      return `${file.name}:${line}:${column}: ${told}`
    })
    const { path, cause } = first
    throw new GuardError('INVALID_CONFIG', lines.join('\n'), { path: dotted(path), ...file?.locate(path), cause })
  }

/** The fault with its place, or nothing. */
export const at = (path: Path, message: string | undefined): ConfigFault[] =>
  message === undefined ? [] : [{ path, message }]

/** What a schema says about a configuration, in words and without the values, which may be secret. */
export const schemaFaults = (errors: readonly ErrorObject[], value: unknown): readonly ConfigFault[] =>
  errors.map((error) => configFaultOf(error, segments(error.instancePath, value)))

const configFaultOf = (error: ErrorObject, path: Path): ConfigFault => {
  const { keyword, params, parentSchema } = error
  if (keyword === 'additionalProperties') {
    const key = String(params.additionalProperty)
    const [pattern] = Object.keys(parentSchema?.patternProperties ?? {})
    if (pattern !== undefined) return { path: [...path, key], message: patternWords(pattern) }
    const known = Object.keys(parentSchema?.properties ?? {})
    const name = key.replace(tail, '')
    const glued = name !== key && known.includes(name)
    const advice = glued ? ' A colon and a blank belong behind it.' : suggestion(key, known)
    return { path: [...path, key], message: `unknown key.${advice}` }
  }
  if (keyword === 'required') return { path, message: `the key ${String(params.missingProperty)} is missing` }
  return { path, message: expectation(error) }
}

const expectation = (error: ErrorObject): string =>
  wordings[error.keyword]?.(error) ?? error.message ?? 'cannot be used'

const wordings: Readonly<Record<string, (error: ErrorObject) => string>> = {
  type: ({ params, data }) =>
    `expected ${typeNames[String(params.type)] ?? String(params.type)}, found ${foundType(data)}`,
  enum: ({ params, data }) => {
    const allowed = (params.allowedValues as readonly unknown[]).map(String)
    return `expected one of ${allowed.join(', ')}.${typeof data === 'string' ? suggestion(data, allowed) : ''}`
  },
  minimum: ({ params }) => `expected at least ${String(params.limit)}`,
  maximum: ({ params }) => `expected at most ${String(params.limit)}`,
  minLength: () => 'must not be empty',
  minItems: () => 'must not be empty',
  pattern: ({ schema }) => patternWords(String(schema)),
}

const patternWords = (pattern: string): string => patternNames[pattern] ?? `must match ${pattern}`

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

/** The keys of a JSON pointer into `value`, and the positions where it passes a list. */
const segments = (pointer: string, value: unknown): Path => {
  let around = value as Readonly<Record<string, unknown>>
  return pointerKeys(pointer).map((key) => {
    const segment = Array.isArray(around) ? Number(key) : key
    around = around[key] as typeof around
    return segment
  })
}

/** A colon, an equals sign or a blank in a key, and what follows: a value, perhaps, that YAML has read as part of the key. */
const tail = /[:=\s].*$/s

/** `server.port`, `upstreams[0].name`; a key that is no plain word stands in quotes, without what may be a secret value. */
export const dotted = (path: Path): string =>
  path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`
    if (!/^[\w-]+$/.test(part)) return `${text}[${JSON.stringify(part.replace(tail, '…'))}]`
    return text === '' ? part : `${text}.${part}`
  }, '')
