import { type CallerList, callerLists } from '../callers.ts'
import type { CompiledRule } from '../compiled.ts'
import type { Lint } from '../lints.ts'

/** What a client says of itself, or may say of itself with most keys. */
const SELF_DECLARED: ReadonlySet<CallerList> = new Set(['sessions', 'clients', 'projects'])
const FORWARDING: ReadonlySet<string> = new Set(['allow', 'transform', 'rate_limit'])

/** Rules and limits that a client can escape or get by what it calls itself. `keys`: ids and names of all keys, where they are known. */
export const callerLints = (rule: CompiledRule, keys: ReadonlySet<string> | undefined): readonly Lint[] => [
  ...selfDeclared(rule),
  ...limitByName(rule),
  ...(keys === undefined ? [] : unknownKeys(rule, keys)),
]

const selfDeclared = ({ document: { id, action, when = {} }, index }: CompiledRule): readonly Lint[] => {
  const lists = callerLists.filter((list) => when[list] !== undefined)
  if (lists.length === 0) return []
  const declared = lists.filter((list) => SELF_DECLARED.has(list))
  const path = ['rules', index, 'when', declared[0] ?? '']
  // one name that cannot be chosen is enough to allow, and one that can is enough to dodge
  if (FORWARDING.has(action) && declared.length === lists.length) {
    const message = `rule "${id}" lets calls through by ${declared.join(' and ')} alone, which a client may name as it likes; add agents or keys`
    return [{ code: 'CALLER_SELF_DECLARED', path, message }]
  }
  if (action !== 'deny' || declared.length === 0) return []
  const message = `rule "${id}" denies by ${declared.join(' and ')}, which a client may name as it likes; another name dodges it`
  return [{ code: 'WHEN_ON_DENY', path, message }]
}

const limitByName = ({ document: { id, limit }, index }: CompiledRule): readonly Lint[] =>
  limit?.key === 'client' || limit?.key === 'project'
    ? [
        {
          code: 'LIMIT_SELF_DECLARED',
          path: ['rules', index, 'limit', 'key'],
          message: `rule "${id}" counts by ${limit.key}, which a client may name as it likes; each new name starts a new count`,
        },
      ]
    : []

const unknownKeys = ({ document: { id, when }, index }: CompiledRule, keys: ReadonlySet<string>): readonly Lint[] =>
  (when?.keys ?? []).flatMap((key, at): readonly Lint[] =>
    key.includes('*') || keys.has(key)
      ? []
      : [
          {
            code: 'KEY_UNKNOWN',
            path: ['rules', index, 'when', 'keys', at],
            message: `rule "${id}" names the key "${key}", which is the id or name of none`,
          },
        ],
  )
