import { setImmediate } from 'node:timers/promises'
import type { ErrorObject, ValidateFunction } from 'ajv'
import { type Gateway, GuardError } from 'guard-gateway/core'
import { type McpCheck, type McpResultCheck, mcpCheckKind, mcpResultCheckKind } from '#lib/mcp-check'
import type { YamlLocation } from '#lib/yaml'
import { type CompileOptions, compilePolicy } from './compile.ts'
import type { CompiledPolicy } from './compiled.ts'
import type { PolicyDocument, TestDocument } from './document.ts'
import { type LocatedFault, locatedFault, type PolicyFault, type PolicyPath, suggestion } from './fault.ts'
import { methodFaults } from './methods.ts'
import { readPolicy } from './read.ts'
import { policySchema } from './schema.ts'
import { shapeFaults } from './shape.ts'
import { runTests, type TestResult } from './tests.ts'
import { type Environment, resolveVars } from './vars.ts'

/** The text of a policy, or its value; `checked`: the value is known to have the form of a policy. */
export type PolicySource = { readonly text: Buffer | string } | { readonly value: unknown; readonly checked?: boolean }

/** What came of reading a policy; one that can be used has no errors, and all its tests pass. */
export interface LoadedPolicy {
  /** Absent where there are errors. */
  readonly policy?: CompiledPolicy
  readonly valid: boolean
  readonly errors: readonly LocatedFault[]
  readonly tests: readonly TestResult[]
  /** Undefined for a policy that came as data. */
  readonly locate: ((path: PolicyPath) => YamlLocation) | undefined
}

export interface LoadOptions extends CompileOptions {
  /** Process environment if absent. */
  readonly env?: Environment
}

/** Reads a policy, makes it ready and runs its tests. Throws nothing that is wrong with the policy, but PARSER_UNAVAILABLE. */
export const loadPolicy = async (
  gateway: Gateway,
  source: PolicySource,
  { env = process.env, ...options }: LoadOptions = {},
): Promise<LoadedPolicy> => {
  const read = await readSource(source)
  if ('errors' in read) return { valid: false, errors: read.errors, tests: [], locate: undefined }
  const { value, locate } = read
  const refused = (faults: readonly PolicyFault[]): LoadedPolicy => {
    const errors = faults.slice(0, MAX_FAULTS).map((fault) => locatedFault('INVALID_POLICY', fault, locate))
    return { valid: false, errors: errors.toSorted(byPlace), tests: [], locate }
  }
  const isChecked = 'checked' in source && source.checked === true
  const wrongShape = isChecked ? [] : await schemaFaults(value, gateway)
  if (wrongShape.length > 0) return refused(wrongShape)
  const resolved = resolveVars(value as PolicyDocument, env)
  const faults = [...resolved.faults, ...semanticFaults(resolved.policy)]
  if (faults.length > 0) return refused(faults)
  const checks = { checks: gateway.registry(mcpCheckKind), results: gateway.registry(mcpResultCheckKind) }
  const compiled = await compilePolicy(resolved.policy, checks, options)
  if (compiled.faults.length > 0) return refused(compiled.faults)
  const tests = await runTests(compiled.policy, gateway.redact)
  return { policy: compiled.policy, valid: tests.every(({ pass }) => pass), errors: [], tests, locate }
}

/** A text that is no policy at all can be wrong in thousands of places. */
const MAX_FAULTS = 100

const byPlace = (a: LocatedFault, b: LocatedFault): number =>
  (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0)

type ReadSource =
  | { readonly value: unknown; readonly locate: LoadedPolicy['locate'] }
  | { readonly errors: readonly LocatedFault[] }

/** Keys and values: forty for each of a thousand rules. What goes through more of them holds the event loop. */
const MAX_PARTS = 40_000
const tooLarge: LocatedFault = {
  code: 'INVALID_POLICY',
  path: '',
  line: null,
  column: null,
  message: `has more than ${MAX_PARTS} keys and values`,
}

const readSource = async (source: PolicySource): Promise<ReadSource> => {
  if (!('text' in source)) return checkedSize(source.value, undefined)
  try {
    const { value, locate } = await readPolicy(source.text)
    return checkedSize(value, locate)
  } catch (error) {
    if (!(error instanceof GuardError) || error.code !== 'INVALID_YAML') throw error
    const { code, message, place } = error
    return { errors: [{ code, path: '', line: place.line ?? null, column: place.column ?? null, message }] }
  }
}

const MAX_DEPTH = 64
const tooDeep: LocatedFault = {
  code: 'INVALID_POLICY',
  path: '',
  line: null,
  column: null,
  message: `nests deeper than ${MAX_DEPTH} levels`,
}

/** Texts are no deeper, and hold no integers with every digit. */
const checkedSize = async (value: unknown, locate: LoadedPolicy['locate']): Promise<ReadSource> => {
  const { count, tooDeep: isTooDeep, bigints } = documentSize(value, MAX_PARTS, MAX_DEPTH)
  if (isTooDeep) return { errors: [tooDeep] }
  if (count > MAX_PARTS) return { errors: [tooLarge] }
  // Reading and counting have held the event loop for long enough.
  if (count > MAX_REPORTED) await setImmediate()
  return { value: bigints ? withNumbers(value) : value, locate }
}

/** As texts are read: an integer that was kept with every digit is a number like any other. */
const withNumbers = (value: unknown): unknown => {
  if (typeof value === 'bigint') return Number(value)
  if (Array.isArray(value)) return value.map(withNumbers)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, withNumbers(part)]))
}

const schemaFaults = async (value: unknown, gateway: Gateway): Promise<readonly PolicyFault[]> =>
  shapeFaults(await schemaErrors(value, gateway))

