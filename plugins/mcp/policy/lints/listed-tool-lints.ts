import { anyGlob } from '#lib/glob'
import { isJsonObject, pointerKeys } from '#lib/json'
import type { CompiledRule } from '../compiled.ts'
import type { RuleDocument } from '../document.ts'
import type { Lint } from '../fault.ts'
import { argumentNames, type ListedTool } from '../listed-tool.ts'
import { powerfulArguments } from './powerful.ts'

/** What a rule gets wrong about the tools that servers have listed. */
export const listedToolLints = (
  rule: CompiledRule,
  tools: readonly ListedTool[],
  rules: readonly CompiledRule[],
): readonly Lint[] => {
  const meant = tools.filter(({ server_id, name }) => namesTool(rule, server_id, name))
  return [
    ...(isOfSeen(rule, tools) ? notListed(rule, meant) : []),
    ...notInSchema(rule, meant),
    ...unknownNames(rule, meant),
    ...uncheckedLints(rule, meant, ({ server_id, name }) => rules.filter((one) => namesTool(one, server_id, name))),
  ]
}

/** Some server that the rule is about has listed its tools. */
const isOfSeen = ({ document: { servers } }: CompiledRule, tools: readonly ListedTool[]): boolean =>
  servers === undefined || tools.some(({ server_id }) => server_id === undefined || anyGlob(servers)(server_id))

/** Where it is not known whose tool it is, any server may be meant. */
const namesTool = (rule: CompiledRule, server_id: string | undefined, tool: string): boolean =>
  server_id === undefined
    ? (rule.document.servers ?? ['']).some((server) => rule.names(server, tool))
    : rule.names(server_id, tool)

const notListed = ({ document: { id, tools }, index }: CompiledRule, meant: readonly ListedTool[]): readonly Lint[] =>
  tools.flatMap((tool, at): readonly Lint[] =>
    tool.includes('*') || meant.some(({ name }) => name === tool)
      ? []
      : [
          {
            code: 'TOOL_NOT_SEEN',
            path: ['rules', index, 'tools', at],
            message: `rule "${id}" names the tool "${tool}", which no server lists`,
          },
        ],
  )

const notInSchema = (rule: CompiledRule, meant: readonly ListedTool[]): readonly Lint[] => {
  const { index, id, document } = rule
  return (document.checks ?? []).flatMap((check, at) =>
    Object.entries(check).flatMap(([name, options]) =>
      pointersOf(options).flatMap((pointer, position): readonly Lint[] => {
        const lacking = meant.find((tool) => lacks(tool, pointer))
        // what may be missing is looked for in the tools that have it
        const isElsewhere = isOptional(options) && meant.some((tool) => !lacks(tool, pointer))
        if (lacking === undefined || isElsewhere) return []
        const there = argumentNames(lacking)?.join(', ') || 'none'
        return [
          {
            code: 'POINTER_NOT_IN_SCHEMA',
            path: ['rules', index, 'checks', at, name, 'args', position],
            message: `rule "${id}" checks ${pointer}, which is no argument of ${lacking.name}; there is ${there}`,
          },
        ]
      }),
    ),
  )
}

const pointersOf = (options: unknown): readonly string[] => {
  const args = (options as { args?: unknown } | null)?.args
  return Array.isArray(args) ? args.filter((pointer) => typeof pointer === 'string') : []
}

const isOptional = (options: unknown): boolean => (options as { optional?: unknown } | null)?.optional === true

const lacks = (tool: ListedTool, pointer: string): boolean => {
  const [name = ''] = pointerKeys(pointer)
  const known = argumentNames(tool)
  return known !== undefined && name !== '*' && !known.includes(name)
}

/** Names under `only` that are no arguments of any tool that the rule is about. */
const unknownNames = ({ document: { id, only = [] }, index }: CompiledRule, meant: readonly ListedTool[]) => {
  const known = meant.map(argumentNames)
  if (known.length === 0 || known.includes(undefined)) return []
  const there = new Set(known.flatMap((names) => names ?? []))
  return only.flatMap((name, at): readonly Lint[] =>
    there.has(name)
      ? []
      : [
          {
            code: 'ARGUMENT_NOT_IN_SCHEMA',
            path: ['rules', index, 'only', at],
            message: `rule "${id}" takes the argument ${name}, which its tools do not have; there is ${[...there].join(', ') || 'none'}`,
          },
        ],
  )
}

