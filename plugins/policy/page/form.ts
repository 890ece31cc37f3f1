import { GuardError, type Rule } from 'guard-gateway/core'
import type { Form, Posted, Sent } from 'guard-gateway/lib/page'
import { sourceOf } from '../policy.ts'
import { projectOf } from '../routes.ts'
import { type Draft, draftOf, newRule, readDraft } from './draft.ts'
import type { UnsavedDraft } from './drafts.ts'
import type { PageParts } from './index.ts'
import { readPolicy } from './read.ts'
import { type PolicyPageState, policyView } from './view.ts'

/** The form of a policy: its buttons act on the fields, and only saving stores anything. */
export const policyForm = (parts: PageParts): Form => ({
  id: 'policies/change',
  path: '/ui/policies/:project_id',
  page: '/policies/:project_id',
  notices: { 'policy-saved': 'Policy saved. It holds from the next request on.' },
  submit: (posted) => submit(parts, posted),
})

const submit = async (parts: PageParts, { params, fields, now }: Posted): Promise<Sent> => {
  const project_id = projectOf({ project_id: params.project_id ?? '' }, parts.gateway)
  const sent: SentDraft = { parts, project_id, draft: readDraft(fields), now }
  const [intent = '', detail = ''] = split(fields.get('intent') ?? 'save')
  if (intent === 'save') return save(sent, fields)
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
  if (read.mode === 'enforce' && now.mode !== 'enforce' && !fields.has('confirmed')) return unsaved(sent, 'confirming')
  const wrong = gateway.approver.faultIn(fields)
  if (wrong !== undefined) return refused(sent, { faults: [wrong], confirming: fields.has('confirmed') })
  try {
    await policies.change(project_id, { ...read, expected_version: draft.version })
  } catch (error) {
    if (!(error instanceof GuardError) || error.code !== 'VERSION_CONFLICT') throw error
    const { version } = sourceOf(await policies.load(project_id), project_id)
    return refused(sent, { draft: { ...draft, version }, conflicting: true })
  }
  return { notice: 'policy-saved', location: `/policies/${project_id}` }
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
