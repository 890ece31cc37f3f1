import { anyGlob } from '#lib/glob'
import { isJsonObject } from '#lib/json'
import { canonicalJson } from '#lib/trace'
import type { YamlEdit } from '#lib/yaml'
import type { ApprovalRow } from '../approvals/index.ts'
import { UNLISTED } from '../judge/judge-call.ts'
import type { PolicyDocument, RuleDocument } from '../policy/document.ts'
import type { Likeness } from './likeness.ts'

/** What makes a policy let calls like one pass. */
export interface RuleEdits {
  /** The rule that allows them. */
  readonly rule: RuleDocument
  /** Further changes, in words: a rule that asks goes on to ask where another one allows, since the strictest wins. */
  readonly changes: readonly string[]
  readonly edits: readonly YamlEdit[]
  /** Why the calls would still be asked about. */
  readonly stuck: readonly string[]
}

/** Makes the rule and the changes of those that asked. The policy is as its file has it, variables in place. */
export const ruleEdits = (policy: PolicyDocument, row: ApprovalRow, like: Likeness): RuleEdits => {
  const taken = new Set([...policy.rules.map(({ id }) => id), 'default'])
  const asking = row.rule_ids.map((rule_id) => askingRule(policy, row, rule_id, like, taken))
  const longer = asking.flatMap(({ lists }) => lists ?? [])
  const stuck = asking.flatMap((one) => one.stuck ?? [])
  const [extended] = longer
  if (extended !== undefined && longer.length === asking.length)
    return {
      rule: extended.rule,
      changes: longer.map(({ change }) => change),
      edits: longer.flatMap(({ edits }) => edits),
      stuck,
    }
  const condition = conditionOf(like)
  const rule = newRule(asking.flatMap((one) => one.rule ?? [])[0], row, like, condition, taken)
  const parts = asking.flatMap((one) =>
    one.rule === undefined ? [] : [changeOf(one.rule, one.at, row, condition, taken)],
  )
  const reach = asking[0]?.rule?.servers
  const isWider = asking[0]?.rule !== undefined && (reach?.length !== 1 || reach[0] !== row.server_id)
  return {
    rule,
    changes: [
      ...parts.flatMap(({ changes }) => changes),
      ...(isWider ? [`the new rule is about ${reach?.join(', ') ?? 'every server'}, as the one that asked`] : []),
    ],
    edits: [...[...parts, ...longer].flatMap(({ edits }) => edits), { append: ['rules'], value: rule }],
    stuck: [...stuck, ...faultOfName(row), ...unlike(asking), ...parts.flatMap((part) => part.stuck)],
  }
}

/** A server may call a tool as a pattern is written: the rule would be about other tools. */
const faultOfName = ({ tool }: ApprovalRow): readonly string[] => {
  if (tool.startsWith(UNLISTED)) return ['its name is not on record: it is no word, and its server does not list it']
  return tool.includes('*') ? ['the name of the tool is a pattern in policies, and would name other tools'] : []
}

/** One rule cannot ask in the place of several that are about other servers or callers: some of those would be asked no more. */
const unlike = (asking: readonly Asking[]): readonly string[] => {
  const rules = asking.flatMap(({ rule }) => rule ?? [])
  const reaches = new Set(rules.map(({ servers = null, when = null }) => canonicalJson([servers, when])))
  if (reaches.size < 2) return []
  const names = rules.map(({ id }) => `"${id}"`).join(' and ')
  return [`rules ${names} ask about calls of other servers, callers or arguments: change them by hand`]
}

/** Allows calls like one; every other call of the tool is asked about. */
const newRule = (
  asking: RuleDocument | undefined,
  row: ApprovalRow,
  like: Likeness,
  condition: object | undefined,
  taken: Set<string>,
): RuleDocument => {
  const name = row.tool.replaceAll(/[^A-Za-z0-9._-]/g, '-').replace(/^[^A-Za-z0-9]+/, '')
  const when = whenOf(asking, condition)
  return {
    id: freeId(`${name.slice(0, MAX_NAME) || 'tool'}-like`, taken),
    tools: [row.tool],
    // where the one that asked is about more servers, calls there must still be asked about
    ...(asking === undefined ? { servers: [row.server_id] } : asking.servers && { servers: asking.servers }),
    ...(when === undefined ? {} : { when }),
    only: like.only,
    action: 'allow',
    ...(like.checks.length === 0 ? {} : { checks: like.checks }),
    on_violation: 'confirm',
    ...(asking?.message === undefined ? {} : { message: asking.message }),
  }
}

