import { after, describe } from 'node:test'
import type { StorageBackend } from 'guard-gateway/core'
import { postgres } from 'guard-gateway/plugins/storage/postgres'
import { storageConforms } from '../../conformance/storage.ts'
import { PgliteServer } from '../../kit/pglite.ts'

describe('postgres: without a server, on PostgreSQL in WebAssembly', () => {
  let server: PgliteServer | undefined
  const backend: StorageBackend = {
    id: 'postgres',
    open: async (tables, context) => {
      server ??= await PgliteServer.start()
      return postgres({ url: server.url, pool: 1, advisory_locks: false }).open(tables, context)
    },
  }
  storageConforms(backend)
  after(() => server?.close())
})
