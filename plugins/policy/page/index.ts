import { GuardError, type Rule } from 'guard-gateway/core'
import { byRemainingShare, remainingShare } from '#lib/budget'
import { html } from '#lib/html'
import {
  type Form,
  formKind,
  type Page,
  type Panel,
  type Posted,
  pageKind,
  panelKind,
  type SearchHit,
  type SearchSource,
  type Sent,
  searchSourceKind,
} from '#lib/page'
import { pages } from '#lib/paging'
import { DEFAULT_PROJECT } from '#lib/session'
import { budgetTable } from '#lib/terminal'
import { remainingOfAll } from '../budgets/projects.ts'
import type { RemainingContext } from '../budgets/remaining.ts'
import { sourceOf } from '../policy.ts'
import { projectOf } from '../routes.ts'
import { confirmedIn, type Draft, Drafts, draftOf, newRule, readDraft, type UnsavedDraft } from './draft.ts'
import { listPage, type PageParts } from './list.ts'
import { readPolicy } from './read.ts'
import { type PolicyPageState, policyView } from './view.ts'

/** Adds the pages of policies, and their form. */
export const addPages = (baseParts: Omit<PageParts, 'drafts'>): void => {
  const parts = { ...baseParts, drafts: new Drafts() }
  const { gateway } = parts
  gateway.registry(pageKind).add(listPage(parts))
  gateway.registry(pageKind).add(detailPage(parts))
  gateway.registry(formKind).add(policyForm(parts))
  gateway.registry(panelKind).add(budgetPanel(parts.left))
  gateway.registry(searchSourceKind).add(policySource(parts))
}

const MAX_ROWS = 5
/** Below this share a budget is worth a look. */
const LOW = 0.5

/** The budgets of projects and agents of which the least is left. */
const budgetPanel = (parts: RemainingContext): Panel => ({
  id: 'policy/budgets',
  order: 35,
  render: async ({ now }) => {
    const low = byRemainingShare(await remainingOfAll(parts)).filter((budget) => remainingShare(budget) < LOW)
    if (low.length === 0) return undefined
    return html`<h2>Budgets of which the least is left</h2>
${budgetTable(low.slice(0, MAX_ROWS), now)}
${low.length > MAX_ROWS && html`<p class="quiet">${low.length - MAX_ROWS} more have less than half left.</p>`}`
  },
})

const MAX_HITS = 20

/** Finds policies by their project, and rules by id. */
const policySource = ({ gateway, policies }: PageParts): SearchSource => ({
  id: 'policy',
  order: 50,
  takes: 'ids of rules',
  find: async (text) => {
    const own = await gateway.storage.get('policies', text)
    const projects = await projectsWithRule({ gateway, policies }, text)
    return [
      ...(own === undefined ? [] : [{ kind: 'policy', title: text, url: `/policies/${encodeURIComponent(text)}` }]),
      ...projects.slice(0, MAX_HITS).map((project) => ruleHit(project, text)),
    ]
  },
})

/** Projects whose policy has a rule of this id: that of all projects without one, then stored ones. */
const projectsWithRule = async (
  { gateway, policies }: Pick<PageParts, 'gateway' | 'policies'>,
  rule: string,
): Promise<readonly string[]> => {
  const { rules } = await policies.load(DEFAULT_PROJECT)
  const found = rules.some(({ id }) => id === rule) ? [DEFAULT_PROJECT] : []
  for await (const page of pages(gateway.storage, 'policies', {})) {
    const others = page.filter((policy) => policy.project_id !== DEFAULT_PROJECT)
    found.push(...others.filter((policy) => policy.rules.some(({ id }) => id === rule)).map((row) => row.project_id))
    if (found.length >= MAX_HITS) break
  }
  return found
}

const ruleHit = (project: string, rule: string): SearchHit => ({
  kind: 'rule',
  title: rule,
  url: `/policies/${encodeURIComponent(project)}#rule-${encodeURIComponent(rule)}`,
  note: `of ${project}`,
})

