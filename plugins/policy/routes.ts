import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Gateway, GuardError } from 'guard-gateway/core'
import { approverHeaders } from 'guard-gateway/lib/approver'
import { storedId } from 'guard-gateway/lib/ids'
import { sees } from 'guard-gateway/lib/principal'
import { readChange } from './document/document.ts'
import { type WarningContext, warningsOf } from './document/warnings.ts'
import type { Policies } from './policies.ts'
import { type Policy, sourceOf } from './policy.ts'
import { PolicyAnswer, PolicyInput, ProjectParams } from './schemas.ts'

const projectForm = /^[\w.-]{1,128}$/

/** Reading the policy that holds for a project and replacing its own, below `/api`. */
export const routes =
  (policies: Policies, around: WarningContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { gateway, presets, default_mode } = around
    const answer = async (project_id: string, policy: Policy): Promise<PolicyAnswer> => {
      const { mode, rules } = policy
      return {
        project_id,
        ...sourceOf(policy, project_id),
        mode,
        mode_in_force: mode ?? default_mode(),
        rules: rules.map((rule) => ({ ...rule })),
        warnings: await warningsOf({ project_id, mode, rules }, around),
      }
    }
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
  }

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
