import type { Rule } from 'guard-gateway/core'
import { defaultEnforced, presetNamed } from 'guard-gateway/plugins/policy'
import { shippedRules } from '../policies.ts'
import { type Check, type Finding, ok, warning } from './check.ts'

const MOST_SHOWN = 10
/** Scenarios run in projects of their own. */
const PLAYGROUND = 'playground-'

/** Which rules hold for each project, in which mode, and where they are the default ones and enforced. */
export const policies: Check = async ({ config, gateway }) => {
  if (config === undefined || gateway?.tables.get('policies') === undefined) return []
  const { presets } = await shippedRules(config.preset === 'enforce-recommended' ? 'enforce-recommended' : 'default')
  const default_mode = config.preset === 'enforce-recommended' ? 'enforce' : config.default_mode
  const { rows, next_cursor } = await gateway.storage.find('policies', { limit: 500 })
  const own = rows.filter(({ project_id }) => !project_id.startsWith(PLAYGROUND))
  const others = { what: 'projects without a policy of their own', mode: default_mode, project: undefined }
  const looked = [
    { ...others, rules: (await gateway.service('rules').get()?.of(NOBODY)) ?? [] },
    ...own.map(({ project_id, mode, rules }) => ({
      what: `project ${project_id}`,
      mode: mode ?? default_mode,
      project: project_id,
      rules,
    })),
  ]
  const findings = looked.map(({ what, mode, project, rules }): Finding => {
    const told = `${what}: ${mode}, ${rulesText(rules, presets)}`
    const literal = defaultEnforced(mode, rules, presets)
    if (literal === undefined) return ok(told)
    const proxyAndCa = project === undefined ? 'preset: enforce-recommended in the configuration, or' : ''
    return warning(
      `${told}. ${literal}`,
      `${proxyAndCa} guard policy apply enforce-recommended --mode enforce${project === undefined ? ' for each project' : ` --project ${project}`}`.trim(),
    )
  })
  // what deserves a word is never left out
  const kept = findings.filter(({ level }, index) => level !== 'ok' || index < MOST_SHOWN)
  const left = findings.length - kept.length
  return left === 0 && next_cursor === null
    ? kept
    : [...kept, ok(`${left} more projects; guard policy show <project> shows one`)]
}

/** No project: its name is longer than one may be. */
const NOBODY = '-'.repeat(129)

const rulesText = (rules: readonly Rule[], presets: Readonly<Record<string, unknown>>): string => {
  const name = presetNamed(rules, presets)
  return name === undefined ? `${rules.filter(({ enabled }) => enabled).length} rules of its own` : `rules of ${name}`
}
