import { upstreamClient } from 'guard-gateway/lib/upstream-client'
import { ConnectionPool } from './connection-pool.ts'

/** Speaks HTTP/1.1 to upstreams through `undici`, a connection a client. */
export const undici = upstreamClient({
  id: 'undici',
  connect: (address) => new ConnectionPool(address),
})
