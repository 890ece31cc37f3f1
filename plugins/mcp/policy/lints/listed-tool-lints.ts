import { anyGlob } from 'guard-gateway/lib/glob'
import { pointerKeys } from 'guard-gateway/lib/json'
import type { CompiledRule } from '../compiled.ts'
import type { Lint } from '../lints.ts'
import { argumentNames, type ListedTool } from '../listed-tool.ts'
import { uncheckedLints } from './unchecked.ts'

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
