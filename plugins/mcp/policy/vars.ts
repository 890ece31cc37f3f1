import type { PolicyDocument, ResultDocument } from './document.ts'
import { type PolicyFault, type PolicyPath, suggestion } from './fault.ts'

/** Variables of the environment by name. */
export type Environment = Readonly<Record<string, string | undefined>>

/** One that does not end is passed over in one step: no part of it is tried again. */
const OF_ENVIRONMENT = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?(\}|$)/g
const OF_POLICY = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g

/** The policy with its variables filled in, in `vars` from the environment and in options of checks from `vars`. */
export const resolveVars = (
  policy: PolicyDocument,
  env: Environment,
): { readonly policy: PolicyDocument; readonly faults: readonly PolicyFault[] } => {
  const faults: PolicyFault[] = []
  const vars = new Map<string, string>()
  for (const [name, text] of Object.entries(policy.vars ?? {})) {
    const [, bare] = /^\$([A-Za-z_][A-Za-z0-9_]*)$/.exec(text) ?? []
    if (bare !== undefined)
      faults.push({ path: ['vars', name], message: `"${text}" stands for itself; write \${${bare}}` })
    vars.set(name, fromEnvironment(text, env, ['vars', name], faults))
  }
  const rules = policy.rules.map((rule, index) => {
    const checks = rule.checks?.map((check, at) => filled(check, ['rules', index, 'checks', at], vars, faults))
    const results = filledResults(rule.results, ['rules', index, 'results'], vars, faults)
    return {
      ...rule,
      ...(checks && { checks: checks as NonNullable<typeof rule.checks> }),
      ...(results && { results }),
    }
  })
  const resolved = policy.vars === undefined ? {} : { vars: Object.fromEntries(vars) }
  const results = filledResults(policy.results, ['results'], vars, faults)
  return { policy: { ...policy, ...resolved, ...(results && { results }), rules }, faults }
}

const filledResults = (
  results: readonly ResultDocument[] | undefined,
  path: PolicyPath,
  vars: ReadonlyMap<string, string>,
  faults: PolicyFault[],
): readonly ResultDocument[] | undefined =>
  results?.map((one, at) => filled(one, [...path, at], vars, faults) as ResultDocument)

/** An empty variable counts as one that is not set. */
const fromEnvironment = (text: string, env: Environment, path: PolicyPath, faults: PolicyFault[]): string =>
  text.replace(OF_ENVIRONMENT, (whole, name: string, otherwise: string | undefined, end: string) => {
    if (end === '') {
      faults.push({ path, message: `\${${name} does not end; write \${${name}}` })
      return whole
    }
    if (otherwise?.includes('${') === true) {
      faults.push({ path, message: `the default of \${${name}} holds another reference; give it plain text` })
      return whole
    }
    const found = (Object.hasOwn(env, name) && env[name]) || otherwise
    if (found === undefined) {
      const message = `the environment variable ${name} is not set; set it, or write \${${name}:-default}`
      faults.push({ path, message })
    }
    return found ?? whole
  })

const filled = (
  value: unknown,
  path: PolicyPath,
  vars: ReadonlyMap<string, string>,
  faults: PolicyFault[],
): unknown => {
  if (typeof value === 'string') return substituted(value, path, vars, faults)
  if (Array.isArray(value)) return value.map((part, index) => filled(part, [...path, index], vars, faults))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, filled(part, [...path, key], vars, faults)]),
  )
}

const substituted = (
  text: string,
  path: PolicyPath,
  vars: ReadonlyMap<string, string>,
  faults: PolicyFault[],
): string => {
  const mistaken = mistakenReference(text, vars)
  if (mistaken !== undefined) faults.push({ path, message: mistaken })
  return text.replace(OF_POLICY, (whole, name: string) => {
    const found = vars.get(name)
    if (found === undefined) {
      const known = [...vars.keys()]
      const there =
        known.length === 0 ? '; the policy has no vars' : suggestion(name, known) || `; there is ${known.join(', ')}`
      faults.push({ path, message: `${whole} names no variable of vars${there}` })
    }
    return found ?? whole
  })
}

/** What looks like a reference to a variable and is none, so that it would stand for itself. */
const mistakenReference = (text: string, vars: ReadonlyMap<string, string>): string | undefined => {
  const open = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?!\}|[A-Za-z0-9_])/.exec(text)?.[1]
  if (open !== undefined) return `"\${${open}" is no reference to a variable; write \${${open}}`
  const bare = Array.from(text.matchAll(/\$([A-Za-z_][A-Za-z0-9_]*)/g), ([, name = '']) => name).find((name) =>
    vars.has(name),
  )
  return bare === undefined ? undefined : `"$${bare}" is no reference to a variable; write \${${bare}}`
}
