import type { ErrorObject } from 'ajv'
import { pointerKeys } from '#lib/json'
import { type PolicyFault, type PolicyPath, suggestion } from './fault.ts'

/** What the schema says of a policy, in words; none of the errors that follow from another one. */
export const shapeFaults = (errors: readonly ErrorObject[]): readonly PolicyFault[] => {
  const reported = errors.filter((error) => !follows(error)).map(shapeFault)
  const meant = new Set(
    reported.flatMap(({ path, message }) => suggestions(message).map((word) => JSON.stringify([path, word]))),
  )
  const merging = new Set(
    reported.filter(({ message }) => message === MERGE_KEY).map(({ path }) => JSON.stringify(path)),
  )
  const isMeant = ({ path, message }: PolicyFault): boolean => {
    const missing = /^the key "([^"]*)" is missing/.exec(message)
    if (missing === null) return false
    return merging.has(JSON.stringify(path)) || meant.has(JSON.stringify([path, missing[1]]))
  }
  return reported.filter((fault) => !isMeant(fault))
}

const suggestions = (message: string): string[] =>
  message.startsWith('unknown key')
    ? [...message.matchAll(/did you mean "([^"]*)"/g)].map((match) => match[1] ?? '')
    : []

/** Branches of a choice, conditions, and what a name is not, are reported by the keyword around them. */
const follows = ({ keyword, schemaPath, propertyName, params, data }: ErrorObject): boolean => {
  if (keyword === 'if' || propertyName !== undefined || /\/anyOf\/\d+\//.test(schemaPath)) return true
  // Without an action, a rule would be held to what belongs to each of them.
  const needed = /\/allOf\/\d+\/then\/required$/.test(schemaPath) ? String(params.missingProperty) : undefined
  return needed !== undefined && (data as { action?: unknown }).action === undefined
}

const shapeFault = (error: ErrorObject): PolicyFault => {
  const path = segments(error.instancePath)
  if (error.keyword === 'additionalProperties') return unknownKey(error, path)
  return { path, message: (wordings[error.keyword] ?? otherwise)(error) }
}

const otherwise = ({ message = 'cannot be used' }: ErrorObject): string => message

const MERGE_KEY = 'YAML 1.2 has no merge key "<<"; write the keys out, or give whole values an anchor'

const unknownKey = ({ params, parentSchema }: ErrorObject, path: PolicyPath): PolicyFault => {
  const key = String(params.additionalProperty)
  if (key === '<<') return { path, at: [...path, key], message: MERGE_KEY }
  const known = Object.keys((parentSchema?.properties as object | undefined) ?? {})
  const isCheck =
    (path.length === 4 && path[2] === 'checks') || (typeof path.at(-1) === 'number' && path.at(-2) === 'results')
  const there = suggestion(key, known) || `; there is ${known.join(', ') || 'none'}`
  return { path, at: [...path, key], message: `unknown ${isCheck ? 'check' : 'key'} "${key}"${there}` }
}

const valueText = (value: unknown): string => {
  if (value === null || value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a map of keys'
  const text = JSON.stringify(typeof value === 'bigint' ? String(value) : value)
  return text.length > 80 ? `${text.slice(0, 77)}…` : text
}

const typeNames: Readonly<Record<string, string>> = {
  integer: 'a whole number',
  number: 'a number',
  string: 'text',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map of keys',
  'array,string': 'a list, or the name of a set',
  'string,object': 'text, or a map of keys',
}

const pointerWords = 'is no JSON pointer; write /path, or /paths/* for every element of a list'

/** By the pattern's own text, since that is what all its uses share. */
const patternNames: Readonly<Record<string, string>> = {
  '^(/([^~/]|~[01])*)+$': pointerWords,
  '^[1-9][0-9]{0,5}(ms|s|m|h|d)$': 'is no duration; write a number and ms, s, m, h or d, such as 60s',
  '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$': 'must be 1 to 64 letters, digits, dots, underscores or dashes',
  '^[a-z][a-z0-9_]*$': 'must be small letters, digits and underscores, and begin with a letter',
  '^[^/]': 'is no name of an argument; write it without a slash',
  '^[^\\s]{1,128}$': 'is no name of a method; write it as resources/read',
  '^secrets$': 'is no set of files; there is secrets, or write a list of patterns',
  '^[A-Za-z_][A-Za-z0-9_]*$': 'is no name of a shell variable; write it without $',
}

const patternWords = (pattern: string): string => patternNames[pattern] ?? `must match ${pattern}`

const misplaced: Readonly<Record<string, string>> = {
  limit: 'stands with action rate_limit only',
  transform: 'stands with action transform only',
  only: 'cannot stand with action deny or shadow_deny; list the arguments that may be given in a rule that allows the call',
  results: 'cannot stand with action deny; such a call has no result',
  checks: 'cannot stand with action deny or shadow_deny; name what may pass in a rule that allows it, or use when',
}

const wordings: Readonly<Record<string, (error: ErrorObject) => string>> = {
  required: ({ params, schemaPath, data }) => {
    const why = schemaPath.includes('/then/')
      ? `; the action ${String((data as { action: unknown }).action)} needs it`
      : ''
    return `the key "${String(params.missingProperty)}" is missing${why}`
  },
  type: ({ params, data }) => `must be ${typeNames[String(params.type)] ?? String(params.type)}, is ${valueText(data)}`,
  enum: ({ params, data }) => {
    const allowed = (params.allowedValues as readonly unknown[]).map(String)
    const near = typeof data === 'string' ? suggestion(data, allowed) : ''
    return `must be one of ${allowed.join(', ')}; is ${valueText(data)}${near}`
  },
  const: ({ params, data }) => `must be ${valueText(params.allowedValue)}, is ${valueText(data)}`,
  not: ({ data }) => `${valueText(data)} is reserved`,
  pattern: ({ params, data }) => `${valueText(data)} ${patternWords(String(params.pattern))}`,
  propertyNames: ({ params, parentSchema }) => {
    const names = (parentSchema?.propertyNames ?? {}) as { pattern?: string }
    return `${valueText(params.propertyName)} ${names.pattern === undefined ? pointerWords : patternWords(names.pattern)}`
  },
  minimum: ({ params, data }) => `must be at least ${String(params.limit)}, is ${valueText(data)}`,
  maximum: ({ params, data }) => `must be at most ${String(params.limit)}, is ${valueText(data)}`,
  minLength: () => 'must not be empty',
  maxLength: ({ params }) => `has more than ${String(params.limit)} characters`,
  minItems: () => 'must not be empty',
  maxItems: ({ params }) => `has more than ${String(params.limit)} elements`,
  uniqueItems: ({ params, data }) => `holds ${valueText((data as readonly unknown[])[Number(params.i)])} twice`,
  minProperties: ({ parentSchema }) => `must not be empty; there is ${namesIn(parentSchema)}`,
  maxProperties: ({ data }) =>
    `holds ${Object.keys(data as object).join(' and ')}; write a list element for each of them`,
  anyOf: ({ parentSchema, schemaPath }) => {
    if (schemaPath.includes('/dependentSchemas/on_violation/'))
      return 'on_violation has no meaning without the key "checks" or "only"'
    const branches = (parentSchema?.anyOf ?? []) as readonly { required?: readonly string[] }[]
    const names = branches.flatMap(({ required = [] }) => required)
    return names.length === 0 ? 'fits none of its forms' : `needs one of ${names.join(', ')}`
  },
  dependentRequired: ({ params }) =>
    `${String(params.property)} has no meaning without the key "${String(params.missingProperty)}"`,
  'false schema': ({ instancePath }) => misplaced[instancePath.split('/').at(-1) ?? ''] ?? 'cannot stand here',
}

const namesIn = (schema: ErrorObject['parentSchema']): string =>
  Object.keys((schema?.properties ?? {}) as object).join(', ') || 'no fixed name, so write your own'

/** The keys of a JSON pointer; digits are positions, which no key of a policy is. */
const segments = (pointer: string): (string | number)[] =>
  pointerKeys(pointer).map((key) => (/^\d+$/.test(key) ? Number(key) : key))
