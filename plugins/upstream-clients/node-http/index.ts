import { upstreamClient } from 'guard-gateway/lib/upstream-client'
import { NodeConnections } from './connections.ts'

/** Speaks to upstreams through `node:http` and `node:https`. */
export const nodeHttp = upstreamClient({
  id: 'node_http',
  connect: (address) => new NodeConnections(address),
})
