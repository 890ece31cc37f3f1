import { glob, pointerKeys } from 'guard-gateway/core'
import type { CompiledRule } from './compiled.ts'
import type { Lint } from './lints.ts'
import { argumentNames, type SeenTool } from './seen-tool.ts'

/** What a rule gets wrong about the tools that servers have listed. */
export const seenLints = (rule: CompiledRule, tools: readonly SeenTool[]): readonly Lint[] => {
  const meant = tools.filter(({ server_id, name }) => namesTool(rule, server_id, name))
  return [
    ...(isOfSeen(rule, tools) ? notSeen(rule, meant) : []),
    ...notInSchema(rule, meant),
    ...unchecked(rule, meant),
  ]
}

/** Some server that the rule is about has listed its tools. */
const isOfSeen = ({ document: { servers } }: CompiledRule, tools: readonly SeenTool[]): boolean =>
  servers === undefined ||
  tools.some(({ server_id }) => server_id === undefined || servers.some((pattern) => glob(pattern)(server_id)))

/** Where it is not known whose tool it is, any server may be meant. */
const namesTool = (rule: CompiledRule, server_id: string | undefined, tool: string): boolean =>
  server_id === undefined
    ? (rule.document.servers ?? ['']).some((server) => rule.names(server, tool))
    : rule.names(server_id, tool)

const notSeen = ({ document: { id, tools }, index }: CompiledRule, meant: readonly SeenTool[]): readonly Lint[] =>
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

const notInSchema = (rule: CompiledRule, meant: readonly SeenTool[]): readonly Lint[] => {
  const { index, id, document } = rule
  return (document.checks ?? []).flatMap((check, at) =>
    Object.entries(check).flatMap(([name, options]) =>
      pointersOf(options).flatMap((pointer, position): readonly Lint[] => {
        const lacking = meant.find((tool) => lacks(tool, pointer))
        if (lacking === undefined) return []
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

const lacks = (tool: SeenTool, pointer: string): boolean => {
  const [name = ''] = pointerKeys(pointer)
  const known = argumentNames(tool)
  return known !== undefined && name !== '*' && !known.includes(name)
}

/** Words in the names of arguments that lead out of the conversation. */
const POWERFUL = new Set([
  'path',
  'paths',
  'file',
  'directory',
  'url',
  'urls',
  'uri',
  'command',
  'commands',
  'cmd',
  'sql',
])

const isPowerful = (name: string): boolean =>
  name
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .some((word) => POWERFUL.has(word))

const unchecked = (rule: CompiledRule, meant: readonly SeenTool[]): readonly Lint[] => {
  const { index, id, document } = rule
  if (document.action !== 'allow' || document.checks !== undefined) return []
  return meant.flatMap((tool): readonly Lint[] => {
    const name = argumentNames(tool)?.find(isPowerful)
    if (name === undefined) return []
    const message = `rule "${id}" allows ${tool.name} with any ${name}; give it checks`
    return [{ code: 'ALLOW_WITHOUT_CHECKS', path: ['rules', index], message }]
  })
}
