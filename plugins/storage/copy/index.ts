import type { Gateway, Plugin } from 'guard-gateway/core'
import { commandKind } from '#lib/command'
import { copyErrors } from './error-codes.ts'
import type { StorageAt } from './run-copy.ts'

export type { NamedStorage, StorageAt } from './run-copy.ts'

/** The command `guard storage copy`: all rows of one storage into another. */
export const storageCopy = (storageAt: StorageAt): Plugin => ({
  name: 'storage-copy',
  apply(gateway: Gateway) {
    gateway.errorCodes.add(...Object.values(copyErrors))
    gateway.registry(commandKind).add({
      id: 'storage copy',
      summary: 'copy all rows from one database to another, as from SQLite to PostgreSQL, and compare both',
      options: {
        '--from <database>': 'file of an SQLite database, or address of a PostgreSQL one: postgres://…',
        '--to <database>': 'the same; a file is made where there is none',
      },
      example: [
        'guard storage copy --from guard.db --to "$DATABASE_URL"',
        'guard storage copy --from "$DATABASE_URL" --to guard.db',
      ],
      standalone: true,
      extensible: true,
      run: async (input, io) => (await import('./run-copy.ts')).runCopy([...gateway.tables], storageAt, input, io),
    })
  },
})
