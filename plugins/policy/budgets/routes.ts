import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { budgetLeftSchema } from '#lib/budget'
import { rejectUnknownFilters } from '#lib/errors'
import { Type } from '#lib/json'
import { projectOf } from '../routes.ts'
import { remainingOfAll } from './projects.ts'
import { type RemainingContext, remainingOfProject } from './remaining.ts'

const query = Type.Object({
  project_id: Type.Optional(Type.String({ description: 'Of this project alone; of all that are known if absent' })),
  agent_id: Type.Optional(Type.String({ description: 'Of this agent alone, where a budget is an agent’s' })),
})

const answer = Type.Object({
  time_zone: Type.String({ description: 'In which days and other periods are told' }),
  budgets: Type.Array(budgetLeftSchema),
})

/** Telling what is left of budgets beyond one session, below `/api`. */
export const budgetRoutes =
  (parts: RemainingContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    const schema = {
      summary: 'What is left of the budgets of projects and agents',
      tags: ['policies'],
      querystring: query,
      response: { 200: answer },
    }
    app.get('/budgets', { schema }, async ({ query: filters }) => {
      rejectUnknownFilters(filters, query)
      const { project_id, agent_id } = filters
      const budgets =
        project_id === undefined
          ? await remainingOfAll(parts, agent_id)
          : await remainingOfProject(parts, projectOf({ project_id }, parts.gateway), agent_id)
      return { time_zone: parts.budgets.calendar.zone, budgets: [...budgets] }
    })
  }
