import { parse, resolve } from 'node:path'
import { type Gateway, GuardError } from 'guard-gateway/core'
import { valuesAtPointer } from 'guard-gateway/lib/check-arguments'
import { Pace } from 'guard-gateway/lib/time-slice'
import type { PolicyDocument } from '../policy/document.ts'
import type { LoadOptions } from '../policy/load.ts'
import { type Validation, validatePolicy } from '../policy/validate.ts'
import { times } from './comments.ts'
import { commentsOf } from './draft-comments.ts'
import { type DraftedRule, rulesOfServer } from './drafted-rules.ts'
import { type DraftedTest, testsOf } from './drafted-tests.ts'
import { type DraftedTool, isPlainName } from './drafted-tool.ts'
import { renderDraft } from './render.ts'
import { type SeenServer, seenValues } from './seen-calls.ts'
import { planOf, type ToolPlan } from './tool-plan.ts'

/** What a draft is made from: servers with their tools, and what is on record of them. */
export interface DraftSource {
  readonly servers: readonly {
    readonly id: string
    readonly tools: readonly DraftedTool[]
    readonly seen: SeenServer
  }[]
  /** Since when calls were looked at, in the words of who asked. */
  readonly since?: string | undefined
}

/** A policy that a person goes on with. */
export interface Draft {
  readonly yaml: string
  readonly rules: number
  readonly tests: number
  readonly tools: number
}

/** What fits into a policy: names, rules and tests of more would be over its limits. */
const MAX_TOOLS = 500
const MAX_TESTS = 300
const MAX_SEEN_TESTS = 50

/** Writes a policy for servers, which passes its own tests without a warning. Throws INVALID_POLICY where that cannot be done here. */
export const draftPolicy = async (gateway: Gateway, source: DraftSource, options: LoadOptions = {}): Promise<Draft> => {
  const covered = await coveredTools(source)
  const parts = covered.parts.flatMap(({ rules }) => rules)
  const tests = covered.parts.flatMap(({ rules, values }) => rules.flatMap((rule) => testsOf(rule, values)))
  const seen = covered.parts.flatMap(seenTests)
  const tools = covered.parts.flatMap(({ plans }) => plans.map(({ tool }) => tool))
  const write = (kept: readonly DraftedTest[], dropped: number): Promise<string> =>
    renderDraft(policyOf(parts, kept), commentsOf(source, covered, dropped, gateway.clock.now()))
  const check = (yaml: string): Promise<Validation> => validatePolicy(gateway, { text: yaml }, { ...options, tools })
  const all = [...tests.slice(0, MAX_TESTS), ...seen.slice(0, MAX_SEEN_TESTS)]
  const kept = withResults(all, await check(await write(all, 0)))
  const isSample = ({ origin }: DraftedTest): boolean => origin === 'sample'
  const yaml = await write(kept, all.filter(isSample).length - kept.filter(isSample).length)
  const proven = await check(yaml)
  if (!proven.valid || proven.warnings.length > 0) throw unfinished(proven)
  return { yaml, rules: parts.length, tests: kept.length, tools: tools.length }
}

/** Tools of one server with the rules about them. */
export interface ServerPart {
  readonly id: string
  readonly plans: readonly ToolPlan[]
  readonly seen: SeenServer
  readonly values: ReturnType<typeof seenValues>
  readonly rules: readonly DraftedRule[]
}

/** What the rules of a draft are about, and what they leave out. */
export interface Covered {
  readonly parts: readonly ServerPart[]
  readonly uncovered: readonly string[]
  readonly tooMany: number
}

const coveredTools = async ({ servers }: DraftSource): Promise<Covered> => {
  const pace = new Pace()
  const taken = new Set(['default', 'pin'])
  const parts: ServerPart[] = []
  let left = MAX_TOOLS
  for (const { id, tools, seen } of servers) {
    const plans: ToolPlan[] = []
    const named = tools.filter(({ name }) => isPlainName(name)).toSorted(byName)
    for (const tool of named.slice(0, left)) {
      if (pace.due) await pace.rest()
      plans.push(planOf(tool))
    }
    left -= plans.length
    const uses = new Map(plans.map((plan) => [plan.tool.name, plan.uses]))
    const values = seenValues(
      seen.calls,
      (tool, fit) => (uses.get(tool) ?? []).filter((use) => use.fit === fit).map(({ pointer }) => pointer),
      (args, pointer) => [...valuesAtPointer(args, pointer)].map(({ value }) => value),
    )
    parts.push({ id, plans, seen, values, rules: rulesOfServer(id, plans, values, taken) })
  }
  const all = servers.flatMap(({ tools }) => tools)
  const uncovered = all.filter(({ name }) => !isPlainName(name)).map(({ name }) => name)
  return { parts, uncovered, tooMany: all.length - uncovered.length - (MAX_TOOLS - left) }
}

const byName = ({ name: one }: DraftedTool, { name: other }: DraftedTool): number => (one < other ? -1 : 1)

/** A folder that is the whole disk is no boundary, and no test of it comes out. */
const folder = (): string => (resolve('.') === parse(resolve('.')).root ? '/project' : '.')

const policyOf = (rules: readonly DraftedRule[], tests: readonly DraftedTest[]): PolicyDocument => ({
  version: 1,
  mode: 'shadow',
  default: 'confirm',
  pinning: 'confirm',
  vars: { project: `\${PROJECT_ROOT:-${folder()}}` },
  rules: rules.map(({ document }) => document),
  tests: tests.map(({ origin: _origin, ...test }) => test),
})

/** Calls on record as tests; what the draft says of them is found by asking it. */
const seenTests = ({ id, seen, plans }: ServerPart): readonly DraftedTest[] => {
  const known = new Set(plans.map(({ tool }) => tool.name))
  return seen.calls
    .filter(({ tool }) => known.has(tool))
    .map(({ tool, arguments: args, count }) => ({
      origin: 'seen',
      name: `seen ${times(count)}`,
      call: { server: id, tool, arguments: args },
      expect: 'allow',
    }))
}

/**
 * A test that was made from a schema and does not come out is left out; one of a call on record expects what was said of it, unless a person
 * is asked, who may well allow it. Throws INVALID_POLICY for an attack that passes.
 */
const withResults = (tests: readonly DraftedTest[], validation: Validation): readonly DraftedTest[] => {
  if (validation.errors.length > 0) throw unfinished(validation)
  return tests.flatMap((test, at): readonly DraftedTest[] => {
    const result = validation.tests[at]
    if (result === undefined || result.pass) return [test]
    if (test.origin === 'attack') throw unfinished(validation)
    return test.origin === 'seen' && result.actual === 'deny' ? [{ ...test, expect: 'deny' }] : []
  })
}

const unfinished = ({ errors, tests, warnings }: Validation): GuardError => {
  const failed = tests.find(({ pass }) => !pass)
  const why = errors[0]?.message ?? (failed && `${failed.name}: expected ${failed.expected}, got ${failed.actual}`)
  return new GuardError(
    'INVALID_POLICY',
    `A draft that passes its own tests cannot be made here: ${why ?? warnings[0]?.message}. Set PROJECT_ROOT to the folder that the tools may work in, and draft again.`,
  )
}