/** Actions that forward a call without a person seeing it. */
const FORWARDING: ReadonlySet<RuleDocument['action']> = new Set(['allow', 'transform', 'rate_limit'])

/** Arguments that reach out and that nothing examines where a rule lets calls through. `others` are the rules about the same tool. */
const uncheckedLints = (
  rule: CompiledRule,
  meant: readonly ListedTool[],
  others: (tool: ListedTool) => readonly CompiledRule[],
): readonly Lint[] => {
  const { index, id, document } = rule
  if (!FORWARDING.has(document.action)) return []
  const isBare = document.checks === undefined && document.only === undefined
  if (isBare && document.action !== 'allow') return []
  return meant.flatMap((tool): readonly Lint[] => {
    const about = others(tool).filter((other) => other !== rule)
    if (!isBare && about.some(alwaysStops)) return []
    const rules = [rule, ...about.filter(alwaysObjects)]
    const open = powerfulArguments(tool.inputSchema).filter((pointer) => !rules.some((one) => isChecked(one, pointer)))
    if (open.length === 0) return []
    if (isBare) {
      const names = open.map((pointer) => pointer.slice(1)).join(', ')
      const message = `rule "${id}" allows ${tool.name} with any ${names}; give it checks`
      return [{ code: 'ALLOW_WITHOUT_CHECKS', path: ['rules', index], message }]
    }
    return open.map((pointer) => ({
      code: 'ARGUMENT_UNCHECKED',
      path: ['rules', index, document.checks === undefined ? 'only' : 'checks'],
      message: `rule "${id}" lets ${tool.name} through with any ${pointer.slice(1)}, at which no check looks; point a check to ${pointer}, or list the arguments that may be given under only`,
    }))
  })
}

/** Its objections count whatever other rules say. */
const alwaysObjects = ({ document: { when, on_violation = 'deny' } }: CompiledRule): boolean =>
  when === undefined && on_violation !== 'shadow_deny'

/** A person sees every call, or nobody gets one through. */
const alwaysStops = ({ document: { when, action } }: CompiledRule): boolean =>
  when === undefined && (action === 'confirm' || action === 'deny')

const isChecked = ({ document }: CompiledRule, pointer: string): boolean => {
  const [name = ''] = pointerKeys(pointer)
  if (document.only !== undefined && !document.only.includes(name)) return true
  return (
    isBound(document.when?.arguments, name) ||
    [...pointedAt(document), ...setBy(document)].some((one) => meets(one, pointer))
  )
}

/** What a size bounds is no less powerful. */
const pointedAt = ({ checks = [] }: RuleDocument): readonly string[] =>
  checks.flatMap((check) =>
    Object.entries(check).flatMap(([id, options]) => (id === 'size' ? [] : pointersIn(options))),
  )

const pointersIn = (options: unknown): readonly string[] =>
  isJsonObject(options) && Array.isArray(options.args) ? options.args.map(String) : []

const setBy = ({ transform }: RuleDocument): readonly string[] =>
  (transform?.arguments ?? []).flatMap(({ remove, set = {} }) => [
    ...(remove === undefined ? [] : [remove]),
    ...Object.keys(set),
  ])

/** One pointer is at, above or below the other; an asterisk is any key. */
const meets = (one: string, other: string): boolean => {
  const [left, right] = [pointerKeys(one), pointerKeys(other)]
  const length = Math.min(left.length, right.length)
  return left.slice(0, length).every((key, at) => key === right[at] || key === '*' || right[at] === '*')
}

const BINDING = ['const', 'enum', 'pattern', 'anyOf', 'oneOf', 'allOf', '$ref']

/** Whether a condition of the rule says what an argument may be, or that it may not be there. */
const isBound = (condition: unknown, name: string): boolean => {
  if (!isJsonObject(condition)) return false
  const { properties, additionalProperties, unevaluatedProperties } = condition
  if (isJsonObject(properties) && Object.hasOwn(properties, name)) {
    const part = properties[name]
    return part === false || (isJsonObject(part) && BINDING.some((keyword) => Object.hasOwn(part, keyword)))
  }
  return additionalProperties === false || unevaluatedProperties === false
}
