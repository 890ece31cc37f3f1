import type { Page } from 'guard-gateway/lib/page'
import { sourceOf } from '../policy.ts'
import { projectOf } from '../routes.ts'
import { draftOf, readDraft } from './draft.ts'
import type { UnsavedDraft } from './drafts.ts'
import type { PageParts } from './index.ts'
import { readPolicy } from './read.ts'
import { policyView } from './view.ts'

/** The policy of a project as a form. Throws INVALID_REQUEST for what can name no project. */
export const detailPage = (parts: PageParts): Page => ({
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
const unsavedView = async ({ gateway }: PageParts, { draft, step }: UnsavedDraft) => {
  if (step === 'changed') return { draft, edited: true }
  const read = await readPolicy(gateway, draft)
  if ('faults' in read) return { draft, edited: true, faults: read.faults }
  return { draft, edited: true, simulated: read, confirming: step === 'confirming' }
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
