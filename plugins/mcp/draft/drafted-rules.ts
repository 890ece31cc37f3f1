import type { RuleDocument } from '../policy/document.ts'
import { wordsOf } from '../policy/lints/powerful.ts'
import { type ArgumentUse, dialectOf, drivesProgram, type Fit } from './argument-uses.ts'
import { propertiesOf } from './schema-parts.ts'
import type { SeenValues } from './seen-calls.ts'
import type { PlanKind, ToolPlan } from './tool-plan.ts'

/** One rule of a draft. `tools`: says what becomes of calls; `bounds`: what no call may do; `list`: what needs no question. */
export interface DraftedRule {
  readonly role: 'tools' | 'bounds' | 'list'
  readonly kind: PlanKind | Fit
  readonly plans: readonly ToolPlan[]
  readonly document: RuleDocument
}

const KINDS: readonly PlanKind[] = ['reads', 'said_to_read', 'opens', 'runs', 'queries', 'changes', 'unjudged']
const BOUNDS = { path: 'files', option: 'options', http: 'addresses' } as const
const LISTS = ['http', 'shell', 'sql'] as const

/** The rules for the tools of one server; ids are unique among `taken`, to which they are added. */
export const rulesOfServer = (
  server_id: string,
  plans: readonly ToolPlan[],
  seen: SeenValues,
  taken: Set<string>,
): readonly DraftedRule[] => {
  const idOf = (name: string): string => freeId(`${idPart(server_id)}.${name.replaceAll('_', '-')}`, taken)
  const about = (some: readonly ToolPlan[]) => ({ tools: some.map(({ tool }) => tool.name), servers: [server_id] })
  const ofTools = KINDS.flatMap((kind) => {
    const alike = Map.groupBy(
      plans.filter((plan) => plan.kind === kind),
      ({ leftOut }) => JSON.stringify(leftOut),
    )
    return [...alike.values()].flatMap((some): readonly DraftedRule[] => {
      const id = idOf(kind)
      const checks = listsOf(some, seen)
      const listed = { id: `${id}.listed`, ...about(some), action: 'allow', checks, on_violation: 'confirm' } as const
      return [
        { role: 'tools', kind, plans: some, document: { id, ...about(some), ...toolsRule(some) } },
        ...(checks.length === 0 ? [] : [{ role: 'list', kind, plans: some, document: listed } as const]),
      ]
    })
  })
  const bounds = (Object.keys(BOUNDS) as (keyof typeof BOUNDS)[]).flatMap((fit): readonly DraftedRule[] => {
    const some = plans.filter(({ uses }) => uses.some((use) => use.fit === fit))
    if (some.length === 0) return []
    const document = { id: idOf(BOUNDS[fit]), ...about(some), action: 'allow', checks: [boundOf(fit, some)] } as const
    return [{ role: 'bounds', kind: fit, plans: some, document }]
  })
  return [...ofTools, ...bounds]
}

const MAX_BYTES = 1_000_000

const toolsRule = (plans: readonly ToolPlan[]): Omit<RuleDocument, 'id' | 'tools'> => {
  const [first] = plans
  if (first?.action === 'allow') return { only: [...new Set(plans.flatMap(({ only }) => only ?? []))], action: 'allow' }
  const message = messageOf(plans)
  return {
    action: 'confirm',
    ...(plans.some(hasContent) ? { checks: [{ size: { max_bytes: MAX_BYTES } }] } : {}),
    ...(message === undefined ? {} : { message }),
  }
}

const CONTENT = new Set(['content', 'contents', 'body', 'text', 'data', 'message', 'string'])

const hasContent = ({ tool: { inputSchema } }: ToolPlan): boolean =>
  Object.keys(propertiesOf(inputSchema) ?? {}).some((name) => wordsOf(name).some((word) => CONTENT.has(word)))

/** A value that begins with a dash, whatever follows it. */
const OPTIONS = ['**/-*', '-*/**']
const FOLDER = `\${project}`

const boundOf = (fit: keyof typeof BOUNDS, plans: readonly ToolPlan[]): Readonly<Record<string, object>> => {
  const args = pointersOf(fit, plans)
  if (fit === 'http') return { http: { ...args, hosts: ['*'] } }
  if (fit === 'option') return { path: { ...args, inside: [FOLDER], deny: OPTIONS, cwd: FOLDER } }
  const deny = plans.some(({ tool }) => drivesProgram(tool)) ? ['secrets', ...OPTIONS] : 'secrets'
  return { path: { ...args, inside: [FOLDER], deny } }
}

/** The arguments that a check looks at. One that a call may lack, or that not every tool has, may be missing. */
const pointersOf = (fit: Fit, plans: readonly ToolPlan[]) => {
  const uses = plans.map((plan) => plan.uses.filter((use) => use.fit === fit))
  const args = [...new Set(uses.flat().map(({ pointer }) => pointer))]
  const isAlways = uses.every((some) => some.length === args.length && some.every(({ isOptional }) => !isOptional))
  return isAlways ? { args } : { args, optional: true }
}

/** Programs that look around and change nothing. */
const LOOKS = ['pwd', 'ls', 'git status']
const HOSTS = ['example.com', '*.example.com']

const commandsIn = ({ commands }: SeenValues): readonly (string | object)[] => [
  ...LOOKS,
  ...commands.filter((command) => !LOOKS.includes(command)).map((command) => ({ command, end: true })),
]

/** Hosts that are on record; examples where none is. */
export const listedHosts = ({ hosts }: SeenValues): readonly string[] => (hosts.length > 0 ? hosts : HOSTS)

const listsOf = (plans: readonly ToolPlan[], seen: SeenValues): readonly Readonly<Record<string, object>>[] => {
  const [first] = plans
  if (first === undefined || first.action !== 'allow') return []
  const options = {
    http: { hosts: listedHosts(seen) },
    shell: { allow: commandsIn(seen) },
    sql: { dialect: dialectOf(first.tool), operations: ['select', 'explain'] },
  }
  return LISTS.flatMap((fit) => {
    const args = pointersOf(fit, plans)
    return args.args.length === 0 ? [] : [{ [fit]: { ...args, ...options[fit] } }]
  })
}

const MAX_PART = 40
const idPart = (server_id: string): string => {
  const part = server_id.replaceAll(/[^A-Za-z0-9._-]/g, '-').slice(0, MAX_PART)
  return /^[A-Za-z0-9]/.test(part) ? part : `mcp${part}`
}

const freeId = (preferred: string, taken: Set<string>): string => {
  let id = preferred
  for (let count = 2; taken.has(id); count++) id = `${preferred}-${count}`
  taken.add(id)
  return id
}

const PLAIN_NAME = /^[A-Za-z][A-Za-z0-9_]{0,39}$/

/** Shows the person who is asked the argument that says most, where all tools of the rule have it. */
const messageOf = (plans: readonly ToolPlan[]): string | undefined => {
  const names = plans.map(({ uses }: { readonly uses: readonly ArgumentUse[] }) =>
    uses.map(({ name }) => name).filter((name) => PLAIN_NAME.test(name)),
  )
  const shared = names[0]?.find((name) => names.every((some) => some.includes(name)))
  return shared === undefined ? undefined : `${shared}: {arguments.${shared}}`
}
