import { type Gateway, GuardError, type Plugin, stages } from 'guard-gateway/core'
import { sessionDefaults } from '#lib/config-defaults'
import { Agents } from './agents.ts'
import { sessionErrors } from './error-codes.ts'
import { identifiers } from './identifiers.ts'
import { AgentKeys } from './keys.ts'
import { LiveSessions } from './live.ts'
import { Openings } from './openings.ts'
import { pausedProxy, pauseOf, pauseSession, pauses } from './pause.ts'
import { liveById } from './queries.ts'
import { callerOf, resolver } from './resolve.ts'
import { Responses } from './responses.ts'
import { tables } from './tables.ts'

export { type SessionCommandOptions, sessionCommands } from './commands.ts'

export interface SessionsOptions {
  /** Minutes without a request after which a client that names no session starts a new one. */
  readonly idle_timeout_minutes?: number
}

const MINUTE_MS = 60_000

/** Finds each call's project, agent and session, keeps the agents' keys, and stops what is paused. */
export const sessions = ({
  idle_timeout_minutes = sessionDefaults.idle_timeout_minutes,
}: SessionsOptions = {}): Plugin => ({
  name: 'sessions',
  apply(gateway: Gateway) {
    gateway.errorCodes.add(...Object.values(sessionErrors))
    const ids = identifiers(gateway)
    const live = new LiveSessions(gateway)
    const agents = new Agents(gateway)
    const keys = new AgentKeys(gateway)
    const openings = new Openings(gateway, live, idle_timeout_minutes * MINUTE_MS)
    const responses = new Responses(gateway)
    const resolve = resolver({ ids, agents, live, openings, responses })

    for (const table of tables) gateway.tables.add(table)
    gateway.service('sessions').provide({
      find: async (id) => (await liveById(gateway, live, id)).row,
      held: (decision, call) => {
        const { key_id } = call.identity
        // another process may have revoked it since the request arrived
        if (key_id !== null && !gateway.keys.isLive(key_id))
          throw new GuardError('UNAUTHORIZED', 'The key was revoked.')
        return pauses(agents)(decision, call)
      },
      callerOf: (headers, identity) => callerOf({ ids, agents }, headers, identity),
      pauseOf: pauseOf({ agents, live }),
      pause: (session, reason, attributes) => pauseSession(gateway, session, reason, attributes),
    })
    gateway.health.set('sessions', () => ({
      in_memory: live.size,
      agents_in_memory: agents.size,
      agent_keys: keys.size,
    }))
    gateway.hooks.open.tapPromise('sessions', async () => {
      gateway
        .service('cluster')
        .get()
        ?.onChanged(async () => {
          agents.forget()
          await keys.load()
        })
      await keys.load()
    })
    gateway.hooks.request.tapPromise('sessions', (call) => {
      const resolved = resolve(call)
      const { key_id } = call.identity
      if (key_id !== null) keys.used(key_id, call.at)
      return resolved
    })
    gateway.hooks.decision.tapPromise({ name: 'sessions', stage: stages.decision.pause }, pauses(agents))
    gateway.hooks.proxy.tapPromise({ name: 'sessions', stage: stages.proxy.pause }, async (request) => {
      if (request.identity.key_id !== null) keys.used(request.identity.key_id, gateway.clock.now())
      return pausedProxy({ ids, agents, live })(request)
    })
    gateway.hooks.settle.tap('sessions', (settled) => {
      responses.learn(settled)
      const row = settled.call.session?.row
      if (row !== undefined) row.last_seen_at = Math.max(row.last_seen_at, settled.ended_at)
    })
    gateway.hooks.close.tapPromise('sessions', async () => {
      await Promise.all([keys.noted(), agents.noted()])
    })
    gateway.hooks.http.tapPromise('sessions', async (app) => {
      const [{ sessionRoutes }, { agentRoutes }] = await Promise.all([
        import('./session-routes.ts'),
        import('./agent-routes.ts'),
      ])
      await app.register(sessionRoutes(gateway, live), { prefix: '/api' })
      await app.register(agentRoutes(gateway, agents, keys, ids), { prefix: '/api' })
      const { addPages } = await import('./page/index.ts')
      addPages({ gateway, live, agents, keys })
    })
  },
})