/** The policy of a project as a form. Throws INVALID_REQUEST for what can name no project. */
const detailPage = (parts: PageParts): Page => ({
  id: 'policies/policy',
  path: '/policies/:project_id',
  render: async ({ params, query, now, refused }) => {
    const project_id = projectOf({ project_id: params.project_id ?? '' }, parts.gateway)
    const about = { project_id, now }
    if (refused !== undefined) {
      const { fields, faults } = refused
      return policyView(parts, { ...about, draft: readDraft(fields), edited: true, faults })
    }
    const id = query.get('draft')
    const unsaved = id === null ? undefined : parts.drafts.of(project_id, id)
    if (unsaved !== undefined) return policyView(parts, { ...about, ...(await unsavedView(parts, unsaved)) })
    return policyView(parts, { ...about, ...(await storedView(parts, project_id, query)) })
  },
})

/** What is shown of a draft: its status, and where it was asked for, what it would have done. */
const unsavedView = async ({ gateway, policies }: PageParts, { project_id, draft, step }: UnsavedDraft) => {
  if (step === 'changed') return { draft, edited: true }
  if (step === 'remove')
    return { draft, edited: true, simulated: await policies.inherited(project_id), confirming: step }
  const read = await readPolicy(gateway, draft)
  if ('faults' in read) return { draft, edited: true, faults: read.faults }
  return { draft, edited: true, simulated: read, confirming: step === 'enforce' ? step : undefined }
}

/** What is in force; a link from elsewhere may put the rules of a preset into the form, or those in force, to be enforced; the latter are tried on what is stored. */
const storedView = async (parts: PageParts, project_id: string, query: URLSearchParams) => {
  const policy = await parts.policies.load(project_id)
  const { mode, rules } = policy
  const { version } = sourceOf(policy, project_id)
  const preset = query.get('preset') ?? ''
  const offered = Object.hasOwn(parts.presets, preset) ? parts.presets[preset] : undefined
  if (offered !== undefined) return { draft: draftOf('enforce', version, offered), edited: true }
  if (query.get('try') === 'enforce' && mode !== 'enforce') {
    const draft = draftOf('enforce', version, rules)
    return { draft, edited: true, simulated: { mode: 'enforce' as const, rules } }
  }
  const lost = query.has('draft') && !query.has('notice')
  return { draft: draftOf(mode, version, rules), edited: false, lost }
}

/** The form of a policy: its buttons act on the fields, and only saving stores anything. */
const policyForm = (parts: PageParts): Form => ({
  id: 'policies/change',
  path: '/ui/policies/:project_id',
  page: '/policies/:project_id',
  notices: {
    'policy-saved': 'Policy saved. It holds from the next request on.',
    'policy-removed': 'Policy removed. The one below holds from the next request on.',
  },
  submit: (posted) => submit(parts, posted),
})

const submit = async (parts: PageParts, { params, fields, now }: Posted): Promise<Sent> => {
  const project_id = projectOf({ project_id: params.project_id ?? '' }, parts.gateway)
  const sent: SentDraft = { parts, project_id, draft: readDraft(fields), now }
  const [intent = '', detail = ''] = split(fields.get('intent') ?? 'save')
  if (intent === 'save') return save(sent, fields)
  if (intent === 'drop') return drop(sent, fields)
  if (intent === 'simulate') return simulated(sent)
  const rules = await changed(parts, project_id, sent.draft, intent, detail)
  return unsaved({ ...sent, draft: { ...sent.draft, rules } }, 'changed')
}

/** A draft on its way. */
interface SentDraft {
  readonly parts: PageParts
  readonly project_id: string
  readonly draft: Draft
  readonly now: number
}

const split = (intent: string): readonly string[] => {
  const at = intent.indexOf(':')
  return at === -1 ? [intent] : [intent.slice(0, at), intent.slice(at + 1)]
}

/** Leads to the page of what is in the form, which may be asked for again. */
const unsaved = ({ parts, project_id, draft, now }: SentDraft, step: UnsavedDraft['step']): Sent => ({
  location: `/policies/${project_id}?draft=${parts.drafts.keep({ project_id, draft, step }, now)}`,
})