const MAX_NAME = 40

interface Asking {
  readonly rule?: RuleDocument
  readonly at: number
  readonly lists?: LongerLists
  readonly stuck?: string
}

const askingRule = (
  policy: PolicyDocument,
  row: ApprovalRow,
  rule_id: string,
  like: Likeness,
  taken: Set<string>,
): Asking => {
  const { tool } = row
  if (rule_id === 'default') return { at: -1 }
  if (rule_id === 'pin')
    return { at: -1, stuck: 'its definition is not trusted: look at it at /mcp, and trust it there' }
  const at = policy.rules.findIndex(({ id }) => id === rule_id)
  const rule = policy.rules[at]
  if (rule === undefined) return { at, stuck: `"${rule_id}", which asks, is no rule of the policy file` }
  const lists = rule.action === 'confirm' ? undefined : longerLists(rule, at, row, like)
  if (rule.action !== 'confirm' && lists === undefined)
    return {
      at,
      stuck: `rule "${rule_id}" asks for what one of its checks found, and has no list that this could be added to`,
    }
  if (lists !== undefined && rule.tools.every((one) => one === tool)) return { at, lists }
  if (!isNamed(rule, tool))
    return {
      at,
      stuck: `rule "${rule_id}" names the tool by a pattern: name its other tools one by one, without this one`,
    }
  return lists === undefined ? { at, rule } : { at, lists: apart(rule, at, tool, lists, taken) }
}

/** By its name alone: a rule that names a tool by a pattern cannot leave it out. */
const isNamed = ({ tools }: RuleDocument, tool: string): boolean =>
  tools.includes(tool) && !tools.some((one) => one.includes('*') && anyGlob([one])(tool))

/** A rule of its own for the tool: what one tool may open, the others of the rule may not. */
const apart = (
  { id, tools }: RuleDocument,
  at: number,
  tool: string,
  { rule }: LongerLists,
  taken: Set<string>,
): LongerLists => {
  const own = { ...rule, id: freeId(`${id}-more`, taken), tools: [tool] }
  const others = tools.filter((one) => one !== tool)
  return {
    rule: own,
    edits: [
      { replace: ['rules', at, 'tools'], with: others },
      { append: ['rules'], value: own },
    ],
    change: `rule "${id}" no longer names ${tool}, whose rule is the same with longer lists`,
  }
}

const conditionOf = ({ same }: Likeness): object | undefined => {
  const names = Object.keys(same)
  if (names.length === 0) return undefined
  return { required: names, properties: Object.fromEntries(names.map((name) => [name, { const: same[name] }])) }
}

const whenOf = (asking: RuleDocument | undefined, condition: object | undefined): RuleDocument['when'] => {
  const before = asking?.when
  if (condition === undefined) return before
  if (before === undefined) return { arguments: condition }
  const existing = before.arguments
  return { ...before, arguments: existing === undefined ? condition : { allOf: [existing, condition] } }
}

