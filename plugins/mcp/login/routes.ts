import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { GuardError } from 'guard-gateway/core'
import { approverHeaders } from 'guard-gateway/lib/approver'
import { rejectUnknownFilters } from 'guard-gateway/lib/errors'
import type { McpServer } from 'guard-gateway/lib/mcp-transport'
import { mcpErrors } from '../error-codes.ts'
import type { Mcp } from '../mcp.ts'
import {
  beginAnswer,
  beginBody,
  finishAnswer,
  finishBody,
  loginAnswer,
  loginParams,
  loginQuery,
  logoutAnswer,
  logoutBody,
  viewOf,
} from './schemas.ts'

const tags = ['mcp']

/** Logins at MCP servers, below `/api/v1/mcp`. Tokens go in and never come out. */
export const loginRoutes =
  (mcp: Mcp): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { approver } = mcp.gateway
    const path = '/servers/:id/login'
    const common = { tags, params: loginParams }
    const changing = { ...common, headers: approverHeaders }

    const read = { summary: 'Read the login at a server', ...common, querystring: loginQuery }
    app.get(path, { schema: { ...read, response: { 200: loginAnswer } } }, async ({ params, query }) => {
      rejectUnknownFilters(query, loginQuery)
      const server = serverAt(mcp, params.id)
      const logins = await mcp.logins()
      const { agent_id } = logins.nameOf(server, query.agent_id ?? '')
      const last = await logins.lastRedirect(server.id, agent_id)
      const redirect_uri = server.login?.redirect_uri ?? last ?? null
      return { login: viewOf(await logins.state(server, agent_id)), redirect_uri }
    })

    const begin = { summary: 'Begin a login at a server', ...changing, body: beginBody }
    app.post(path, { schema: { ...begin, response: { 200: beginAnswer } } }, async ({ params, body, headers }) => {
      approver.checkHeaders(headers)
      const logins = await mcp.logins()
      const server = serverAt(mcp, params.id)
      return { authorization_url: await logins.begin(server, body.agent_id ?? '', body.redirect_uri) }
    })

    const finish = { summary: 'Finish a login at a server', ...changing, body: finishBody }
    app.post(
      `${path}/finish`,
      { schema: { ...finish, response: { 200: finishAnswer } } },
      async ({ params, body, headers }) => {
        approver.checkHeaders(headers)
        const logins = await mcp.logins()
        return { login: viewOf(await logins.finish(serverAt(mcp, params.id), body.redirected)) }
      },
    )

    const end = { summary: 'End the login at a server', ...changing, body: logoutBody }
    app.post(
      '/servers/:id/logout',
      { schema: { ...end, response: { 200: logoutAnswer } } },
      async ({ params, body, headers }) => {
        approver.checkHeaders(headers)
        const logins = await mcp.logins()
        const server = mcp.serverState(params.id)?.server
        // the login of a server that is configured no more can be ended, too
        return logins.end(server, { server_id: params.id, agent_id: body.agent_id ?? '' })
      },
    )
  }

const serverAt = (mcp: Mcp, id: string): McpServer => {
  const state = mcp.serverState(id)
  if (state !== undefined) return state.server
  const known = mcp.serverStates().map(({ server }) => server.id)
  throw new GuardError(mcpErrors.MCP_SERVER_NOT_FOUND, undefined, { known })
}
