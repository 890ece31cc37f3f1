import type { Gateway, Mode, Rule } from 'guard-gateway/core'
import { type Html, html, instantMark } from '#lib/html'
import type { Ask, Page } from '#lib/page'
import { DEFAULT_PROJECT } from '#lib/session'
import type { RemainingContext } from '../budgets/remaining.ts'
import type { Policies } from '../policies.ts'
import { type Policy, sourceOf } from '../policy.ts'
import type { Drafts } from './draft.ts'

const MAX_POLICIES = 200
const MAX_SESSIONS = 200
const PROJECT = /^[\w.-]{1,128}$/

/** What the pages serve from. */
export interface PageParts {
  readonly gateway: Gateway
  readonly policies: Policies
  readonly drafts: Drafts
  readonly presets: Readonly<Record<string, readonly Rule[]>>
  /** What knowing what is left of budgets needs. */
  readonly left: RemainingContext
  /** Mode where neither a request nor its project's policy says one. */
  default_mode(): Mode
}

/** The projects that are known, each with the policy in force for it. */
export const listPage = (parts: PageParts): Page => ({
  id: 'policies',
  path: '/policies',
  nav: { label: 'Policies', order: 40, key: 'p' },
  render: async (ask) => ({ title: 'Policies', main: await mainOf(parts, ask) }),
})

const mainOf = async (parts: PageParts, ask: Ask): Promise<Html> => {
  const search = ask.query.get('project_id')?.trim() ?? ''
  const { storage } = parts.gateway
  const [stored, sessions] = await Promise.all([
    storage.find('policies', { limit: MAX_POLICIES }),
    storage.find('sessions', { limit: MAX_SESSIONS }),
  ])
  const changed = new Map(stored.rows.map(({ project_id, updated_at }) => [project_id, updated_at]))
  const known = [...new Set([...changed.keys(), ...sessions.rows.map(({ project_id }) => project_id)])].sort()
  const project_ids =
    search === ''
      ? known
      : [...new Set([...(PROJECT.test(search) ? [search] : []), ...known.filter((id) => id.includes(search))])]
  const rows = await Promise.all(
    project_ids.map(async (project_id) => ({ project_id, policy: await parts.policies.load(project_id) })),
  )
  return html`<h1>Policies</h1>
<p>What a session of a project may do before it is flagged, or blocked where the policy is enforced. The policy of project default holds for every project that has none of its own.</p>
<form class="filters" action="/policies" role="search"><label>Project<input type="search" name="project_id" value="${search}" size="24" placeholder="the name that requests give"></label><button>Find</button>${search !== '' && html` <a class="clear" href="/policies">Clear</a>`}</form>
${search !== '' && !PROJECT.test(search) && html`<p class="fault">A project's name is 1 to 128 of the characters A-Z a-z 0-9 . _ -</p>`}
${rows.length === 0 ? emptyText() : policyTable(parts, ask, rows, changed)}
${(stored.next_cursor !== null || sessions.next_cursor !== null) && html`<p class="quiet">Those of the newest ${MAX_POLICIES} policies and ${MAX_SESSIONS} sessions; any other is found by its whole name.</p>`}`
}

const emptyText = (): Html =>
  html`<p class="empty">No project is known yet: a project comes with its first request. Name one above to give it a policy beforehand.</p>`

interface PolicyInForce {
  readonly project_id: string
  readonly policy: Policy
}

const policyTable = (
  parts: PageParts,
  { now }: Ask,
  rows: readonly PolicyInForce[],
  changed: ReadonlyMap<string, number>,
): Html => html`<table class="list rows stacks"><thead><tr><th scope="col" class="free">Project</th><th scope="col">Mode</th><th scope="col">Rules</th><th scope="col">Policy</th><th scope="col">Changed</th></tr></thead><tbody>
${rows.map(({ project_id, policy }) => {
  const { mode, rules } = policy
  const at = changed.get(project_id)
  return html`<tr id="policy-${project_id}" data-row><th scope="row"><a href="/policies/${project_id}">${project_id}</a></th>
<td>${modeText(mode, parts.default_mode())}</td><td>${rulesText(rules)}<span class="unit"> rules</span></td><td>${sourceMark(policy, project_id)}</td><td>${at !== undefined && instantMark(at, now)}</td></tr>
`
})}</tbody></table>`

/** The mode of a policy in words. */
export const modeText = (mode: Policy['mode'], default_mode: string): Html =>
  mode === null ? html`${default_mode} <span class="quiet">of the configuration</span>` : html`${mode}`

/** Whose policy it is that holds for a project. */
export const sourceMark = (policy: Policy, project_id: string): Html => {
  const { source, version } = sourceOf(policy, project_id)
  if (source === 'own') return html`version ${version}`
  if (source === 'built_in') return html`<span class="quiet">built in</span>`
  return html`<span class="quiet">inherited from <a href="/policies/${DEFAULT_PROJECT}">${DEFAULT_PROJECT}</a></span>`
}

const rulesText = (rules: Policy['rules']): string => {
  const on = rules.filter(({ enabled }) => enabled).length
  const off = rules.length - on
  return off === 0 ? `${on}` : `${on}, ${off} off`
}
