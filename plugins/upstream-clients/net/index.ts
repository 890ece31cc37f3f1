import { upstreamClient } from 'guard-gateway/lib/upstream-client'
import { ConnectionPool } from './connection-pool.ts'

/** Speaks HTTP/1.1 to upstreams over `node:net` and `node:tls` itself: one write a request, no stream a reply. */
export const net = upstreamClient({
  id: 'net',
  connect: (address) => new ConnectionPool(address),
})
