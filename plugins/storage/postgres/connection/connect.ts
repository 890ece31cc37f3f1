import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'
import { GuardError } from 'guard-gateway/core'
import { Client } from 'pg'
import { Connection } from './connection.ts'
import { plain } from './statement.ts'
import type { Target, Tls } from './target.ts'

/** Settings of every connection. Times are milliseconds. */
export interface Session {
  readonly connect_timeout_ms: number
  readonly statement_timeout_ms: number
  readonly lock_timeout_ms: number
  /** Undefined: as the server has it. */
  readonly synchronous_commit: 'on' | 'off' | undefined
}

/** A transaction that a process holds open and does nothing in ends after this time: its host has lost power. */
const IDLE_IN_TRANSACTION_MS = 60_000

export const OLDEST_VERSION = 130_000

const pem = (file: string | undefined, parameter: string): string | undefined => {
  if (file === undefined) return undefined
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw new GuardError('INVALID_CONFIG', `storage.url: ${parameter} names ${file}, which cannot be read (${code}).`, {
      path: 'storage.url',
      cause,
    })
  }
}

const tlsOptions = ({ checkName, ca_file, cert_file, key_file }: Tls): ConnectionOptions => {
  const ca = pem(ca_file, 'sslrootcert')
  const cert = pem(cert_file, 'sslcert')
  const key = pem(key_file, 'sslkey')
  return {
    rejectUnauthorized: true,
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(checkName ? {} : { checkServerIdentity: () => undefined }),
  }
}

/** The server says that it writes nothing: it is a standby, or was told so. */
export class ReadOnlyServer extends Error {}

/** The server is older than what the statements need. */
export class OldServer extends Error {}

/** Opens a connection that can write. Rejects with the error of the server or the network. */
export const connect = async (target: Target, session: Session): Promise<Connection> => {
  const { host, port, user, password, database, tls, application_name, options } = target
  const client = new Client({
    host,
    port,
    user,
    database,
    application_name,
    ssl: tls === undefined ? false : tlsOptions(tls),
    connectionTimeoutMillis: session.connect_timeout_ms,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    ...(password === undefined ? {} : { password }),
    ...(options === undefined ? {} : { options }),
  })
  // an error before the connection is there also rejects `connect`
  client.on('error', () => {})
  const connection = new Connection(client)
  try {
    await client.connect()
    await begin(connection, session)
    return connection
  } catch (error) {
    connection.destroy()
    throw error
  }
}

const begin = async (connection: Connection, session: Session): Promise<void> => {
  const settings: [string, string][] = [
    ['statement_timeout', String(session.statement_timeout_ms)],
    ['lock_timeout', String(session.lock_timeout_ms)],
    ['idle_in_transaction_session_timeout', String(IDLE_IN_TRANSACTION_MS)],
    ['client_encoding', 'UTF8'],
    ['standard_conforming_strings', 'on'],
    ['default_transaction_isolation', 'read committed'],
  ]
  if (session.synchronous_commit !== undefined) settings.push(['synchronous_commit', session.synchronous_commit])
  const set = settings.map((_, at) => `set_config($${2 * at + 1}, $${2 * at + 2}, false)`).join(', ')
  const [, state] = await connection.run([
    plain(`select ${set}`, ...settings.flat()),
    plain(
      `select current_setting('server_version_num'), current_setting('server_version'), current_setting('transaction_read_only')`,
    ),
  ])
  const [number, version, readOnly] = state?.rows[0] ?? []
  if (Number(number) < OLDEST_VERSION) throw new OldServer(String(version))
  if (readOnly === 'on') throw new ReadOnlyServer()
}
