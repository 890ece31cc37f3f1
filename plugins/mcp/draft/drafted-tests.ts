import type { TestDocument } from '../policy/document.ts'
import type { Fit } from './argument-uses.ts'
import { type DraftedRule, listedHosts } from './drafted-rules.ts'
import { type Sample, sampleOf, withValue } from './samples.ts'
import type { SeenValues } from './seen-calls.ts'
import type { ToolPlan } from './tool-plan.ts'

/** A test of a draft; `sample`: made from a schema, so that it may be left out where it does not come out. */
export interface DraftedTest extends TestDocument {
  readonly origin: 'sample' | 'attack' | 'seen'
}

type Case = readonly [name: string, value: unknown]

const OPTION: Case = ['an option of the program', '--output=/tmp/x']

/** Values that a check must stop, by the argument they are given in; the first for every argument, the others once. */
const DENIED: Partial<Readonly<Record<Fit, readonly Case[]>>> = {
  path: [
    ['outside of the folder', '../outside.txt'],
    ['a file of the system', '/etc/passwd'],
    ['a file with secrets', '.env'],
  ],
  option: [OPTION],
  http: [
    ['an address of its own network', 'https://169.254.169.254/latest/meta-data/'],
    ['a file as an address', 'file:///etc/passwd'],
  ],
}

/** The same where the call is asked about. */
const CONFIRMED: Partial<Readonly<Record<Fit, readonly Case[]>>> = {
  http: [['a host that is not listed', 'https://not-listed.example.net/']],
  shell: [
    ['a command behind an allowed one', 'ls; touch x'],
    ['a command within an allowed one', 'ls "$(touch x)"'],
    ['a command by an option of an allowed one', 'git -c core.pager=./x status'],
    ['words that make pastes into a command', "make test ARGS='; touch x'"],
  ],
  sql: [
    ['a statement that changes', 'DROP TABLE users'],
    ['a statement behind one that reads', 'SELECT 1; DROP TABLE users'],
  ],
}

/** The tests of one rule: a plain call of each tool, and the attacks that its checks stop. */
export const testsOf = (rule: DraftedRule, seen: SeenValues): readonly DraftedTest[] => {
  if (rule.role === 'tools')
    return rule.plans.flatMap((plan) => [...plainTest(rule, plan, seen), ...beside(rule, plan, seen)])
  const [cases, expect] = rule.role === 'list' ? [CONFIRMED, 'confirm' as const] : [DENIED, 'deny' as const]
  const tried = new Set<string>()
  return rule.plans.flatMap((plan) =>
    plan.uses.flatMap(({ fit, pointer }) => {
      if (tried.has(pointer) || (rule.role === 'bounds' && fit !== rule.kind)) return []
      const values = casesOf(cases[fit] ?? [], fit, rule, tried.size === 0)
      const tests = values.flatMap(([name, value]) =>
        attack(plan, seen, pointer, [name, value], expect, rule.document.id),
      )
      if (tests.length > 0) tried.add(pointer)
      return tests
    }),
  )
}

const casesOf = (cases: readonly Case[], fit: Fit, rule: DraftedRule, isFirst: boolean): readonly Case[] => {
  if (!isFirst && rule.role === 'bounds') return cases.slice(0, 1)
  const deny = JSON.stringify(rule.document.checks ?? [])
  return fit === 'path' && deny.includes('"**/-*"') ? [...cases, OPTION] : cases
}

const attack = (
  plan: ToolPlan,
  seen: SeenValues,
  pointer: string,
  [name, value]: Case,
  expect: 'deny' | 'confirm',
  rule: string,
): readonly DraftedTest[] => {
  const plain = plainArguments(plan, seen)
  if (plain === undefined) return []
  const call = callOf(plan, withValue(plan.tool.inputSchema, plain, pointer, value))
  return [{ origin: 'attack', name: `${name}: ${pointer}`, call, expect, rule }]
}

/** The call with each argument that no check can judge. */
const beside = (rule: DraftedRule, plan: ToolPlan, seen: SeenValues): readonly DraftedTest[] => {
  const plain = plainArguments(plan, seen)
  if (plain === undefined) return []
  return plan.leftOut.map((name) => ({
    origin: 'attack' as const,
    name: `no check can judge it: ${name}`,
    call: callOf(plan, { ...plain, [name]: './x' }),
    expect: 'deny' as const,
    rule: rule.document.id,
  }))
}

/** What is marked for an edit is not tested: a question that becomes an allowance, a host in place of an example. */
const plainTest = (rule: DraftedRule, plan: ToolPlan, seen: SeenValues): readonly DraftedTest[] => {
  const isExample = rule.kind === 'opens' && seen.hosts.length === 0
  const args = plan.action === 'allow' && !isExample ? plainArguments(plan, seen) : undefined
  if (args === undefined) return []
  return [{ origin: 'sample', call: callOf(plan, args), expect: 'allow', rule: rule.document.id }]
}

/** A call that passes every check: what each call has, with values that they take. */
const plainArguments = ({ tool, uses }: ToolPlan, seen: SeenValues): Sample | undefined => {
  const sample = sampleOf(tool.inputSchema)
  if (sample === undefined) return undefined
  return uses
    .filter(({ isOptional, fit }) => !isOptional && fit !== 'none')
    .reduce<Sample>((args, { fit, pointer }) => withValue(tool.inputSchema, args, pointer, fitting(fit, seen)), sample)
}

const fitting = (fit: Fit, seen: SeenValues): string => {
  switch (fit) {
    case 'path':
      return 'README.md'
    case 'http':
      return `https://${listedHosts(seen)[0]?.replace(/^\*\./, 'www.')}/`
    case 'shell':
      return 'pwd'
    case 'sql':
      return 'SELECT 1'
    default:
      return 'main'
  }
}

const callOf = ({ tool }: ToolPlan, args: Sample): TestDocument['call'] => ({
  server: tool.server_id,
  tool: tool.name,
  ...(Object.keys(args).length === 0 ? {} : { arguments: args }),
})
