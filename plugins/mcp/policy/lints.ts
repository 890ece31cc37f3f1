import { anyGlob } from '#lib/glob'
import type { Action } from '../judge/verdict.ts'
import { type CallerList, callerLists } from './callers.ts'
import type { CompiledPolicy, CompiledResultCheck, CompiledRule } from './compiled.ts'
import { stricter, strictness } from './effects.ts'
import { type Lint, type LocatedFault, locatedFault, type PolicyPath } from './fault.ts'
import { listedToolLints } from './lints/listed-tool-lints.ts'
import type { ListedTool } from './listed-tool.ts'
import { methodLints } from './methods.ts'

/** What a policy is compared with, where it is known. */
export interface LintFacts {
  /** Those that servers have listed. */
  readonly tools?: readonly ListedTool[]
  /** Ids and names of all keys. */
  readonly keys?: ReadonlySet<string>
}

/** What is worth a warning in a policy, in file order. */
export const lintsOf = (
  policy: CompiledPolicy,
  locate: Parameters<typeof locatedFault>[2],
  { tools, keys }: LintFacts = {},
): readonly LocatedFault[] => {
  const found = [
    ...pinOff(policy),
    ...methodLints(policy.document),
    ...ofResults(policy.results, ['results'], 'the policy'),
    ...policy.rules.flatMap((rule) => [
      ...neverWins(rule, policy),
      ...globDeny(rule, policy),
      ...whenOnDeny(rule),
      ...callerLints(rule, keys),
      ...oddPatterns(rule),
      ...oddPlaces(rule),
      ...numberLints(rule),
      ...ofChecks(rule),
      ...(tools === undefined ? [] : listedToolLints(rule, tools, policy.rules)),
    ]),
  ]
  return found.map(({ code, ...fault }) => locatedFault(code, fault, locate))
}

const pinOff = ({ pinning }: CompiledPolicy): readonly Lint[] =>
  pinning === 'off'
    ? [{ code: 'PIN_OFF', path: ['pinning'], message: 'a tool may change what it does without anybody being told' }]
    : []

/** The strictest that a rule can say. */
const utmost = ({ document: { action, checks, only, on_violation = 'deny' } }: CompiledRule): Action =>
  checks === undefined && only === undefined ? action : stricter(action, on_violation)

const neverWins = (rule: CompiledRule, { rules }: CompiledPolicy): readonly Lint[] => {
  const above = rules.find((other) => other !== rule && alwaysAbove(other, rule))
  if (above === undefined) return []
  const message = `rule "${rule.id}" never wins: rule "${above.id}" is stricter about all its tools, whatever the arguments`
  return [{ code: 'RULE_NEVER_WINS', path: ['rules', rule.index], message }]
}

const alwaysAbove = ({ document, limit }: CompiledRule, rule: CompiledRule): boolean =>
  document.when === undefined &&
  document.checks === undefined &&
  document.only === undefined &&
  limit === undefined &&
  strictness(document.action) > strictness(utmost(rule)) &&
  covers(document.tools, rule.document.tools) &&
  covers(document.servers ?? ['*'], rule.document.servers ?? ['*'])

/** A pattern covers one with stars if it matches it as it is written. */
const covers = (wide: readonly string[], narrow: readonly string[]): boolean => narrow.every(anyGlob(wide))

const globDeny = ({ document: { id, action, tools, when }, index }: CompiledRule, policy: CompiledPolicy) => {
  if (!policy.hide_denied_tools || action !== 'deny' || when !== undefined) return []
  return tools.flatMap((tool, at): readonly Lint[] =>
    tool.includes('*')
      ? [
          {
            code: 'GLOB_DENY_NOT_HIDDEN',
            path: ['rules', index, 'tools', at],
            message: `rule "${id}" denies "${tool}" without hiding it; only a tool's exact name leaves the list`,
          },
        ]
      : [],
  )
}

const whenOnDeny = ({ document: { id, action, when }, index }: CompiledRule): readonly Lint[] =>
  action === 'deny' && when?.arguments !== undefined
    ? [
        {
          code: 'WHEN_ON_DENY',
          path: ['rules', index, 'when'],
          message: `rule "${id}" denies under a condition; arguments written in another way can dodge it`,
        },
      ]
    : []

const oddPatterns = ({ document: { id, tools, servers = [] }, index }: CompiledRule): readonly Lint[] =>
  Object.entries({ tools, servers }).flatMap(([key, patterns]) =>
    patterns.flatMap((pattern, at): readonly Lint[] =>
      /[?[\]{}|^$()\\]|^\s|\s$/.test(pattern)
        ? [
            {
              code: 'PATTERN_TAKEN_LITERALLY',
              path: ['rules', index, key, at],
              message: `rule "${id}" names "${pattern}"; * is the only wildcard, every other character stands for itself`,
            },
          ]
        : [],
    ),
  )

const oddPlaces = ({ document: { id, message = '' }, index }: CompiledRule): readonly Lint[] =>
  Array.from(message.matchAll(/\{[^{}]*\}/g), ([place]) => place)
    .filter((place) => !place.startsWith('{arguments.'))
    .map((place) => ({
      code: 'MESSAGE_TAKEN_LITERALLY',
      path: ['rules', index, 'message'],
      message: `rule "${id}" shows ${place} as it stands; only {arguments.name} is filled in`,
    }))

const ofChecks = ({ id, index, checks, results }: CompiledRule): readonly Lint[] => [
  ...ofResults(results, ['rules', index, 'results'], `rule "${id}"`),
  ...checks.flatMap(({ check, index: at, lints }) =>
    lints.map(({ code, message }) => ({
      code,
      path: ['rules', index, 'checks', at, check.id],
      message: `rule "${id}": ${message}`,
    })),
  ),
]

const ofResults = (results: readonly CompiledResultCheck[], path: PolicyPath, whose: string): readonly Lint[] =>
  results.flatMap(({ check, index, lints }) =>
    lints.map(({ code, message }) => ({ code, path: [...path, index, check.id], message: `${whose}: ${message}` })),
  )

/** Integers of a rule's condition or changes that a double cannot hold. */
const numberLints = ({ document: { id, when, transform }, index }: CompiledRule): readonly Lint[] =>
  Object.entries({ when, transform })
    .flatMap(([key, part]) => roundedIn(part, ['rules', index, key]))
    .map(({ path, value }) => ({
      code: 'NUMBER_ROUNDED',
      path,
      message: `rule "${id}" has an integer beyond 2^53, which is rounded to ${value}; so are the arguments that it meets`,
    }))

interface Rounded {
  readonly path: PolicyPath
  readonly value: number
}

const roundedIn = (part: unknown, path: PolicyPath): readonly Rounded[] => {
  if (typeof part === 'number')
    return Number.isInteger(part) && !Number.isSafeInteger(part) ? [{ path, value: part }] : []
  if (typeof part !== 'object' || part === null) return []
  const inner: readonly (readonly [string | number, unknown])[] = Array.isArray(part)
    ? [...part.entries()]
    : Object.entries(part)
  return inner.flatMap(([name, value]) => roundedIn(value, [...path, name]))
}

/** What a client says of itself, or may say of itself with most keys. */
const SELF_DECLARED: ReadonlySet<CallerList> = new Set(['sessions', 'clients', 'projects'])
const FORWARDING: ReadonlySet<string> = new Set(['allow', 'transform', 'rate_limit'])

/** Rules and limits that a client can escape or get by what it calls itself. `keys`: ids and names of all keys, where they are known. */
const callerLints = (rule: CompiledRule, keys: ReadonlySet<string> | undefined): readonly Lint[] => [
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
