import { anyGlob } from '#lib/glob'
import type { LimitUse } from '../actions/limits.ts'
import type { Caller } from '../judge/tool-call.ts'
import type { CompiledRule } from './compiled.ts'
import type { ConditionDocument } from './document.ts'

/** The lists of a condition that name callers, with what each is compared with. */
const LISTS = {
  agents: ({ agent }) => listOf(agent),
  projects: ({ project }) => listOf(project),
  sessions: ({ session }) => listOf(session),
  clients: ({ client }) => listOf(client),
  keys: ({ key }) => key,
} as const satisfies Readonly<Record<string, (caller: Caller) => readonly string[]>>

export type CallerList = keyof typeof LISTS
export const callerLists = Object.keys(LISTS) as readonly CallerList[]

const listOf = (name: string | null): readonly string[] => (name === null ? [] : [name])

/** Tells whether a condition holds for a caller: each list that is given has a name or pattern for it. Undefined if the condition names no callers. */
export const callerTest = (when: ConditionDocument | undefined): ((caller: Caller) => boolean) | undefined => {
  const tests = callerLists.flatMap((list) => {
    const patterns = when?.[list]
    return patterns === undefined ? [] : [{ matches: anyGlob(patterns), names: LISTS[list] }]
  })
  if (tests.length === 0) return undefined
  return (caller) => tests.every(({ matches, names }) => names(caller).some((name) => matches(name)))
}

/** Which rules that name callers speak to this one, as a text: callers with the same text see the same tools. */
export const audienceOf = (rules: readonly CompiledRule[], caller: Caller): string =>
  rules.map(({ speaksTo }) => (speaksTo === undefined ? '' : speaksTo(caller) ? '1' : '0')).join('')

const CALLER_KEYS: ReadonlySet<LimitUse['kind']> = new Set(['agent', 'project', 'client', 'key'])

/** What a rule says depends on who asks. */
export const dependsOnCaller = ({ speaksTo, limit }: CompiledRule): boolean =>
  speaksTo !== undefined || (limit !== undefined && CALLER_KEYS.has(limit.key))

/** What shares a limit with a call of this caller. All callers that are not known share one. */
export const callerKey = (kind: 'agent' | 'project' | 'client' | 'key', caller: Caller): string =>
  JSON.stringify(kind === 'key' ? (caller.key[0] ?? null) : caller[kind])
