import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import {
  approverHeaders,
  type Gateway,
  GuardError,
  knownFilters,
  onlySession,
  type Session,
  type SessionRow,
} from 'guard-gateway/core'
import type { Static } from 'typebox'
import type { LiveSessions } from './live.ts'
import { boundedMetadata } from './metadata.ts'
import { changeSession, pauseSession, resumeSession } from './pause.ts'
import {
  externalParams,
  oneSession,
  pauseBody,
  projectQuery,
  sessionChanges,
  sessionParams,
  sessionsPage,
  sessionsQuery,
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
      knownFilters(query, sessionsQuery)
      const { limit, cursor, ...where } = query
      const page = { where, limit, ...(cursor === undefined ? {} : { cursor }) }
      const { rows, next_cursor, truncated } = await gateway.storage.find('sessions', page)
      return { sessions: rows.map(sessionView), next_cursor, truncated }
    })

    const external = {
      summary: 'Find the session that a client knows by its own id',
      params: externalParams,
      querystring: projectQuery,
      response: { 200: oneSession },
    }
    app.get('/sessions/by-external/:external_id', { schema: external }, async ({ params, query }) => {
      knownFilters(query, projectQuery)
      return { session: sessionView((await liveByExternal(gateway, live, { ...params, ...query })).row) }
    })

    app.get('/sessions/:id', { schema: { summary: 'Inspect a session', ...one } }, async ({ params }) => ({
      session: sessionView((await need(params.id)).row),
    }))

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

    const resume = { summary: 'Resume a session, and let loop rules begin anew', headers: approverHeaders, ...one }
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

/** The live session of an id, or of an external id if only one session bears it. Throws SESSION_NOT_FOUND or AMBIGUOUS_ID. */
export const liveById = async (gateway: Gateway, live: LiveSessions, id: string): Promise<Session> =>
  (await live.find(id)) ?? liveByExternal(gateway, live, { external_id: id })

/** The live session that an external id means, also before anything of it is on record. Throws SESSION_NOT_FOUND or AMBIGUOUS_ID. */
const liveByExternal = async (
  gateway: Gateway,
  live: LiveSessions,
  where: { readonly external_id: string; readonly project_id?: string },
): Promise<Session> => {
  const { external_id, project_id } = where
  const { rows } = await gateway.storage.find('sessions', { where, limit: 10 })
  const begun = live
    .begunAs(external_id)
    .filter((row) => (project_id ?? row.project_id) === row.project_id && rows.every(({ id }) => id !== row.id))
  const session = await live.find(onlySession(external_id, [...rows, ...begun]).id)
  if (session === undefined) throw new GuardError('SESSION_NOT_FOUND')
  return session
}