/** The page at once, for what was not taken. */
const refused = async ({ parts, ...shown }: SentDraft, more: Partial<PolicyPageState>): Promise<Sent> => ({
  view: await policyView(parts, { ...shown, edited: true, ...more }),
})

/** Stores the form. To start enforcing takes a second press, next to the simulated effect. */
const save = async (sent: SentDraft, fields: URLSearchParams): Promise<Sent> => {
  const { project_id, draft } = sent
  const { gateway, policies } = sent.parts
  const read = await readPolicy(gateway, draft)
  if ('faults' in read) return refused(sent, { faults: read.faults })
  const now = await policies.load(project_id)
  const isLoud = read.mode === 'enforce' && now.mode !== 'enforce'
  if (isLoud && confirmedIn(fields) !== 'enforce') return unsaved(sent, 'enforce')
  return stored(sent, fields, 'policy-saved', () =>
    policies.change(project_id, { ...read, expected_version: draft.version }),
  )
}

/** Removes the policy of the project. It takes a second press, next to what holds then. */
const drop = async (sent: SentDraft, fields: URLSearchParams): Promise<Sent> => {
  const { parts, project_id, draft } = sent
  if (confirmedIn(fields) !== 'remove') return unsaved(sent, 'remove')
  return stored(sent, fields, 'policy-removed', () => parts.policies.remove(project_id, draft.version))
}

/** Has a change stored, if the approver key is right where one is set. */
const stored = async (sent: SentDraft, fields: URLSearchParams, notice: string, change: () => Promise<unknown>) => {
  const { project_id, draft } = sent
  const { gateway, policies } = sent.parts
  const wrong = gateway.approver.faultIn(fields)
  if (wrong !== undefined) return refused(sent, { faults: [wrong], confirming: confirmedIn(fields) })
  try {
    await change()
  } catch (error) {
    if (!(error instanceof GuardError) || error.code !== 'VERSION_CONFLICT') throw error
    const { version } = sourceOf(await policies.load(project_id), project_id)
    return refused(sent, { draft: { ...draft, version }, conflicting: true })
  }
  return { notice, location: `/policies/${project_id}` }
}

const simulated = async (sent: SentDraft): Promise<Sent> => {
  const read = await readPolicy(sent.parts.gateway, sent.draft)
  return 'faults' in read ? refused(sent, { faults: read.faults }) : unsaved(sent, 'tried')
}

/** The rules as a button of the form changes them. Throws INVALID_REQUEST for what is no button of it. */
const changed = async (
  parts: PageParts,
  project_id: string,
  { rules }: Draft,
  intent: string,
  detail: string,
): Promise<Draft['rules']> => {
  const at = Number(detail)
  if (intent === 'add') return [...rules, newRule(parts.gateway.detectors.ids()[0] ?? '')]
  if (intent === 'remove') return rules.filter((_rule, index) => index !== at)
  if (intent === 'up') return swapped(rules, at - 1)
  if (intent === 'down') return swapped(rules, at)
  if (intent === 'preset') return asDraft(Object.hasOwn(parts.presets, detail) ? parts.presets[detail] : undefined)
  if (intent === 'restore')
    return asDraft((await parts.gateway.storage.get('policy_versions', `${project_id}:${at}`))?.rules)
  throw new GuardError('INVALID_REQUEST', `The form has no button "${intent}".`)
}

const asDraft = (rules: readonly Rule[] | undefined): Draft['rules'] => {
  if (rules === undefined) throw new GuardError('INVALID_REQUEST', 'There is no such preset or version any more.')
  return draftOf(null, 0, rules).rules
}

/** With the rules at `index` and after it in each other's place. */
const swapped = (rules: Draft['rules'], index: number): Draft['rules'] => {
  const [one, other] = [rules[index], rules[index + 1]]
  if (one === undefined || other === undefined) return rules
  return rules.with(index, other).with(index + 1, one)
}
