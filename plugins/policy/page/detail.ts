import type { Page } from 'guard-gateway/core'
import { projectOf } from '../routes.ts'
import { draftOf, readDraft } from './draft.ts'
import type { PageParts } from './index.ts'
import { policyView } from './view.ts'

/** The policy of a project as a form. Throws INVALID_REQUEST for what can name no project. */
export const detailPage = (parts: PageParts): Page => ({
  id: 'policies/policy',
  path: '/policies/:project_id',
  render: async ({ params, now, refused }) => {
    const project_id = projectOf({ project_id: params.project_id ?? '' })
    const { mode, version, rules } = await parts.policies.load(project_id)
    const draft = refused === undefined ? draftOf(mode, version, rules) : readDraft(refused.fields)
    const faults = refused?.faults ?? []
    return policyView(parts, { project_id, now, draft, edited: refused !== undefined, faults })
  },
})
