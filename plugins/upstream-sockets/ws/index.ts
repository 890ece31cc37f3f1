import { upstreamSocket } from 'guard-gateway/lib/upstream-client'

/** WebSockets by the package `ws`, which is loaded with the first of them. */
export const ws = upstreamSocket({
  id: 'ws',
  dial: async (request, signal) => (await import('./dial.ts')).dial(request, signal),
  accept: async (request) => (await import('./accept.ts')).accept(request),
})
