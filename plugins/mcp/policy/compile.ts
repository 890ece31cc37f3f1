import { GuardError } from 'guard-gateway/core'
import { anyGlob } from '#lib/glob'
import { sha256 } from '#lib/ids'
import { pointerKeys } from '#lib/json'
import type { CheckLint, McpCheck, McpResultCheck } from '#lib/mcp-check'
import { Pace } from '#lib/time-slice'
import { canonicalJson } from '#lib/trace'
import type { Segments } from '../actions/changes.ts'
import { type Change, compileChange } from '../actions/transform.ts'
import { compileSchema } from '../schemas/compile.ts'
import { KEYWORDS } from '../schemas/vocabulary.ts'
import { callerTest } from './callers.ts'
import type { CompiledCheck, CompiledLimit, CompiledPolicy, CompiledResultCheck, CompiledRule } from './compiled.ts'
import type { ChangeDocument, LimitDocument, PolicyDocument, ResultDocument, RuleDocument } from './document.ts'
import { type PolicyFault, type PolicyPath, suggestion } from './fault.ts'

/** Finds checks by their ids. */
export interface Checks {
  readonly checks: { get(id: string): McpCheck | undefined }
  readonly results: ResultChecks
}

export interface CompileOptions {
  /** What holds where a policy does not say whether denied tools leave the list; false if absent. */
  readonly hide_denied_tools?: boolean
  /** Files of the gateway itself, absolute, which no path of a call may name. */
  readonly own_files?: readonly string[]
}

const NO_FILES: readonly string[] = []

/** Makes a policy ready to judge calls: its patterns, conditions, changes, and the checks it uses with what they need. */
export const compilePolicy = async (
  document: PolicyDocument,
  checks: Checks,
  { hide_denied_tools = false, own_files = NO_FILES }: CompileOptions,
): Promise<{ readonly policy: CompiledPolicy; readonly faults: readonly PolicyFault[] }> => {
  const faults: PolicyFault[] = []
  const rules: CompiledRule[] = []
  const pace = new Pace()
  const shadow = document.mode === 'shadow'
  for (const [index, rule] of document.rules.entries()) {
    // Calls by the policy in force continue meanwhile.
    if (pace.due) await pace.rest()
    const compiled = await compileRule(rule, index, { ...checks, shadow }, faults)
    if (rule.enabled !== false) rules.push(compiled)
  }
  const policy: CompiledPolicy = {
    document,
    version: sha256(canonicalJson(document)),
    mode: document.mode ?? 'enforce',
    default: document.default ?? 'deny',
    pinning: document.pinning ?? 'warn',
    hide_denied_tools: document.hide_denied_tools ?? hide_denied_tools,
    rules,
    results: await compileResults(
      document.results,
      { rule_id: WHOLE_POLICY, path: ['results'], shadow },
      checks.results,
      faults,
    ),
    own_files,
  }
  return { policy, faults }
}

const compileRule = async (
  rule: RuleDocument,
  index: number,
  { checks, results, shadow }: Checks & { readonly shadow: boolean },
  faults: PolicyFault[],
): Promise<CompiledRule> => {
  const path: PolicyPath = ['rules', index]
  const tools = anyGlob(rule.tools)
  const servers = rule.servers === undefined ? () => true : anyGlob(rule.servers)
  return {
    document: rule,
    index,
    id: rule.id,
    names: (server_id, tool) => tools(tool) && servers(server_id),
    speaksTo: callerTest(rule.when),
    when: await compileWhen(rule, path, faults),
    checks: await compileChecks(rule, path, checks, faults),
    limit: rule.limit === undefined ? undefined : compileLimit(rule.limit),
    results: await compileResults(
      rule.enabled === false ? [] : rule.results,
      { rule_id: rule.id, path: [...path, 'results'], shadow },
      results,
      faults,
    ),
    changes: await compileChanges(rule, path, faults),
    named: namedArguments(rule),
  }
}

