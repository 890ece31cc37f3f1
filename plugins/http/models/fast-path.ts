import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import { newId } from 'guard-gateway/lib/ids'
import { admit } from '../admission/guard.ts'
import { pathOf } from '../admission/target.ts'
import type { HttpServerState } from '../http-server-state.ts'
import { run } from './exchange.ts'

/**
 * Serves the guarded paths, which are nearly all requests, without the framework: it would find the same route and do nothing else.
 * The framework still gets requests that are refused, unusual spellings of a path, and everything where a plugin has hooks on its requests.
 */
export const serveFastPath = (state: HttpServerState, server: Server): void => {
  const [framework] = server.listeners('request') as RequestListener[]
  if (framework === undefined || state.hasRequestHooks) return
  const { modelPaths } = state
  const isServed = (request: IncomingMessage, response: ServerResponse): boolean => {
    const route = request.method === 'POST' ? modelPaths.guarded(pathOf(request.url ?? '')) : undefined
    if (route === undefined) return false
    const { style, serve } = route
    try {
      admit(state, request, 'model', style)
    } catch {
      return false
    }
    void run({ state, id: newId('guardreq_', state.gateway.clock.now()), request, response, style }, serve)
    return true
  }
  server.off('request', framework).on('request', (request, response) => {
    if (!isServed(request, response)) framework(request, response)
  })
}