/** What a rule that asked says from now on: the same of its other tools; of this one only what no call may do, and where a value is another one. */
const changeOf = (
  rule: RuleDocument,
  at: number,
  { tool }: ApprovalRow,
  condition: object | undefined,
  taken: Set<string>,
): Pick<RuleEdits, 'changes' | 'edits' | 'stuck'> => {
  const others = rule.tools.filter((one) => one !== tool)
  const hasBounds = rule.checks !== undefined || rule.only !== undefined || rule.results !== undefined
  const { id: _id, action: _action, tools: _tools, ...rest } = rule
  const bounds = { id: freeId(`${rule.id}-bounds`, taken), tools: [tool], action: 'allow', ...rest }
  const elsewhere = {
    id: freeId(`${rule.id}-others`, taken),
    tools: [tool],
    action: 'confirm',
    ...rest,
    when: whenOf(rule, { not: condition }),
  }
  const edits: YamlEdit[] = []
  const changes: string[] = []
  if (others.length > 0) {
    edits.push({ replace: ['rules', at, 'tools'], with: others })
    changes.push(`rule "${rule.id}" no longer names ${tool}, so that it does not ask about it`)
    if (hasBounds) edits.push({ append: ['rules'], value: bounds })
  } else if (hasBounds) edits.push({ replace: ['rules', at, 'action'], with: 'allow' })
  else if (rule.enabled === undefined) edits.push({ add: ['rules', at], key: 'enabled', value: false })
  if (others.length === 0)
    changes.push(
      hasBounds
        ? `rule "${rule.id}" no longer asks, and keeps its checks`
        : `rule "${rule.id}" is switched off: the new one asks in its place`,
    )
  if (condition !== undefined) edits.push({ append: ['rules'], value: elsewhere })
  const stuck =
    others.length === 0 && !hasBounds && rule.enabled !== undefined
      ? [`rule "${rule.id}" asks about the tool: take it out of there`]
      : []
  return { changes, edits, stuck }
}

const MAX_ID = 64

const freeId = (preferred: string, taken: Set<string>): string => {
  let id = preferred.slice(0, MAX_ID)
  for (let count = 2; taken.has(id); count++) id = `${preferred.slice(0, MAX_ID - 5)}-${count}`
  taken.add(id)
  return id
}

/** A rule that asked for what its checks found, with longer lists. */
interface LongerLists {
  readonly rule: RuleDocument
  readonly edits: readonly YamlEdit[]
  /** In words. */
  readonly change: string
}

/** The list of what a check lets pass. */
const LISTS: Readonly<Record<string, string>> = { path: 'inside', http: 'hosts', shell: 'allow', sql: 'operations' }

/** Adds to the lists of a rule what would let the call pass; undefined where what was found is in no list. */
const longerLists = (
  rule: RuleDocument,
  at: number,
  { findings }: ApprovalRow,
  like: Likeness,
): LongerLists | undefined => {
  const found = findings.filter(({ rule_id }) => rule_id === rule.id)
  if (found.length === 0 || Object.keys(like.same).length > 0) return undefined
  const ids = new Set(found.map(({ check }) => check))
  const edits: YamlEdit[] = []
  const names = ids.has('only') ? like.only.filter((name) => !rule.only?.includes(name)) : []
  edits.push(...names.map((value): YamlEdit => ({ append: ['rules', at, 'only'], value })))
  const checks = (rule.checks ?? []).map((check, index) => {
    const [id = ''] = Object.keys(check)
    const list = ids.has(id) ? LISTS[id] : undefined
    const options = check[id]
    if (list === undefined || !isJsonObject(options)) return check
    const there = listAt(options, list)
    const more = valuesFor(like, id, list, options.args).filter((value) => !there.some((one) => isSame(one, value)))
    edits.push(...more.map((value): YamlEdit => ({ append: ['rules', at, 'checks', index, id, list], value })))
    return { ...check, [id]: { ...options, [list]: [...there, ...more] } }
  })
  if (edits.length === 0) return undefined
  const change = `the lists of rule "${rule.id}" are longer`
  const only = rule.only === undefined ? {} : { only: [...rule.only, ...names] }
  return { rule: { ...rule, ...only, ...(rule.checks === undefined ? {} : { checks }) }, edits, change }
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

const listAt = (options: Readonly<Record<string, unknown>>, list: string): readonly unknown[] => {
  const values = options[list]
  return Array.isArray(values) ? values : []
}

/** What calls like this have in arguments that the check looks at. */
const valuesFor = ({ checks }: Likeness, id: string, list: string, args: unknown): readonly unknown[] =>
  checks.flatMap((check) => {
    const options = check[id]
    if (!isJsonObject(options) || !Array.isArray(options.args) || !Array.isArray(args)) return []
    return options.args.some((pointer) => args.includes(pointer)) ? listAt(options, list) : []
  })