const compileWhen = async (
  rule: RuleDocument,
  path: PolicyPath,
  faults: PolicyFault[],
): Promise<CompiledRule['when']> => {
  const condition = rule.when?.arguments
  if (condition === undefined) return undefined
  const schema = await compileSchema(condition)
  const at = [...path, 'when', 'arguments']
  if (!schema.usable) {
    faults.push({ path: at, message: schema.reason })
    return undefined
  }
  faults.push(...conditionFaults(condition, at))
  for (const pattern of schema.skipped) faults.push({ path: at, message: `"${pattern}" is no RE2 pattern` })
  return schema.check
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

const compileLimit = ({ calls, per, key = 'session' }: LimitDocument): CompiledLimit => {
  const [, count = '', unit = ''] = /^(\d+)(ms|s|m|h|d)$/.exec(per) ?? []
  const text = `${calls} ${calls === 1 ? 'call' : 'calls'} per ${per}`
  return { calls, per_ms: Number(count) * (UNITS[unit] ?? 0), key, text }
}

const compileChanges = async (
  rule: RuleDocument,
  path: PolicyPath,
  faults: PolicyFault[],
): Promise<readonly Change[]> => {
  const changes: Change[] = []
  for (const [index, change] of (rule.transform?.arguments ?? []).entries()) {
    const at: PolicyPath = [...path, 'transform', 'arguments', index]
    faults.push(...boundFaults(change, at))
    try {
      changes.push(await compileChange(change))
    } catch (error) {
      const message = error instanceof GuardError ? error.message : `is no RE2 pattern: ${(error as Error).message}`
      faults.push({ path: [...at, 'redact', 'pattern'], message })
    }
  }
  return changes
}

const boundFaults = ({ clamp = {} }: ChangeDocument, at: PolicyPath): readonly PolicyFault[] =>
  Object.entries(clamp).flatMap(([pointer, { min = -Infinity, max = Infinity }]) =>
    min > max ? [{ path: [...at, 'clamp', pointer], message: `min ${min} is above max ${max}` }] : [],
  )

const compileChecks = async (
  rule: RuleDocument,
  path: PolicyPath,
  checks: Checks['checks'],
  faults: PolicyFault[],
): Promise<readonly CompiledCheck[]> => {
  const compiled: CompiledCheck[] = []
  for (const [index, entry] of (rule.checks ?? []).entries()) {
    const [id = '', options] = Object.entries(entry)[0] ?? []
    const check = checks.get(id)
    if (check === undefined || rule.enabled === false) continue
    const ready = await readyOptions(check, options, [...path, 'checks', index, id], faults)
    if (ready !== undefined) compiled.push({ check, ...ready, index })
  }
  return compiled
}

/** Keywords of a condition that no validator knows: it would pass over them, and the condition would hold for more than it says. */
const conditionFaults = (schema: unknown, path: PolicyPath): readonly PolicyFault[] =>
  typeof schema !== 'object' || schema === null
    ? []
    : Object.entries(schema).flatMap(([keyword, part]) => keywordFaults(keyword, part, path))

const keywordFaults = (keyword: string, part: unknown, path: PolicyPath): readonly PolicyFault[] => {
  const holds = KEYWORDS.get(keyword)
  const at = [...path, keyword]
  if (holds === undefined) {
    const near = suggestion(keyword, [...KEYWORDS.keys()])
    return [{ path, at, message: `unknown keyword "${keyword}" of JSON Schema${near}` }]
  }
  if (holds === 'value' || typeof part !== 'object' || part === null) return []
  if (holds === 'schema') return conditionFaults(part, at)
  const parts: readonly (readonly [string | number, unknown])[] = Array.isArray(part)
    ? [...part.entries()]
    : Object.entries(part)
  return parts.flatMap(([name, inner]) => conditionFaults(inner, [...at, name]))
}

/** Finds a check of results by its id. */
type ResultChecks = { get(id: string): McpResultCheck | undefined }

/** Checks of the whole policy are named so on record. */
const WHOLE_POLICY = 'results'

/** Makes checks of results ready. `shadow`: the policy as a whole only records. */
const compileResults = async (
  results: readonly ResultDocument[] = [],
  { rule_id, path, shadow }: { readonly rule_id: string; readonly path: PolicyPath; readonly shadow: boolean },
  checks: ResultChecks,
  faults: PolicyFault[],
): Promise<readonly CompiledResultCheck[]> => {
  const compiled: CompiledResultCheck[] = []
  for (const [index, entry] of results.entries()) {
    const [id = '', { action = 'shadow', ...options } = {}] = Object.entries(entry)[0] ?? []
    const check = checks.get(id)
    const ready = check && (await readyOptions(check, options, [...path, index, id], faults))
    if (check === undefined || ready === undefined) continue
    compiled.push({ check, ...ready, action: shadow ? 'shadow' : action, rule_id, index })
  }
  return compiled
}

/** What checks of arguments and of results have in common. */
interface Preparable {
  readonly id: string
  prepare?(): Promise<void>
  compile?(options: never): Promise<unknown>
  lint?(options: never): readonly CheckLint[]
}

/** A check's options as `find` gets them, and what to warn about. */
interface ReadyOptions {
  readonly options: unknown
  readonly lints: readonly CheckLint[]
}

/** Loads what a check needs and works its options out; undefined, and a fault noted, if that fails. */
const readyOptions = async (
  check: Preparable,
  options: unknown,
  path: PolicyPath,
  faults: PolicyFault[],
): Promise<ReadyOptions | undefined> => {
  try {
    await makeReady(check)
    const lints = check.lint?.(options as never) ?? []
    return { lints, options: check.compile === undefined ? options : await check.compile(options as never) }
  } catch (error) {
    faults.push({ path, message: reasonOf(error, check) })
    return undefined
  }
}

const reasonOf = (error: unknown, { id }: Preparable): string =>
  error instanceof GuardError && error.code === 'INVALID_POLICY'
    ? error.message
    : `the check ${id} cannot be made ready: ${error instanceof Error ? error.message : String(error)}`

const prepared = new WeakMap<Preparable, Promise<void>>()

/** What a check needs is loaded once; a load that failed is tried again. */
const makeReady = async (check: Preparable): Promise<void> => {
  const loading = prepared.get(check) ?? Promise.resolve(check.prepare?.())
  prepared.set(check, loading)
  try {
    await loading
  } catch (error) {
    prepared.delete(check)
    throw error
  }
}

/** The argument keys that a rule's checks, condition and changes name. */
const namedArguments = (rule: RuleDocument): readonly Segments[] => [
  ...(rule.checks ?? []).flatMap((check) => Object.values(check).flatMap(pointersIn)).map(pointerKeys),
  ...(rule.transform?.arguments ?? []).flatMap(pointersOf).map(pointerKeys),
  ...(rule.only ?? []).map((name) => [name]),
  ...(rule.when?.arguments === undefined ? [] : schemaKeys(rule.when.arguments, [])),
]

/** Checks name arguments in their option `args`. */
const pointersIn = (options: unknown): readonly string[] => {
  const args = typeof options === 'object' && options !== null ? (options as { args?: unknown }).args : undefined
  return Array.isArray(args) ? args.filter((one) => typeof one === 'string') : []
}

const pointersOf = ({ remove, set, clamp, redact }: ChangeDocument): readonly string[] => [
  ...(remove === undefined ? [] : [remove]),
  ...Object.keys(set ?? {}),
  ...Object.keys(clamp ?? {}),
  ...(redact === undefined ? [] : [redact.pointer]),
]

/** Keywords whose schemas are about the value itself, also those that a reference may lead to. */
const same = (part: unknown, at: Segments): readonly Segments[] => schemaKeys(part, at)
const anyPart = (part: unknown, at: Segments): readonly Segments[] => schemaKeys(part, [...at, '*'])
const childKeys = (part: unknown, at: Segments): readonly Segments[] =>
  members(part).flatMap(([, inner]) => schemaKeys(inner, at))

type Keys = (part: unknown, at: Segments) => readonly Segments[]

const keywords: ReadonlyMap<string, Keys> = new Map<string, Keys>([
  ['required', (part, at) => namesIn(part).map((name) => [...at, name])],
  ['dependentRequired', (part, at) => dependents(part).map((name) => [...at, name])],
  ['properties', (part, at) => members(part).flatMap(([name, inner]) => below(name, inner, at))],
  ['dependentSchemas', (part, at) => members(part).flatMap(([name, inner]) => [[...at, name], ...same(inner, at)])],
  ...['$defs', 'definitions'].map((name) => [name, childKeys] as const),
  ...['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else'].map((name) => [name, same] as const),
  ...['items', 'prefixItems', 'contains', 'additionalProperties', 'unevaluatedProperties'].map(
    (name) => [name, anyPart] as const,
  ),
])

/** The keys that a schema names, each at its place; after a reference they are taken to be where it refers from the top. */
const schemaKeys = (schema: unknown, at: Segments): readonly Segments[] => {
  if (Array.isArray(schema)) return schema.flatMap((part) => schemaKeys(part, at))
  return members(schema).flatMap(([keyword, part]) => keywords.get(keyword)?.(part, at) ?? [])
}

const below = (name: string, inner: unknown, at: Segments): readonly Segments[] => {
  const here = [...at, name]
  return [here, ...schemaKeys(inner, here)]
}

const members = (value: unknown): readonly (readonly [string, unknown])[] =>
  typeof value === 'object' && value !== null ? Object.entries(value) : []

const namesIn = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((name) => typeof name === 'string') : []

const dependents = (value: unknown): readonly string[] =>
  members(value).flatMap(([name, needed]) => [name, ...namesIn(needed)])
