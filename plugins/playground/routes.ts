import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Gateway } from 'guard-gateway/core'
import { rejectUnknownFilters } from '#lib/errors'
import type { Administration } from './administration.ts'
import { namedScenario } from './named-scenario.ts'
import type { Runs } from './runs.ts'
import { scenariosOf } from './scenario.ts'
import { newRun, runParams, runSchema, runsPage, runsQuery, scenariosAnswer } from './schemas.ts'
import { runSummary, runView, scenarioView } from './views.ts'

const tags = ['playground']

/** Scenarios and their runs, below `/api/v1/playground`. */
export const routes =
  (gateway: Gateway, runs: Runs, administration: Administration): FastifyPluginAsyncTypebox =>
  async (app) => {
    const list = { summary: 'List scenarios', tags, response: { 200: scenariosAnswer } }
    app.get('/scenarios', { schema: list }, async () => ({
      scenarios: [...scenariosOf(gateway)].map((scenario) => scenarioView(gateway, scenario)),
    }))

    const start = { summary: 'Start a run of a scenario', tags, body: newRun, response: { 202: runSchema } }
    app.post('/runs', { schema: start }, async ({ body, url }, reply) => {
      const { mode = 'shadow', style, pace_ms = 0 } = body
      const order = { scenario: namedScenario(body), mode, pace_ms, ...(style === undefined ? {} : { style }) }
      const run = await runs.start(order, administration)
      return reply
        .code(202)
        .header('location', `${url.replace(/[?#].*/, '')}/${run.id}`)
        .send(runView(run))
    })

    const page = { summary: 'List runs, newest first', tags, querystring: runsQuery, response: { 200: runsPage } }
    app.get('/runs', { schema: page }, async ({ query }) => {
      rejectUnknownFilters(query, runsQuery)
      const { limit, cursor, ...where } = query
      const found = await gateway.storage.find('playground_runs', {
        where,
        limit,
        ...(cursor === undefined ? {} : { cursor }),
      })
      const { rows, next_cursor, truncated } = found
      return { runs: rows.map(runSummary), next_cursor, truncated }
    })

    const one = { tags, params: runParams, response: { 200: runSchema } }
    app.get('/runs/:id', { schema: { summary: 'Inspect a run', ...one } }, async ({ params }) =>
      runView(await runs.need(params.id)),
    )
    app.delete('/runs/:id', { schema: { summary: 'Cancel a run', ...one } }, async ({ params }) =>
      runView(await runs.cancel(params.id)),
    )
  }
