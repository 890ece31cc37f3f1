import { GuardError } from 'guard-gateway/core'
import { databaseErrors } from '#lib/errors'
import { OldServer, ReadOnlyServer } from './connection/connect.ts'
import { isFull, messageOf, sqlState } from './connection/sql-errors.ts'
import type { Target } from './connection/target.ts'

interface Problem {
  /** What is the matter. */
  readonly what: string
  /** What to do. */
  readonly help: string
}

const NETWORK: Readonly<Record<string, Problem>> = {
  ENOTFOUND: { what: 'its host is not known', help: 'Correct the host in storage.url' },
  EAI_AGAIN: {
    what: 'its host name cannot be looked up now',
    help: 'See to the name service, or correct the host in storage.url',
  },
  ECONNREFUSED: { what: 'nothing listens there', help: 'Start the server, or correct host and port in storage.url' },
  ENOENT: { what: 'there is no socket there', help: 'Start the server, or correct the folder in storage.url' },
  EACCES: { what: 'this user may not use the socket', help: 'Allow it, or name a host in storage.url' },
  ETIMEDOUT: {
    what: 'it does not answer',
    help: 'See to the network and the server, or correct the host in storage.url',
  },
  EHOSTUNREACH: { what: 'its host cannot be reached', help: 'See to the network, or correct the host in storage.url' },
  ENETUNREACH: {
    what: 'its network cannot be reached',
    help: 'See to the network, or correct the host in storage.url',
  },
  ECONNRESET: { what: 'it ended the connection', help: 'See its log' },
  EPIPE: { what: 'it ended the connection', help: 'See its log' },
}

const SERVER: Readonly<Record<string, Problem>> = {
  '28P01': { what: 'it does not accept this password', help: 'Correct user and password in storage.url' },
  '28000': { what: 'it does not let this user in', help: 'See its pg_hba.conf and correct storage.url' },
  '3D000': { what: 'there is no such database', help: 'Create it (createdb), or correct storage.url' },
  '3F000': {
    what: 'no schema of its search_path exists',
    help: 'Create the schema, or correct options in storage.url',
  },
  '42501': {
    what: 'this user may not create tables there',
    help: 'Give it rights (grant create on schema public to …), or name another user in storage.url',
  },
  '25006': {
    what: 'it is read-only',
    help: 'Name the primary, not a standby, and see to default_transaction_read_only',
  },
  '53100': { what: 'its disk is full', help: 'Make room' },
  '53300': { what: 'it takes no more connections', help: 'Raise its max_connections, or lower storage.pool' },
  '57P01': { what: 'it is shutting down', help: 'Start it again' },
  '57P02': { what: 'it has crashed and restarts', help: 'See its log' },
  '57P03': { what: 'it is starting up or shutting down', help: 'Wait until it is ready' },
  '55P03': {
    what: 'a lock was not given in time',
    help: 'See pg_stat_activity for what holds it, or raise lock_timeout_ms',
  },
  '57014': { what: 'a statement took too long', help: 'See to the server, or raise statement_timeout_ms' },
}

const CERTIFICATE =
  /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_|ERR_TLS_CERT_ALTNAME_INVALID|ERR_SSL_)/

const certificateProblem = (code: string): Problem =>
  code === 'ERR_TLS_CERT_ALTNAME_INVALID'
    ? {
        what: 'its certificate is for another host',
        help: 'Write the name of the certificate as the host of storage.url',
      }
    : {
        what: `its certificate is not trusted (${code})`,
        help: 'Name the authority that signed it: sslrootcert=ca.pem in storage.url',
      }

/** What `pg` reports without a code. */
const PLAIN: readonly (readonly [RegExp, Problem])[] = [
  [
    /does not support SSL/,
    { what: 'it refuses TLS', help: 'Turn on ssl in its configuration, or write sslmode=disable in storage.url' },
  ],
  [
    /password must be a string|no password/i,
    { what: 'it asks for a password', help: 'Write one in storage.url, or set PGPASSWORD' },
  ],
  [/timeout expired|timed? ?out/i, { what: 'it does not answer', help: 'See to the network and the server' }],
  [
    /terminated unexpectedly|establishing an SSL/,
    { what: 'it ended the connection', help: 'See whether it is a PostgreSQL server, and its log' },
  ],
]

const problemOf = (error: unknown): Problem | undefined => {
  if (error instanceof ReadOnlyServer) return SERVER['25006']
  if (error instanceof OldServer)
    return { what: `it is PostgreSQL ${error.message}, and 13 is the oldest that works`, help: 'Update the server' }
  const state = sqlState(error)
  if (state !== undefined) return SERVER[state]
  const code = String((error as { readonly code?: unknown } | null)?.code ?? '')
  if (CERTIFICATE.test(code)) return certificateProblem(code)
  return NETWORK[code] ?? PLAIN.find(([pattern]) => pattern.test(messageOf(error)))?.[1]
}

/** Errors in words, without the password. */
export class Failures {
  readonly #target: Target
  readonly #hide: (text: string) => string

  constructor(target: Target, hide: (text: string) => string) {
    this.#target = target
    this.#hide = hide
  }

  /** A phrase for a sentence: what is the matter. */
  describe(error: unknown): string {
    return problemOf(error)?.what ?? this.message(error)
  }

  /** The message of an error, without the password. */
  message(error: unknown): string {
    return this.#hide(messageOf(error)).replace(/\.$/, '')
  }

  /** What stops the start: what, where, what to do. */
  atStart(error: unknown): GuardError {
    if (error instanceof GuardError) return error
    const problem = problemOf(error)
    const { user, tls, described } = this.#target
    if (isFull(error))
      return new GuardError('STORAGE_FULL', `The database ${described} is full: ${this.message(error)}. Make room.`)
    const code =
      sqlState(error) === '42501' || problem === SERVER['25006']
        ? databaseErrors.DATABASE_UNWRITABLE
        : 'STORAGE_UNAVAILABLE'
    const what = problem === undefined ? this.message(error) : `${problem.what}${this.#detail(error)}`
    const how = tls === undefined ? 'without TLS' : 'with TLS'
    return new GuardError(
      code,
      `The database ${described} cannot be used as "${user}" ${how}: ${what}. ${problem?.help ?? 'See the log of the server'}.`,
    )
  }

  #detail(error: unknown): string {
    return sqlState(error) === undefined ? '' : ` (${this.message(error)})`
  }
}
