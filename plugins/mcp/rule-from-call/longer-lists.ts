import { isJsonObject } from 'guard-gateway/lib/json'
import type { YamlEdit } from 'guard-gateway/lib/yaml'
import type { ApprovalRow } from '../approvals/index.ts'
import type { RuleDocument } from '../policy/document.ts'
import type { Likeness } from './likeness.ts'

/** A rule that asked for what its checks found, with longer lists. */
export interface LongerLists {
  readonly rule: RuleDocument
  readonly edits: readonly YamlEdit[]
  /** In words. */
  readonly change: string
}

/** The list of what a check lets pass. */
const LISTS: Readonly<Record<string, string>> = { path: 'inside', http: 'hosts', shell: 'allow', sql: 'operations' }

/** Adds to the lists of a rule what would let the call pass; undefined where what was found is in no list. */
export const longerLists = (
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
