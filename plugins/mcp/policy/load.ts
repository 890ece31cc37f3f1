import { setImmediate } from 'node:timers/promises'
import { type Gateway, GuardError } from 'guard-gateway/core'
import { mcpCheckKind, mcpResultCheckKind } from 'guard-gateway/lib/mcp-check'
import type { YamlLocation } from 'guard-gateway/lib/yaml'
import { compilePolicy } from './compile.ts'
import type { CompiledPolicy } from './compiled.ts'
import type { PolicyDocument } from './document.ts'
import { documentSize } from './document-size.ts'
import { type LocatedFault, locatedFault, type PolicyFault, type PolicyPath } from './fault.ts'
import { readPolicy } from './read.ts'
import { semanticFaults } from './semantics.ts'
import { shapeFaults } from './shape.ts'
import { runTests, type TestResult } from './tests.ts'
import { MAX_REPORTED, schemaErrors } from './validator.ts'
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

export interface LoadOptions {
  /** Process environment if absent. */
  readonly env?: Environment
  /** What holds where a policy does not say whether denied tools leave the list; false if absent. */
  readonly hide_denied_tools?: boolean
  /** Files of the gateway itself, absolute, which no path of a call may name. */
  readonly own_files?: readonly string[]
}

/** Reads a policy, makes it ready and runs its tests. Throws nothing that is wrong with the policy. */
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
    if (!(error instanceof GuardError)) throw error
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
