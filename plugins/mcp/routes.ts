import type { FastifyInstance } from 'fastify'
import { draftRoutes } from './draft/routes.ts'
import { loginRoutes } from './login/routes.ts'
import { managementRoutes } from './management/routes.ts'
import type { Mcp } from './mcp.ts'
import { addPages } from './page/index.ts'
import { knownKeys } from './policy/known-keys.ts'
import { policyRoutes } from './policy/routes.ts'
import { ruleRoutes } from './rule-from-call/routes.ts'
import { transportRoutes } from './server-http/routes.ts'
import { listedTools } from './servers/listed-tools.ts'
import { serversView } from './servers/servers-view.ts'
import { simulationRoutes } from './simulate/routes.ts'
import { acceptPins } from './tools/accept-pins.ts'

/** Everything of the proxy that is reached over HTTP: the way to the servers, their administration, the pages. */
export const addRoutes = async (app: FastifyInstance, mcp: Mcp): Promise<void> => {
  const { gateway, options } = mcp
  const management = managementRoutes({
    gateway,
    approvals: mcp.approvals,
    approver: gateway.approver,
    servers: () => serversView(mcp),
    acceptPins: (server_id, tools, shown) => acceptPins(mcp, server_id, tools, shown),
  })
  await app.register(transportRoutes(mcp))
  await app.register(management, { prefix: '/api/v1/mcp' })
  await app.register(draftRoutes(mcp), { prefix: '/api/v1/mcp' })
  await app.register(simulationRoutes(mcp), { prefix: '/api/v1/mcp' })
  await app.register(loginRoutes(mcp), { prefix: '/api/v1/mcp' })
  await app.register(ruleRoutes(mcp), { prefix: '/api/v1/mcp' })
  addPages({ mcp, approver: gateway.approver })
  const validation = policyRoutes(gateway, {
    ...options,
    tools: () => listedTools(mcp),
    keys: () => knownKeys(gateway),
  })
  await app.register(validation, { prefix: '/api/v1/mcp' })
}
