import type { Rule } from 'guard-gateway/core'
import { defaultEnforced, presetNamed } from 'guard-gateway/plugins/policy'
import { shippedRules } from '../policies.ts'
import { type Check, type Finding, ok, warning } from './check.ts'

const MAX_OK = 10
/** Project prefix of Playground scenarios. */
const PLAYGROUND = 'playground-'

/** Rules and mode of each project, and whether they are enforced defaults. */
export const policies: Check = async ({ config, gateway }) => {
  if (config === undefined || gateway?.tables.get('policies') === undefined) return []
  const { presets } = await shippedRules(config.preset === 'enforce-recommended' ? 'enforce-recommended' : 'default')
  const default_mode = config.preset === 'enforce-recommended' ? 'enforce' : config.default_mode
  const { rows, next_cursor } = await gateway.storage.find('policies', { limit: 500 })
  const own = rows.filter(({ project_id }) => !project_id.startsWith(PLAYGROUND))
  const defaults = { what: 'projects without a policy of their own', mode: default_mode, project: undefined }
  const projects = [
    { ...defaults, rules: (await gateway.service('rules').get()?.of(UNKNOWN_PROJECT)) ?? [] },
    ...own.map(({ project_id, mode, rules }) => ({
      what: `project ${project_id}`,
      mode: mode ?? default_mode,
      project: project_id,
      rules,
    })),
  ]
  const findings = projects.map(({ what, mode, project, rules }): Finding => {
    const summary = `${what}: ${mode}, ${rulesText(rules, presets)}`
    const enforcedNote = defaultEnforced(mode, rules, presets)
    if (enforcedNote === undefined) return ok(summary)
    const presetHint = project === undefined ? 'preset: enforce-recommended in the configuration, or' : ''
    return warning(
      `${summary}. ${enforcedNote}`,
      `${presetHint} guard policy apply enforce-recommended --mode enforce${project === undefined ? ' for each project' : ` --project ${project}`}`.trim(),
    )
  })
  // warnings and errors are never omitted
  const listed = findings.filter(({ level }, index) => level !== 'ok' || index < MAX_OK)
  const omitted = findings.length - listed.length
  return omitted === 0 && next_cursor === null
    ? listed
    : [...listed, ok(`${omitted} more projects; guard policy show <project> shows one`)]
}

/** A project name that is too long to exist. */
const UNKNOWN_PROJECT = '-'.repeat(129)

const rulesText = (rules: readonly Rule[], presets: Readonly<Record<string, unknown>>): string => {
  const name = presetNamed(rules, presets)
  return name === undefined ? `${rules.filter(({ enabled }) => enabled).length} rules of its own` : `rules of ${name}`
}
