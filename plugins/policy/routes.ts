import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Gateway, GuardError, type Mode } from 'guard-gateway/core'
import { approverHeaders } from '#lib/approver'
import { rejectUnknownFilters } from '#lib/errors'
import { storedId } from '#lib/ids'
import { sees } from '#lib/principal'
import { DEFAULT_PROJECT } from '#lib/session'
import { isPlaygroundProject } from '#lib/trace'
import { readChange } from './document/document.ts'
import { type WarningContext, warningsOf } from './document/warnings.ts'
import type { Policies } from './policies.ts'
import { type Policy, sourceOf } from './policy.ts'
import { PoliciesAnswer, PoliciesQuery, PolicyAnswer, PolicyInput, ProjectParams, RemovalQuery } from './schemas.ts'

const projectForm = /^[\w.-]{1,128}$/

/** Reading the policy that holds for a project, replacing its own and removing it, below `/api`. */
export const routes =
  (policies: Policies, around: WarningContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { gateway, presets, default_mode } = around
    const answer = async (project_id: string, policy: Policy): Promise<PolicyAnswer> => {
      const { mode, rules } = policy
      return {
        ...summaryOf(project_id, policy, default_mode()),
        rules: rules.map((rule) => ({ ...rule })),
        warnings: await warningsOf({ project_id, mode, rules }, around),
      }
    }
    app.get(
      '/policies',
      {
        schema: {
          summary:
            'List the policies: that of `default`, which holds for every project without one, then those of projects',
          tags: ['policies'],
          querystring: PoliciesQuery,
          response: { 200: PoliciesAnswer },
        },
      },
      async ({ query }) => {
        rejectUnknownFilters(query, PoliciesQuery)
        const { rows, next_cursor } = await gateway.storage.find('policies', { limit: MAX_LISTED })
        const own = rows.map(({ project_id }) => project_id).filter((id) => id !== DEFAULT_PROJECT)
        const isListed = (id: string): boolean => query.playground !== false || !isPlaygroundProject(id)
        const listed = [...(sees(DEFAULT_PROJECT) ? [DEFAULT_PROJECT] : []), ...own.filter(isListed)]
        const answers = listed.map(async (id) => summaryOf(id, await policies.load(id), default_mode()))
        return { policies: await Promise.all(answers), truncated: next_cursor !== null }
      },
    )

    // The schemas describe; the document is checked where every wrong field gets its own words.
    const validatorCompiler = () => () => true

    app.get(
      '/policies/:project_id',
      {
        validatorCompiler,
        schema: {
          summary: 'Read the policy that holds for a project',
          tags: ['policies'],
          params: ProjectParams,
          response: { 200: PolicyAnswer },
        },
      },
      async ({ params }) => {
        const project = projectOf(params, gateway)
        return answer(project, await policies.load(project))
      },
    )

    app.put(
      '/policies/:project_id',
      {
        validatorCompiler,
        schema: {
          summary: 'Replace the policy of a project; that of `default` holds for all that have none of their own',
          tags: ['policies'],
          params: ProjectParams,
          headers: approverHeaders,
          body: PolicyInput,
          response: { 200: PolicyAnswer },
        },
      },
      async ({ params, body, headers }) => {
        gateway.approver.checkHeaders(headers)
        const project = projectOf(params, gateway)
        return answer(project, await policies.change(project, await readChange(body, gateway.detectors, presets)))
      },
    )

    app.delete(
      '/policies/:project_id',
      {
        schema: {
          summary:
            'Remove the policy of a project, which then follows that of `default`; without that of `default` the rules that come with the gateway hold',
          tags: ['policies'],
          params: ProjectParams,
          querystring: RemovalQuery,
          headers: approverHeaders,
          response: { 200: PolicyAnswer },
        },
      },
      async ({ params, query, headers }) => {
        gateway.approver.checkHeaders(headers)
        const project = projectOf(params, gateway)
        return answer(project, await policies.remove(project, query.expected_version))
      },
    )
  }

const MAX_LISTED = 500

/** A policy without its rules. */
const summaryOf = (project_id: string, policy: Policy, default_mode: Mode) => ({
  project_id,
  ...sourceOf(policy, project_id),
  mode: policy.mode,
  mode_in_force: policy.mode ?? default_mode,
  rules: policy.rules.filter(({ enabled }) => enabled).length,
})

/** The project that a path names. Throws INVALID_REQUEST. */
export const projectOf = (
  { project_id }: { readonly project_id: string },
  { redact }: Pick<Gateway, 'redact'>,
): string => {
  const stored = projectForm.test(project_id) ? storedId(project_id, redact) : undefined
  if (!sees(stored ?? project_id)) throw new GuardError('NOT_FOUND', 'There is no such project.')
  if (stored !== undefined) return stored
  throw new GuardError('INVALID_REQUEST', 'A project id is 1 to 128 of the characters A-Z a-z 0-9 . _ -', {
    path: '/project_id',
  })
}
