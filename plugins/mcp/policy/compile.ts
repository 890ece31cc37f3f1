import { GuardError } from 'guard-gateway/core'
import { anyGlob } from 'guard-gateway/lib/glob'
import { sha256 } from 'guard-gateway/lib/ids'
import type { McpCheck } from 'guard-gateway/lib/mcp-check'
import { Pace } from 'guard-gateway/lib/time-slice'
import { canonicalJson } from 'guard-gateway/lib/trace'
import { type Change, compileChange } from '../actions/transform.ts'
import { compileSchema } from '../schemas/compile.ts'
import { callerTest } from './callers.ts'
import type { CompiledCheck, CompiledLimit, CompiledPolicy, CompiledRule } from './compiled.ts'
import { conditionFaults } from './conditions.ts'
import type { ChangeDocument, LimitDocument, PolicyDocument, RuleDocument } from './document.ts'
import type { PolicyFault, PolicyPath } from './fault.ts'
import type { LoadOptions } from './load.ts'
import { namedArguments } from './named-arguments.ts'
import { readyOptions } from './ready-check.ts'
import { compileResults, type ResultChecks, WHOLE_POLICY } from './result-checks.ts'

/** Finds checks by their ids. */
export interface Checks {
  readonly checks: { get(id: string): McpCheck | undefined }
  readonly results: ResultChecks
}

const NO_FILES: readonly string[] = []

/** Makes a policy ready to judge calls: its patterns, conditions, changes, and the checks it uses with what they need. */
export const compilePolicy = async (
  document: PolicyDocument,
  checks: Checks,
  { hide_denied_tools = false, own_files = NO_FILES }: Pick<LoadOptions, 'hide_denied_tools' | 'own_files'>,
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
