import { parse, resolve } from 'node:path'
import { type Gateway, GuardError } from 'guard-gateway/core'
import type { Document, Pair, Scalar, YAMLMap, YAMLSeq } from 'yaml'
import { valuesAtPointer } from '#lib/check-arguments'
import { Pace } from '#lib/time-slice'
import { canonicalJson } from '#lib/trace'
import type { PolicyDocument } from '../policy/document.ts'
import type { LoadOptions } from '../policy/load.ts'
import { readPolicy } from '../policy/read.ts'
import { type Validation, validatePolicy } from '../policy/validate.ts'
import { headComment, ruleComment, times, toolComment } from './comments.ts'
import { type DraftedRule, rulesOfServer } from './drafted-rules.ts'
import { type DraftedTest, testsOf } from './drafted-tests.ts'
import { type DraftedTool, isPlainName } from './drafted-tool.ts'
import { type SeenServer, type SeenTool, seenValues } from './seen-calls.ts'
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
  const write = (retained: readonly DraftedTest[], dropped: number): Promise<string> =>
    renderDraft(policyOf(parts, retained), commentsOf(source, covered, dropped, gateway.clock.now()))
  const check = (yaml: string): Promise<Validation> => validatePolicy(gateway, { text: yaml }, { ...options, tools })
  const all = [...tests.slice(0, MAX_TESTS), ...seen.slice(0, MAX_SEEN_TESTS)]
  const retained = withResults(all, await check(await write(all, 0)))
  const isSample = ({ origin }: DraftedTest): boolean => origin === 'sample'
  const yaml = await write(retained, all.filter(isSample).length - retained.filter(isSample).length)
  const proven = await check(yaml)
  if (!proven.valid || proven.warnings.length > 0) throw unfinished(proven)
  return { yaml, rules: parts.length, tests: retained.length, tools: tools.length }
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

const EDITS: Readonly<Record<string, string>> = {
  http: 'EDIT: hosts that need no question',
  shell: 'EDIT: commands that need no question',
  sql: 'EDIT: the dialect of the database',
}

const ALWAYS: readonly (readonly [string, string])[] = [
  ['mode', 'EDIT last: enforce'],
  ['default', 'calls that no rule is about, other servers among them'],
  ['pinning', 'a tool whose definition changes is asked about'],
  ['vars/project', 'EDIT: the folder; a relative one is taken from where the gateway starts'],
]

/** All that a draft says beside its values. `now`: milliseconds since 1970. */
const commentsOf = (
  { servers, since }: DraftSource,
  { parts, uncovered, tooMany }: Covered,
  dropped: number,
  now: number,
): DraftComments => {
  const rules = parts.flatMap((part) => part.rules.map((rule) => ({ rule, seen: part.seen.tools })))
  return {
    head: headComment({
      server_ids: servers.map(({ id }) => id),
      date: new Date(now).toISOString().slice(0, 10),
      tools: sum(servers.map(({ tools }) => tools.length)),
      ...{ uncovered, tooMany, dropped, since },
      calls: sum(servers.flatMap(({ seen }) => [...seen.tools.values()].map(({ calls }) => calls))),
      withArguments: sum(servers.flatMap(({ seen }) => seen.calls.map(({ count }) => count))),
    }),
    rules: new Map(rules.map(({ rule }) => [rule.document.id, ruleComment(rule)])),
    beside: new Map([...ALWAYS, ...rules.flatMap(({ rule, seen }, at) => besideRule(rule, at, seen))]),
    tests: ['Run by validate-policy and before each reload: the draft proves itself.'],
  }
}

const sum = (values: readonly number[]): number => values.reduce((total, one) => total + one, 0)

/** Where and what: each tool of the rule that says what becomes of it, and the lists that a person goes on with. */
const besideRule = (
  { role, plans, document }: DraftedRule,
  at: number,
  seen: ReadonlyMap<string, SeenTool>,
): readonly (readonly [string, string])[] => {
  if (role === 'tools')
    return plans.map((plan, index) => [`rules/${at}/tools/${index}`, toolComment(plan, seen.get(plan.tool.name))])
  if (role === 'bounds') return []
  return (document.checks ?? []).flatMap((check, index) =>
    Object.keys(check).map((name) => [`rules/${at}/checks/${index}/${name}`, EDITS[name] ?? ''] as const),
  )
}

