import { describe } from 'node:test'
import type { StorageBackend } from 'guard-gateway/core'
import { postgres } from 'guard-gateway/plugins/storage/postgres'
import { storageConforms } from '../../conformance/storage.ts'
import { cleanUpPostgres, needsPostgres, newDatabase } from '../../kit/postgres.ts'

/** A backend whose database is made when it opens for the first time. */
const fresh = (options: Partial<Parameters<typeof postgres>[0]> = {}): StorageBackend => {
  let url: Promise<string> | undefined
  return {
    id: 'postgres',
    open: async (tables, context) => {
      url ??= newDatabase()
      return postgres({ url: await url, ...options }).open(tables, context)
    },
  }
}

describe('storage/postgres', needsPostgres, () => {
  cleanUpPostgres()
  storageConforms(fresh())
  describe('without advisory locks', () => storageConforms(fresh({ advisory_locks: false })))
  describe('with one connection', () => storageConforms(fresh({ pool: 1 })))
})
