import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Gateway, GuardError } from 'guard-gateway/core'
import type { Static } from 'typebox'
import { approverHeaders } from '#lib/approver'
import { rejectUnknownFilters } from '#lib/errors'
import { newId } from '#lib/ids'
import { Type } from '#lib/json'
import { auditedIn, sees, visibleProjects } from '#lib/principal'
import { type Agents, registration } from './agents.ts'
import { sessionErrors } from './error-codes.ts'
import type { Identifiers } from './identifiers.ts'
import type { AgentKeys } from './keys.ts'
import { boundedMetadata } from './metadata.ts'
import {
  agentParams,
  agentsPage,
  agentsQuery,
  issued,
  keyParams,
  newAgentBody,
  oneAgent,
  registered,
} from './schemas.ts'
import { agentView } from './views.ts'

const one = { params: agentParams, response: { 200: oneAgent } }

/** Registering, pausing and resuming agents, and their keys, below `/api`. */
export const agentRoutes =
  (gateway: Gateway, agents: Agents, keys: AgentKeys, ids: Identifiers): FastifyPluginAsyncTypebox =>
  async (app) => {
    const need = (id: string) => agents.need(ids.name(id) ?? id)
    const view = async (id: string) => {
      const agent = await need(id)
      return agentView(agent, keys.of(agent.id))
    }

    const list = { summary: 'List agents, newest first', querystring: agentsQuery, response: { 200: agentsPage } }
    app.get('/agents', { schema: list }, async ({ query }) => {
      rejectUnknownFilters(query, agentsQuery)
      const { limit, cursor, paused } = query
      const page = { where: agentsWhere(query), limit, ...(cursor === undefined ? {} : { cursor }) }
      const { rows, next_cursor, truncated } = await gateway.storage.find('agents', page)
      const views = rows.map((row) => agentView(row, keys.of(row.id)))
      const listed = paused === undefined ? views : views.filter((view) => view.paused === paused)
      return { agents: listed, next_cursor, truncated }
    })

    const register = {
      summary: 'Register an agent',
      headers: approverHeaders,
      body: newAgentBody,
      response: { 201: registered },
    }
    app.post('/agents', { schema: register }, async ({ body, headers }, reply) => {
      const {
        id = newId('agent_', gateway.clock.now()),
        name = null,
        project_id,
        metadata = {},
        issue_key = true,
      } = body ?? {}
      if (issue_key) gateway.approver.checkHeaders(headers)
      const stored = nameIn('id', id, ids)
      const project = project_id === undefined ? undefined : nameIn('project_id', project_id, ids)
      checkProject(project)
      const agent = {
        id: stored,
        name: name === null ? null : gateway.redact.text(name),
        metadata: gateway.redact.value(boundedMetadata(metadata)),
        project_id: project ?? null,
        created_at: gateway.clock.now(),
      }
      const key = await registerAgent(gateway, keys, agent, issue_key)
      return reply.code(201).send({ agent: await view(stored), ...key })
    })

    app.get('/agents/:id', { schema: { summary: 'Inspect an agent', ...one } }, async ({ params }) => ({
      agent: await view(params.id),
    }))

    const pause = { summary: 'Pause an agent: nothing of it is forwarded', ...one }
    app.post('/agents/:id/pause', { schema: pause }, async ({ params }) => {
      await agents.setPaused(await need(params.id), true)
      return { agent: await view(params.id) }
    })

    const resume = { summary: 'Resume an agent', headers: approverHeaders, ...one }
    app.post('/agents/:id/resume', { schema: resume }, async ({ params, headers }) => {
      gateway.approver.checkHeaders(headers)
      await agents.setPaused(await need(params.id), false)
      return { agent: await view(params.id) }
    })

    const issue = {
      summary: 'Issue a further key for an agent',
      headers: approverHeaders,
      params: agentParams,
      response: { 201: issued },
    }
    app.post('/agents/:id/keys', { schema: issue }, async ({ params, headers }, reply) => {
      gateway.approver.checkHeaders(headers)
      const agent = await need(params.id)
      await agents.checkOwn(agent)
      const made = await keys.issue(agent.id)
      if (made === undefined) throw new GuardError('STORAGE_BUSY')
      return reply.code(201).send({ agent: await view(agent.id), key: made.key, key_id: made.row.id })
    })

    const revoke = { summary: 'Revoke a key of an agent, at once', params: keyParams, response: { 204: Type.Null() } }
    app.delete('/agents/:id/keys/:key_id', { schema: revoke }, async ({ params }, reply) => {
      const agent = await need(params.id)
      await agents.checkOwn(agent)
      await keys.revoke(agent.id, params.key_id)
      return reply.code(204).send(null)
    })
  }

const agentsWhere = ({ limit: _limit, cursor: _cursor, playground, paused, ...equal }: Static<typeof agentsQuery>) => ({
  ...equal,
  ...(playground === undefined ? {} : { playground: playground || null }),
  // for whoever sees some projects alone the row does not tell whether it is paused there
  ...(paused === undefined || visibleProjects() !== null ? {} : { paused }),
})

/** Writes a new agent, and optionally its first key, in one batch. Throws AGENT_EXISTS. */
const registerAgent = async (
  gateway: Gateway,
  keys: AgentKeys,
  agent: Parameters<typeof registration>[0],
  withKey: boolean,
) => {
  const { id, project_id } = agent
  const entry = { action: 'agent.registered', subject: id, project_id }
  const changes = [registration(agent), ...auditedIn(gateway.service('audit').get(), entry)]
  const exists = () =>
    new GuardError(
      sessionErrors.AGENT_EXISTS,
      `There is an agent "${agent.id}" already. Choose another id, or issue a key for that one with POST /api/agents/${agent.id}/keys.`,
    )
  if (!withKey) {
    if (!(await gateway.storage.write(changes))) throw exists()
    return {}
  }
  const issued = await keys.issue(agent.id, changes)
  if (issued === undefined) throw exists()
  return { key: issued.key, key_id: issued.row.id }
}

/** Whoever is bound to projects registers agents of these. Throws INVALID_REQUEST. */
const checkProject = (project_id: string | undefined): void => {
  if (sees(project_id)) return
  const message = `Name one of your projects in "project_id": ${visibleProjects()?.join(', ')}.`
  throw new GuardError('INVALID_REQUEST', message, { path: '/project_id' })
}

/** The id as it is stored. Throws INVALID_REQUEST. */
const nameIn = (member: 'id' | 'project_id', text: string, { name }: Identifiers): string => {
  const stored = name(text)
  if (stored !== undefined) return stored
  throw new GuardError(
    'INVALID_REQUEST',
    `"${member}" cannot be used. Send 1 to 128 of A-Z a-z 0-9 . _ - that hold no credential and are not "." or "..".`,
    { path: `/${member}` },
  )
}