/** What a draft says beside its values. Every line is one line of visible text. */
interface DraftComments {
  /** Above everything. */
  readonly head: readonly string[]
  /** Above a rule, by its id. */
  readonly rules: ReadonlyMap<string, readonly string[]>
  /** Behind a value: the keys that lead to it, joined by a slash, and the words. */
  readonly beside: ReadonlyMap<string, string>
  /** Above the tests. */
  readonly tests: readonly string[]
}

type Yaml = typeof import('yaml')
/** As much of a node as is set here. */
type Node = { comment?: string | null; commentBefore?: string | null; spaceBefore?: boolean; flow?: boolean }

/** A policy as YAML with its comments. What comes out is read again: no name of a server may have changed what the text means. Throws INVALID_YAML otherwise. */
const renderDraft = async (policy: PolicyDocument, comments: DraftComments): Promise<string> => {
  const yaml = await import('yaml')
  const doc = new yaml.Document(policy, { aliasDuplicateObjects: false, version: '1.2' })
  doc.commentBefore = lines(comments.head)
  for (const key of ['rules', 'tests']) pairAt(doc, key).spaceBefore = true
  formatRules(yaml, doc, policy, comments)
  formatTests(yaml, doc, comments)
  for (const [path, words] of comments.beside) besideAt(yaml, doc, path.split('/'), words)
  const text = doc.toString({ lineWidth: 0, doubleQuotedAsJSON: true })
  const { value } = await readPolicy(text)
  if (canonicalJson(value) !== canonicalJson(JSON.parse(JSON.stringify(policy))))
    throw new GuardError('INVALID_YAML', 'The draft cannot be written so that it reads as it was meant.')
  return text
}

const lines = (texts: readonly string[]): string => texts.map((text) => ` ${text}`).join('\n')

/** The key of a member, which carries what stands above it. */
const pairAt = (doc: Document, key: string): Node =>
  (doc.contents as YAMLMap).items.find((pair) => keyOf(pair) === key)?.key as Node

const keyOf = ({ key }: Pair): unknown => (key as Scalar).value

const formatRules = (yaml: Yaml, doc: Document, { rules }: PolicyDocument, comments: DraftComments): void => {
  const seq = doc.get('rules') as YAMLSeq<YAMLMap>
  for (const [at, item] of seq.items.entries()) {
    const above = comments.rules.get(rules[at]?.id ?? '')
    if (above !== undefined) item.commentBefore = lines(above)
    item.spaceBefore = at > 0
    for (const key of ['servers', 'only']) flow(yaml, item.get(key))
    if (!comments.beside.has(`rules/${at}/tools/0`)) flow(yaml, item.get('tools'))
    flowChecks(yaml, item.get('checks'))
  }
}

/** The options of a check stand on its line. */
const flowChecks = (yaml: Yaml, checks: unknown): void => {
  if (!yaml.isSeq(checks)) return
  for (const check of checks.items.filter(yaml.isMap)) for (const pair of check.items) flow(yaml, pair.value)
}

const formatTests = (yaml: Yaml, doc: Document, comments: DraftComments): void => {
  const seq = doc.get('tests')
  if (!yaml.isSeq(seq)) return
  seq.commentBefore = lines(comments.tests)
  for (const item of seq.items) flow(yaml, item)
}

const flow = (yaml: Yaml, node: unknown): void => {
  if (yaml.isCollection(node)) node.flow = true
}

const besideAt = (yaml: Yaml, doc: Document, keys: readonly string[], words: string): void => {
  const node: unknown = doc.getIn(
    keys.map((key) => (/^\d+$/.test(key) ? Number(key) : key)),
    true,
  )
  if (yaml.isNode(node)) node.comment = ` ${words}`
}
