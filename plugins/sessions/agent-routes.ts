import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Gateway, GuardError } from 'guard-gateway/core'
import { approverHeaders } from 'guard-gateway/lib/approver'
import { rejectUnknownFilters } from 'guard-gateway/lib/errors'
import { newId } from 'guard-gateway/lib/ids'
import { Type } from 'guard-gateway/lib/json'
import { auditedIn, sees, visibleProjects } from 'guard-gateway/lib/principal'
import type { Static } from 'typebox'
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
    const view = async (id: string) => agentView(await agents.need(id), keys.of(id))

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
      checkName('id', id, ids)
      if (project_id !== undefined) checkName('project_id', project_id, ids)
      checkProject(project_id)
      const agent = {
        id,
        name: name === null ? null : gateway.redact.text(name),
        metadata: gateway.redact.value(boundedMetadata(metadata)),
        project_id: project_id ?? null,
        created_at: gateway.clock.now(),
      }
      const key = await registerAgent(gateway, keys, agent, issue_key)
      return reply.code(201).send({ agent: await view(id), ...key })
    })

    app.get('/agents/:id', { schema: { summary: 'Inspect an agent', ...one } }, async ({ params }) => ({
      agent: await view(params.id),
    }))

    const pause = { summary: 'Pause an agent: nothing of it is forwarded', ...one }
    app.post('/agents/:id/pause', { schema: pause }, async ({ params }) => {
      await agents.setPaused(await agents.need(params.id), true)
      return { agent: await view(params.id) }
    })

    const resume = { summary: 'Resume an agent', headers: approverHeaders, ...one }
    app.post('/agents/:id/resume', { schema: resume }, async ({ params, headers }) => {
      gateway.approver.checkHeaders(headers)
      await agents.setPaused(await agents.need(params.id), false)
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
      await agents.checkOwn(await agents.need(params.id))
      const made = await keys.issue(params.id)
      if (made === undefined) throw new GuardError('STORAGE_BUSY')
      return reply.code(201).send({ agent: await view(params.id), key: made.key, key_id: made.row.id })
    })

    const revoke = { summary: 'Revoke a key of an agent, at once', params: keyParams, response: { 204: Type.Null() } }
    app.delete('/agents/:id/keys/:key_id', { schema: revoke }, async ({ params }, reply) => {
      await agents.checkOwn(await agents.need(params.id))
      await keys.revoke(params.id, params.key_id)
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

const checkName = (member: 'id' | 'project_id', text: string, { isName }: Identifiers): void => {
  if (isName(text)) return
  throw new GuardError(
    'INVALID_REQUEST',
    `"${member}" cannot be used. Send 1 to 128 of A-Z a-z 0-9 . _ - that do not look like a credential and are not "." or "..".`,
    { path: `/${member}` },
  )
}
