import type { FastifyInstance } from 'fastify'
import { healthRoute } from './health.ts'
import type { HttpServerState } from './http-server-state.ts'
import { modelRoutes } from './models/routes.ts'
import { addPanels } from './page/index.ts'
import { probeRoutes } from './probe-routes.ts'
import { strictValidation } from './validation.ts'

/** Adds the routes of the server itself, and how all routes validate. */
export const addRoutes = async (state: HttpServerState, app: FastifyInstance): Promise<void> => {
  await strictValidation(app)
  healthRoute(state, app)
  if (state.isAlone) probeRoutes(state, app)
  modelRoutes(state, app)
  addPanels(state)
}
