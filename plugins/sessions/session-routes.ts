import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Gateway, Session, SessionRow } from 'guard-gateway/core'
import type { Static } from 'typebox'
import { approverHeaders } from '#lib/approver'
import { rejectUnknownFilters } from '#lib/errors'
import type { LiveSessions } from './live.ts'
import { boundedMetadata } from './metadata.ts'
import { changeSession, endSession, pauseSession, resumeSession } from './pause.ts'
import { foundSessions, liveByExternal, liveById, originOf } from './queries.ts'
import {
  externalParams,
  oneSession,
  pauseBody,
  projectQuery,
  sessionChanges,
  sessionParams,
  sessionsPage,
  sessionsQuery,
  sessionWithBudgets,
} from './schemas.ts'
import { sessionView } from './views.ts'

const one = { params: sessionParams, response: { 200: oneSession } }

/** Reading, changing, pausing and resuming sessions, below `/api`. */
export const sessionRoutes =
  (gateway: Gateway, live: LiveSessions): FastifyPluginAsyncTypebox =>
  async (app) => {
    const need = (id: string): Promise<Session> => liveById(gateway, live, id)

    const list = { summary: 'List sessions, newest first', querystring: sessionsQuery, response: { 200: sessionsPage } }
    app.get('/sessions', { schema: list }, async ({ query }) => {
      rejectUnknownFilters(query, sessionsQuery)
      const { limit, cursor, ...filters } = query
      const { rows, next_cursor, truncated } = await foundSessions(gateway, live, originOf(filters), limit, cursor)
      return { sessions: rows.map(sessionView), next_cursor, truncated }
    })

    const external = {
      summary: 'Find the session that a client knows by its own id',
      params: externalParams,
      querystring: projectQuery,
      response: { 200: sessionWithBudgets },
    }
    const detailOf = async (session: Session) => ({
      session: sessionView(session.row),
      budgets: [...((await gateway.service('rules').get()?.budgets({ session })) ?? [])],
    })
    app.get('/sessions/by-external/:external_id', { schema: external }, async ({ params, query }) => {
      rejectUnknownFilters(query, projectQuery)
      return detailOf(await liveByExternal(gateway, live, { ...params, ...query }))
    })

    const inspect = { summary: 'Inspect a session', params: sessionParams, response: { 200: sessionWithBudgets } }
    app.get('/sessions/:id', { schema: inspect }, async ({ params }) => detailOf(await need(params.id)))

    const patch = { summary: 'Change name or metadata of a session', body: sessionChanges, ...one }
    app.patch('/sessions/:id', { schema: patch }, async ({ params, body }) => {
      const changes = changesOf(gateway, body)
      const session = await need(params.id)
      if (Object.keys(changes).length > 0) await changeSession(gateway, session, changes, 'session.updated')
      return { session: sessionView(session.row) }
    })

    const pause = { summary: 'Pause a session: nothing of it is forwarded', body: pauseBody, ...one }
    app.post('/sessions/:id/pause', { schema: pause }, async ({ params, body }) => {
      const session = await need(params.id)
      await pauseSession(gateway, session, body?.reason ?? null)
      return { session: sessionView(session.row) }
    })

    const end = { summary: 'End a session: it stays paused and waits for nobody', ...one }
    app.post('/sessions/:id/end', { schema: end }, async ({ params }) => {
      const session = await need(params.id)
      await endSession(gateway, session)
      return { session: sessionView(session.row) }
    })

    const resume = { summary: 'Resume a session and reset its loop rules', headers: approverHeaders, ...one }
    app.post('/sessions/:id/resume', { schema: resume }, async ({ params, headers }) => {
      gateway.approver.checkHeaders(headers)
      const session = await need(params.id)
      await resumeSession(gateway, session)
      return { session: sessionView(session.row) }
    })
  }

/** The columns that a PATCH changes, checked and redacted. Throws INVALID_REQUEST. */
const changesOf = (gateway: Gateway, body: Static<typeof sessionChanges>): Partial<SessionRow> => {
  const { name, metadata } = body
  return {
    ...(name === undefined ? {} : { name: name === null ? null : gateway.redact.text(name) }),
    ...(metadata === undefined ? {} : { metadata: gateway.redact.value(boundedMetadata(metadata)) }),
  }
}
