import type { Ajv, ErrorObject, ValidateFunction } from 'ajv'
import type { Detector, Registry, Rule } from 'guard-gateway/core'
import { pointerPart } from '#lib/json'
import type { Problem } from './rules.ts'

/** Checks the params of each rule against its detector's schema; those of a type without a detector stay unchecked. */
export const checkParams = async (
  rules: readonly Rule[],
  path: string,
  detectors: Registry<Detector>,
  problems: Problem[],
): Promise<void> => {
  for (const [index, rule] of rules.entries()) {
    const { rule_type, params } = rule
    const detector = detectors.get(rule_type)
    if (params === undefined || detector === undefined) continue
    const at = `${path}/${index}/params`
    const before = problems.length
    await checkOne(detector, params, at, problems)
    const fault = problems.length === before ? detector.faultIn?.(rule) : undefined
    if (fault !== undefined) problems.push({ path: `${at}/${pointerPart(fault.param)}`, message: fault.message })
  }
}

/** Each element may be wrong and add a problem. */
const MAX_ELEMENTS = 1_000

const sizeOf = (value: unknown): number => (typeof value === 'object' && value !== null ? Object.keys(value).length : 0)

const checkOne = async (
  detector: Detector,
  params: NonNullable<Rule['params']>,
  path: string,
  problems: Problem[],
): Promise<void> => {
  const known = namesOf(detector)
  const unknown = Object.keys(params).filter((key) => !known.includes(key))
  for (const key of unknown) {
    const there = known.length === 0 ? 'it has none' : `there is ${known.join(', ')}`
    problems.push({ path: `${path}/${pointerPart(key)}`, message: `is not a param of ${detector.id}; ${there}` })
  }
  const large = Object.keys(params).filter((key) => sizeOf(params[key]) > MAX_ELEMENTS)
  for (const key of large)
    problems.push({ path: `${path}/${pointerPart(key)}`, message: `has more than ${MAX_ELEMENTS} elements` })
  if (unknown.length + large.length > 0 || detector.params === undefined) return
  const check = await checkOf(detector.params)
  check(params)
  for (const error of check.errors ?? []) problems.push(problemOf(error, path))
}

const problemOf = (
  { keyword, instancePath, message = 'cannot be used', params }: ErrorObject,
  path: string,
): Problem => {
  if (keyword === 'dependentRequired')
    return { path: `${path}/${pointerPart(params.property)}`, message: `does nothing without ${params.deps}` }
  if (keyword === 'enum')
    return { path: path + instancePath, message: `must be one of ${params.allowedValues.join(', ')}` }
  return { path: path + instancePath, message }
}

const checks = new WeakMap<object, ValidateFunction>()
let ajv: Promise<Ajv> | undefined

/** Loaded and compiled when first needed: most rules have no params. */
const checkOf = async (schema: object): Promise<ValidateFunction> => {
  ajv ??= import('ajv/dist/2020.js').then(
    ({ Ajv2020 }) => new Ajv2020({ allErrors: true, strict: false, meta: false, validateSchema: false, logger: false }),
  )
  const check = checks.get(schema) ?? (await ajv).compile(schema)
  checks.set(schema, check)
  return check
}

const namesOf = ({ params }: Detector): string[] =>
  params !== undefined && 'properties' in params ? Object.keys(params.properties as object) : []
