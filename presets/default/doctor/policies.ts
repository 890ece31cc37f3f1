import type { Rule } from 'guard-gateway/core'
import { defaultEnforced, presetNamed } from 'guard-gateway/plugins/policy'
import { ENFORCE_RECOMMENDED } from '#lib/budget'
import { DEFAULT_PROJECT } from '#lib/session'
import { isPlaygroundProject } from '#lib/trace'
import { servesProject } from '../config/checks.ts'
import { shippedRules } from '../policies.ts'
import { type Check, type Finding, ok, warning } from './check.ts'

const MAX_OK = 10

/** Rules and mode of each project, and whether they are enforced defaults. */
export const policies: Check = async ({ config, gateway }) => {
  if (config === undefined || gateway?.tables.get('policies') === undefined) return []
  const { presets } = await shippedRules(config.preset === 'enforce-recommended' ? 'enforce-recommended' : 'default')
  const { rows, next_cursor } = await gateway.storage.find('policies', { limit: 500 })
  const own = rows
    .map(({ project_id }) => project_id)
    .filter((id) => id !== DEFAULT_PROJECT && !isPlaygroundProject(id))
  const inForce = gateway.service('rules').need()
  const projects = await Promise.all(
    [DEFAULT_PROJECT, ...own].map(async (project) => ({ project, ...(await inForce.of(project)) })),
  )
  const { upstreams } = config
  const findings = projects.map(({ project, mode, rules }): Finding => {
    const isDefault = project === DEFAULT_PROJECT
    const what = isDefault ? 'projects without a policy of their own' : `project ${project}`
    const summary = `${what}: ${mode}, ${rulesText(rules, presets)}`
    if (!isDefault && upstreams.length > 0 && !servesProject(upstreams, project))
      return warning(
        `${summary}. No upstream serves it`,
        `Name ${project} under projects of an entry of upstreams, or add an entry without projects.`,
      )
    const enforcedNote = defaultEnforced(mode, rules, presets)
    if (enforcedNote === undefined) return ok(summary)
    return warning(
      `${summary}. ${enforcedNote}`,
      `guard ${ENFORCE_RECOMMENDED}${isDefault ? '' : ` --project ${project}`}`,
    )
  })
  // warnings and errors are never omitted
  const listed = findings.filter(({ level }, index) => level !== 'ok' || index < MAX_OK)
  const omitted = findings.length - listed.length
  return omitted === 0 && next_cursor === null
    ? listed
    : [...listed, ok(`${omitted} more projects; guard policy show <project> shows one`)]
}

const rulesText = (rules: readonly Rule[], presets: Readonly<Record<string, unknown>>): string => {
  const name = presetNamed(rules, presets)
  return name === undefined ? `${rules.filter(({ enabled }) => enabled).length} rules of its own` : `rules of ${name}`
}
