import { upstreamClient } from 'guard-gateway/core'
import { NodeConnections } from './connections.ts'

/** Speaks to upstreams through `node:http` and `node:https`. */
export const nodeHttp = upstreamClient({
  id: 'node_http',
  connect: (address) => new NodeConnections(address),
})