/** Size of a policy that came as data. */
interface DocumentSize {
  /** Keys and values; one more than `most` where there are more. */
  readonly count: number
  /** Something lies deeper than `max_depth`. */
  readonly tooDeep: boolean
  /** An integer was kept with every digit. */
  readonly bigints: boolean
}

/** Counts the parts of a value; stops after `most` parts, or below `max_depth`. */
export const documentSize = (value: unknown, most: number, max_depth: number): DocumentSize => {
  const found = { count: 0, tooDeep: false, bigints: false }
  const isOver = (part: unknown, depth: number): boolean => {
    if (++found.count > most) return true
    if (typeof part === 'bigint') found.bigints = true
    if (typeof part !== 'object' || part === null) return false
    if (depth > max_depth) found.tooDeep = true
    return found.tooDeep || (Array.isArray(part) ? part : Object.values(part)).some((inner) => isOver(inner, depth + 1))
  }
  isOver(value, 0)
  return found
}

/** Calls of all tests together; they are made at each load. */
const MAX_TEST_CALLS = 50_000
/** Characters of the arguments of all those calls: each call is judged again. */
const MAX_TEST_CHARACTERS = 50_000_000
/** Ids of partial verdicts that are not of rules. */
const OTHER_VOICES: ReadonlySet<string> = new Set(['pin', 'plugin'])

/** What no schema can tell: ids that occur twice or for others than rules, tests that name a rule there is not, or examine what a refused call sends. */
const semanticFaults = (policy: PolicyDocument): readonly PolicyFault[] => {
  const { rules, tests = [] } = policy
  const faults: PolicyFault[] = [...methodFaults(policy)]
  const first = new Map<string, number>()
  for (const [index, { id }] of rules.entries()) {
    if (OTHER_VOICES.has(id)) faults.push({ path: ['rules', index, 'id'], message: `"${id}" is reserved` })
    const before = first.get(id)
    if (before === undefined) first.set(id, index)
    else faults.push({ path: ['rules', index, 'id'], message: `"${id}" is already the id of rules/${before}` })
  }
  const known = ['default', ...first.keys()]
  faults.push(...tests.flatMap((test, index) => testFaults(test, ['tests', index], known)))
  const calls = tests.reduce((sum, { repeat = 1 }) => sum + repeat, 0)
  if (calls > MAX_TEST_CALLS)
    faults.push({ path: ['tests'], message: `make ${calls} calls, more than the ${MAX_TEST_CALLS} that are run` })
  const characters = tests.reduce(
    (sum, { repeat = 1, call }) => sum + repeat * JSON.stringify(call.arguments ?? {}).length,
    0,
  )
  if (characters > MAX_TEST_CHARACTERS)
    faults.push({
      path: ['tests'],
      message: `judge ${characters} characters of arguments in all their calls, more than the ${MAX_TEST_CHARACTERS} that are judged`,
    })
  return faults
}

const testFaults = (
  { rule, sends, expect }: TestDocument,
  path: PolicyPath,
  known: readonly string[],
): readonly PolicyFault[] => {
  const faults: PolicyFault[] = []
  if (sends !== undefined && (expect === 'deny' || expect === 'rate_limit'))
    faults.push({ path: [...path, 'sends'], message: `a call with the answer ${expect} sends nothing` })
  if (rule !== undefined && !known.includes(rule))
    faults.push({ path: [...path, 'rule'], message: `there is no rule "${rule}"${suggestion(rule, known)}` })
  return faults
}

/** The most keys and values of a policy for which all errors are reported at once: the work grows with the square of the faults. */
export const MAX_REPORTED = 5_000

interface CachedValidator {
  readonly checks: readonly (McpCheck | McpResultCheck)[]
  readonly all?: ValidateFunction
  readonly first?: ValidateFunction
}
let known: CachedValidator | undefined

/** The schema follows the registered checks, which gateways of one process mostly have in common, and compiling it takes longer than everything else here. */
const validatorFor = async (gateway: Gateway, kind: 'all' | 'first'): Promise<ValidateFunction> => {
  const registered: Iterable<McpCheck> = gateway.registry(mcpCheckKind)
  const ofResults: Iterable<McpResultCheck> = gateway.registry(mcpResultCheckKind)
  const checks = [...registered, ...ofResults]
  const isSame = known?.checks.length === checks.length && known.checks.every((check, index) => check === checks[index])
  const ready = isSame ? known?.[kind] : undefined
  if (ready !== undefined) return ready
  const { Ajv2020 } = await import('ajv/dist/2020.js')
  const ajv = new Ajv2020({
    allErrors: kind === 'all',
    verbose: true,
    strict: false,
    validateFormats: false,
    ownProperties: true,
    // ours and the checks', held to be schemas by their types; reading the schema of schemas takes longer than all else here
    validateSchema: false,
    meta: false,
    // tidying the code takes longer than the one policy that it reads
    code: { optimize: false },
  })
  const validate = ajv.compile(policySchema(registered, ofResults))
  known = { ...(isSame ? known : {}), checks, [kind]: validate }
  return validate
}

/** What the schema has against a policy: everything, or of a large one the first thing. */
export const schemaErrors = async (value: unknown, gateway: Gateway): Promise<readonly ErrorObject[]> => {
  const validate = await validatorFor(gateway, hasMoreParts(value, MAX_REPORTED) ? 'first' : 'all')
  return validate(value) ? [] : (validate.errors ?? [])
}

/** Whether a value, whose depth is bounded, is made of more parts than so many; examines no more. */
export const hasMoreParts = (value: unknown, most: number): boolean => {
  let left = most
  const spend = (part: unknown): boolean => {
    left--
    if (typeof part !== 'object' || part === null || left < 0) return left < 0
    return (Array.isArray(part) ? part : Object.values(part)).some(spend)
  }
  return spend(value)
}
