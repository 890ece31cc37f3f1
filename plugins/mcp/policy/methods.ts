import { glob } from '#lib/glob'
import type { PolicyDocument } from './document.ts'
import { type Lint, type PolicyFault, suggestion } from './fault.ts'

/** What becomes of a request that is no call of a tool. */
export type MethodAction = 'allow' | 'confirm' | 'deny'

/** What a policy says of a request. */
export interface MethodVerdict {
  readonly action: MethodAction
  /** `methods.<name>` as the policy has it, or `default`. */
  readonly rule_id: string
}

/** Without these there is no session; they cannot be ruled. */
const LIFECYCLE: ReadonlySet<string> = new Set(['initialize', 'ping'])

/** What says only what there is, or how talkative a server may be: passes unless it is named. */
const UNRESTRICTED: ReadonlySet<string> = new Set([
  ...['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list', 'roots/list'],
  ...['logging/setLevel', 'resources/unsubscribe'],
])

/** Requests of servers that a call in hand may be the reason for. */
const WITHIN_CALLS: ReadonlySet<string> = new Set(['sampling/createMessage', 'elicitation/create'])

const RESTRICTABLE = [
  ...['resources/read', 'resources/subscribe', 'prompts/get', 'completion/complete'],
  ...WITHIN_CALLS,
]

/** The name that stands for all methods which are not named, but for lists. */
const OTHER = 'other'

/** Whether a server may send requests of its own while it handles this one. */
export const isRestrictable = (method: string): boolean => !LIFECYCLE.has(method) && !UNRESTRICTED.has(method)

/** Says what a policy makes of requests. `within`: of a server that works on a request which was let through. */
export const methodVerdicts = (
  methods: NonNullable<PolicyDocument['methods']>,
  byDefault: MethodAction,
): ((method: string, within: boolean) => MethodVerdict) => {
  const exact = new Map(Object.entries(methods))
  const patterns = [...exact]
    .filter(([name]) => name.includes('*'))
    .toSorted(([one], [other]) => other.length - one.length)
    .map(([name, action]) => ({ name, action, matches: glob(name) }))
  const named = (method: string): MethodVerdict | undefined => {
    const own = method === OTHER ? undefined : exact.get(method)
    if (own !== undefined) return { action: own, rule_id: `methods.${method}` }
    const pattern = patterns.find(({ matches }) => matches(method))
    return pattern && { action: pattern.action, rule_id: `methods.${pattern.name}` }
  }
  const unnamed = (method: string, within: boolean): MethodVerdict => {
    const other = UNRESTRICTED.has(method) ? 'allow' : exact.get(OTHER)
    if (other !== undefined) return { action: other, rule_id: UNRESTRICTED.has(method) ? 'default' : 'methods.other' }
    const stops = byDefault === 'deny' && !(within && WITHIN_CALLS.has(method))
    return { action: stops ? 'deny' : 'allow', rule_id: 'default' }
  }
  return (method, within) =>
    LIFECYCLE.has(method) ? { action: 'allow', rule_id: 'default' } : (named(method) ?? unnamed(method, within))
}

/** Methods that a policy cannot rule. */
export const methodFaults = ({ methods = {} }: PolicyDocument): readonly PolicyFault[] =>
  Object.keys(methods).flatMap((name): readonly PolicyFault[] => {
    const at = { path: ['methods', name], at: ['methods', name] }
    if (name === 'tools/call') return [{ ...at, message: 'calls of tools are ruled under "rules"' }]
    if (name.startsWith('notifications/'))
      return [{ ...at, message: 'notifications always pass; only requests can be ruled' }]
    return LIFECYCLE.has(name) ? [{ ...at, message: `"${name}" always passes: without it there is no session` }] : []
  })

/** Names that are no method of MCP, and look like one. */
export const methodLints = ({ methods = {} }: PolicyDocument): readonly Lint[] =>
  Object.keys(methods).flatMap((name): readonly Lint[] => {
    const known = [...UNRESTRICTED, ...RESTRICTABLE]
    if (name === OTHER || name.includes('*') || known.includes(name)) return []
    const message = `"${name}" is no request of MCP${suggestion(name, known)}; it is ruled as it is written`
    return [{ code: 'METHOD_UNKNOWN', path: ['methods', name], message }]
  })
