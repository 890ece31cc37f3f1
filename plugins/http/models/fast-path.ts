import type { IncomingMessage, ServerResponse } from 'node:http'
import { newId } from '#lib/ids'
import { admit } from '../admission/admit.ts'
import type { HttpServerState } from '../http-server-state.ts'
import { run } from './exchange.ts'

/**
 * Serves the model paths, which are nearly all requests, without the framework: it would find the same route and do nothing else.
 * False for what is left to the framework: requests that are refused, unusual spellings of a path, and everything where a plugin has
 * hooks on its requests.
 */
export const servesModel = (state: HttpServerState, request: IncomingMessage, response: ServerResponse): boolean => {
  const route = state.modelPaths.serving(request)
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
