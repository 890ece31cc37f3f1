import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { GuardError } from 'guard-gateway/core'
import { approverHeaders } from 'guard-gateway/lib/approver'
import { sees } from 'guard-gateway/lib/principal'
import { readChange } from './document/document.ts'
import { type WarningContext, warningsOf } from './document/warnings.ts'
import type { Policies } from './policies.ts'
import type { Policy } from './policy.ts'
import { PolicyAnswer, PolicyInput, ProjectParams } from './schemas.ts'

const project = /^[\w.-]{1,128}$/

/** Reading and replacing the policy of a project, below `/api`. */
export const routes =
  (policies: Policies, around: WarningContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { gateway, presets } = around
    const answer = async ({ project_id, version, source, mode, rules }: Policy): Promise<PolicyAnswer> => ({
      project_id,
      version,
      source,
      mode,
      rules: rules.map((rule) => ({ ...rule })),
      warnings: await warningsOf({ project_id, mode, rules }, around),
    })
    // The schemas describe; the document is checked where every wrong field gets its own words.
    const validatorCompiler = () => () => true

    app.get(
      '/policies/:project_id',
      {
        validatorCompiler,
        schema: {
          summary: 'Read the policy of a project',
          tags: ['policies'],
          params: ProjectParams,
          response: { 200: PolicyAnswer },
        },
      },
      async ({ params }) => answer(await policies.load(projectOf(params))),
    )

    app.put(
      '/policies/:project_id',
      {
        validatorCompiler,
        schema: {
          summary: 'Replace the policy of a project',
          tags: ['policies'],
          params: ProjectParams,
          headers: approverHeaders,
          body: PolicyInput,
          response: { 200: PolicyAnswer },
        },
      },
      async ({ params, body, headers }) => {
        gateway.approver.checkHeaders(headers)
        const projectId = projectOf(params)
        return answer(await policies.change(projectId, await readChange(body, gateway.detectors, presets)))
      },
    )
  }

/** The project that a path names. Throws INVALID_REQUEST. */
export const projectOf = ({ project_id }: { readonly project_id: string }): string => {
  if (!sees(project_id)) throw new GuardError('NOT_FOUND', 'There is no such project.')
  if (project.test(project_id)) return project_id
  throw new GuardError('INVALID_REQUEST', 'A project id is 1 to 128 of the characters A-Z a-z 0-9 . _ -', {
    path: '/project_id',
  })
}
