import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Gateway, Mode, Rule } from 'guard-gateway/core'
import type { Calendar } from 'guard-gateway/lib/time'
import type { Policies } from '../policies.ts'
import { projectOf } from '../routes.ts'
import { ProjectParams } from '../schemas.ts'
import { simulate } from './index.ts'
import { readSimulation } from './request.ts'
import { SimulationAnswer, SimulationInput } from './schemas.ts'

/** Trying rules on what a project did, below `/api`. */
export const simulationRoutes =
  (
    gateway: Gateway,
    policies: Policies,
    presets: Readonly<Record<string, readonly Rule[]>>,
    defaultMode: () => Mode,
    calendar: Calendar,
  ): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      '/policies/:project_id/simulate',
      {
        // The schema describes; the document is checked where every wrong field gets its own words.
        validatorCompiler: () => () => true,
        schema: {
          summary:
            'Say what rules would have done to the stored sessions of a project, or with `default` of all without a policy of their own',
          tags: ['policies'],
          params: ProjectParams,
          body: SimulationInput,
          response: { 200: SimulationAnswer },
        },
      },
      async ({ params, body }) => {
        const project = projectOf(params, gateway)
        const request = await readSimulation(
          body,
          project,
          await policies.load(project),
          gateway,
          presets,
          defaultMode(),
        )
        const { flagged, rules, not_simulated, ...rest } = await simulate(gateway, calendar, request)
        return { ...rest, flagged: [...flagged], rules: [...rules], not_simulated: [...not_simulated] }
      },
    )
  }
