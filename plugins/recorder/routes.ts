import { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Gateway, GuardError } from 'guard-gateway/core'
import { rejectUnknownFilters } from 'guard-gateway/lib/errors'
import { timeOf } from 'guard-gateway/lib/time'
import { aggregatesCsv } from './aggregates.ts'
import { historyPage } from './history.ts'
import { aggregatesFile, aggregatesQuery, eventsPage, eventsQuery, sessionFile, sessionParams } from './schemas.ts'
import { sessionJson } from './session-export.ts'

/** Routes of a session's history and of the exports, below `/api`. */
export const routes =
  (gateway: Gateway): FastifyPluginAsyncTypebox =>
  async (app) => {
    const events = { params: sessionParams, querystring: eventsQuery, response: { 200: eventsPage } }
    app.get(
      '/sessions/:id/events',
      { schema: { summary: 'Session decision history', ...events } },
      async ({ params, query }) => {
        rejectUnknownFilters(query, eventsQuery)
        const { id } = await gateway.service('sessions').need().find(params.id)
        const page = await historyPage(gateway.storage, { ...query, session_id: id })
        return { ...page, events: [...page.events] }
      },
    )

    const file = { summary: 'Export one session', params: sessionParams, response: { 200: sessionFile } }
    app.get('/export/sessions/:id.json', { schema: file }, async ({ params }, reply) => {
      const session = await gateway.service('sessions').need().find(params.id)
      const text = sessionJson(gateway.storage, session, gateway.clock.now())
      return reply
        .type('application/json; charset=utf-8')
        .headers(attachment(`${session.id}.json`))
        .send(Readable.from(text))
    })

    const table = {
      summary: 'Export aggregate metrics',
      querystring: aggregatesQuery,
      response: { 200: aggregatesFile },
    }
    app.get('/export/aggregates.csv', { schema: table }, async ({ query }, reply) => {
      rejectUnknownFilters(query, aggregatesQuery)
      const { project_id } = query
      const range = {
        ...time('since', query.since),
        ...time('until', query.until),
        ...(project_id === undefined ? {} : { project_id }),
      }
      const lines = aggregatesCsv(gateway.storage, range)
      return reply
        .type('text/csv; charset=utf-8; header=present')
        .headers(attachment('aggregates.csv'))
        .send(Readable.from(lines))
    })
  }

/** Header of a download. The name has no characters that are special in a shell or a path. */
const attachment = (name: string) => ({
  'content-disposition': `attachment; filename="${name.replaceAll(/[^A-Za-z0-9._-]/g, '_')}"`,
})

const time = (name: 'since' | 'until', text: string | undefined): { readonly [key in typeof name]?: number } => {
  if (text === undefined) return {}
  const at = timeOf(text)
  if (at === undefined)
    throw new GuardError(
      'INVALID_REQUEST',
      `"${name}" is not a time: ${text}. Send a day like 2026-01-31 or a time like 2026-01-31T12:00:00Z.`,
      { path: `/${name}` },
    )
  return { [name]: at }
}
