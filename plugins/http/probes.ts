import type { IncomingMessage, ServerResponse } from 'node:http'
import { newId } from '#lib/ids'
import { admit } from './admission/admit.ts'
import { pathOf } from './admission/target.ts'
import type { HttpServerState } from './http-server-state.ts'
import { securityHeaders } from './response-headers.ts'

/** What a probe is answered. */
interface ProbeAnswer {
  readonly status: 200 | 503
  readonly body: { readonly status: 'ok' | 'unavailable' }
}

const OK: ProbeAnswer = { status: 200, body: { status: 'ok' } }
const UNAVAILABLE: ProbeAnswer = { status: 503, body: { status: 'unavailable' } }

/** 200 where requests are taken, and what is decided can be recorded, or need not be. */
export const readiness = ({ draining, gateway }: HttpServerState): ProbeAnswer => {
  const store = gateway.service('store').get()
  const state = store?.storage?.state
  const isReady = state === 'ok' || state === 'busy' || (state !== undefined && store?.onFailure === 'forward')
  return !draining && isReady ? OK : UNAVAILABLE
}

const probes: ReadonlyMap<string, (state: HttpServerState) => ProbeAnswer> = new Map([
  ['/livez', () => OK],
  ['/readyz', readiness],
])

/**
 * Serves the probes of orchestrators and load balancers without the framework: without a key, by any host name, from memory alone, and
 * with no detail. False for every other request, and for a probe that is refused.
 */
export const servesProbe = (state: HttpServerState, request: IncomingMessage, response: ServerResponse): boolean => {
  if (request.method !== 'GET' && request.method !== 'HEAD') return false
  const probe = probes.get(pathOf(request.url ?? ''))
  if (probe === undefined) return false
  try {
    admit(state, request, 'health')
  } catch {
    return false
  }
  const { status, body } = probe(state)
  const text = JSON.stringify(body)
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'x-guard-request-id': newId('guardreq_', state.gateway.clock.now()),
    ...securityHeaders,
    'cache-control': 'no-store',
    'content-length': text.length,
  })
  response.end(request.method === 'HEAD' ? undefined : text)
  return true
}
