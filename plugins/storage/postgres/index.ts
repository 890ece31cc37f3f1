import { GuardError, type Plugin, type StorageBackend, storage } from 'guard-gateway/core'
import { type Command, commandKind } from '#lib/command'
import { bytesText } from '#lib/format'
import type { Target } from './connection/target.ts'

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

/** The commands `guard storage …` for a database. They print what PostgreSQL's own programs do better. */
const postgresCommands = (url: string): readonly Command[] => [
  {
    id: 'storage check',
    summary: 'say whether the database answers, what it holds, and how to read all of it through',
    example: ['guard storage check', 'guard storage check --config other.yml'],
    run: async ({ options }, { out }) => {
      const [{ inspect }, { targetOf }] = await Promise.all([import('./inspect.ts'), import('./connection/target.ts')])
      const target = targetOf(url)
      const found = await inspect(url)
      const command = `pg_amcheck --install-missing --heapallindexed ${conninfo(target)}`
      if (options.json === true) out.write(`${JSON.stringify({ ...found, command })}\n`)
      else
        out.write(
          `${target.described} answers: PostgreSQL ${found.version}, ${found.tables} tables, ${bytesText(found.bytes)}\nThe whole database is read through by:\n  ${command}\n${PASSWORD}`,
        )
      return 0
    },
  },
  {
    id: 'storage backup',
    args: '<file>',
    summary: 'print the call of pg_dump that writes a copy of the database to a file, also while gateways use it',
    example: ['guard storage backup guard-2026-01-31.dump', 'sh -c "$(guard storage backup guard.dump --quiet)"'],
    run: async ({ args: [name = ''], options }, { out, err }) => {
      const { targetOf } = await import('./connection/target.ts')
      if (name === '') throw new GuardError('USAGE', 'Name the file that the copy is to be written to.')
      const command = `pg_dump --format=custom --file=${shellWord(name)} ${conninfo(targetOf(url))}`
      if (options.json === true) out.write(`${JSON.stringify({ command })}\n`)
      else out.write(`${command}\n`)
      if (options.json !== true && options.quiet !== true) err.write(`${PASSWORD}${BACK}`)
      return 0
    },
  },
  {
    id: 'storage restore',
    args: '<file>',
    summary: 'print the call of pg_restore that puts a copy in the place of the database; stop all gateways first',
    example: ['guard storage restore guard-2026-01-31.dump', 'sh -c "$(guard storage restore guard.dump --quiet)"'],
    run: async ({ args: [name = ''], options }, { out, err }) => {
      const { targetOf } = await import('./connection/target.ts')
      const command = `pg_restore --clean --if-exists --single-transaction ${conninfo(targetOf(url))} ${shellWord(name)}`
      if (options.json === true) out.write(`${JSON.stringify({ command })}\n`)
      else out.write(`${command}\n`)
      if (options.json !== true && options.quiet !== true) err.write(`${PASSWORD}${RESTORE}`)
      return 0
    },
  },
]

const PASSWORD = 'The password comes from PGPASSWORD or ~/.pgpass.\n'
const BACK = 'Nothing was written yet. pg_restore --dbname=<new database> <file> brings the copy back.\n'
const RESTORE = 'Nothing was restored yet. All rows of the database give way to those of the copy.\n'

/** How the programs of PostgreSQL connect: everything but the password. */
const conninfo = ({ host, port, user, database, tls }: Target): string => {
  const mode = tls === undefined ? 'disable' : tls.checkName ? (tls.ca_file ? 'verify-full' : 'require') : 'verify-ca'
  const parts = Object.entries({
    host,
    port: String(port),
    user,
    dbname: database,
    ...(host.startsWith('/') ? {} : { sslmode: mode }),
    ...(tls?.ca_file === undefined ? {} : { sslrootcert: tls.ca_file }),
  })
  return `--dbname=${shellWord(parts.map(([name, value]) => `${name}=${libpqWord(value)}`).join(' '))}`
}

const libpqWord = (value: string): string =>
  /^[^\s'\\]+$/.test(value) ? value : `'${value.replace(/['\\]/g, '\\$&')}'`

const shellWord = (word: string): string =>
  /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
