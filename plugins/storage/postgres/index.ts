import { type Plugin, type StorageBackend, storage } from 'guard-gateway/core'
import { commandKind } from 'guard-gateway/lib/command'
import { postgresCommands } from './commands.ts'

export interface PostgresOptions {
  /** `postgres://user:password@host:5432/database`, with `sslmode` and `sslrootcert` as parameters. */
  readonly url: string
  /** Whose database it is: gateways that name another one are refused. */
  readonly cluster?: string
  /** The most connections; 10 if absent. */
  readonly pool?: number
  /** A statement that takes longer is ended; 30,000 if absent. */
  readonly statement_timeout_ms?: number
  /** Who waits longer for a lock of another process gives up; 10,000 if absent. */
  readonly lock_timeout_ms?: number
  /** 5,000 if absent. */
  readonly connect_timeout_ms?: number
  /** How long reads and writes wait for a server that is away before they are refused; 5,000 if absent. */
  readonly grace_ms?: number
  /** `off`: commits do not wait for the server's disk, and a crash of the server may lose the last ones. As the server has it if absent. A change marked `sync` always waits. */
  readonly synchronous_commit?: 'on' | 'off'
  /** Use advisory locks to add tables without meeting other processes; true if absent. Nothing depends on it. */
  readonly advisory_locks?: boolean
}

/** Storage in a PostgreSQL database, which several gateways may share. Nothing of it is loaded before it opens. */
export const postgres = ({
  url,
  cluster = '',
  pool = 10,
  statement_timeout_ms = 30_000,
  lock_timeout_ms = 10_000,
  connect_timeout_ms = 5_000,
  grace_ms = 5_000,
  synchronous_commit,
  advisory_locks = true,
}: PostgresOptions): StorageBackend & Plugin => {
  const backend = storage({
    id: 'postgres',
    async open(tables, context) {
      const { openDriver } = await import('./driver.ts')
      return openDriver(tables, context, {
        url,
        cluster,
        pool,
        statement_timeout_ms,
        lock_timeout_ms,
        connect_timeout_ms,
        grace_ms,
        synchronous_commit,
        advisory_locks,
      })
    },
  })
  return {
    ...backend,
    apply(gateway) {
      backend.apply(gateway)
      for (const command of postgresCommands(url)) gateway.registry(commandKind).add(command)
    },
  }
}
