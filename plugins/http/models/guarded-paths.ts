import type { HttpServerState } from '../http-server-state.ts'
import type { Serve } from './exchange.ts'

const pathsByState = new WeakMap<HttpServerState, Map<string, Serve>>()

/** The handler of each guarded path, by every spelling of the path. */
export const guardedPaths = (state: HttpServerState): Map<string, Serve> => {
  const found = pathsByState.get(state) ?? new Map<string, Serve>()
  pathsByState.set(state, found)
  return found
}
