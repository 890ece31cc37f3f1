import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import { newId } from 'guard-gateway/lib/ids'
import { admit } from '../admission/guard.ts'
import { pathOf } from '../admission/target.ts'
import type { HttpFace } from '../face.ts'
import { run } from './exchange.ts'
import { guardedPaths } from './guarded-paths.ts'

/**
 * Serves the guarded paths, which are nearly all that is asked, ahead of the framework: it would find the same route and take no part in the exchange.
 * Whatever is to be refused at once, or spelled in a way that only a router reads, is left to it, and everything where a plugin hooks into its requests.
 */
export const serveAhead = (face: HttpFace, server: Server): void => {
  const [framework] = server.listeners('request') as RequestListener[]
  if (framework === undefined || face.isWatched) return
  const paths = guardedPaths(face)
  const isServed = (request: IncomingMessage, response: ServerResponse): boolean => {
    const serve = request.method === 'POST' ? paths.get(pathOf(request.url ?? '')) : undefined
    if (serve === undefined) return false
    try {
      admit(face, request, 'model')
    } catch {
      return false
    }
    void run({ face, id: newId('guardreq_', face.gateway.clock.now()), request, response }, serve)
    return true
  }
  server.off('request', framework).on('request', (request, response) => {
    if (!isServed(request, response)) framework(request, response)
  })
}
