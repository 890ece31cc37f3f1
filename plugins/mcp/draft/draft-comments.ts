import { headComment, ruleComment, toolComment } from './comments.ts'
import type { Covered, DraftSource } from './draft.ts'
import type { DraftedRule } from './drafted-rules.ts'
import type { DraftComments } from './render.ts'
import type { SeenTool } from './seen-calls.ts'

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
export const commentsOf = (
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
