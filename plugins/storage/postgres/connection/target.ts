import { GuardError } from 'guard-gateway/core'

/** How a connection is encrypted. `file`: the certificates to trust, in PEM; the system's if absent. */
export interface Tls {
  /** Whether the certificate must be for the host's name. */
  readonly checkName: boolean
  readonly ca_file: string | undefined
  readonly cert_file: string | undefined
  readonly key_file: string | undefined
}

/** The parts of a connection URL. */
export interface Target {
  /** A host name, an address, or the folder of a socket. */
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string | undefined
  readonly database: string
  readonly tls: Tls | undefined
  readonly application_name: string
  readonly options: string | undefined
  /** Where it leads, for messages: without the password. */
  readonly described: string
}

const FORM = 'postgres://user:password@host:5432/database'

const invalid = (what: string): GuardError =>
  new GuardError('INVALID_CONFIG', `storage.url ${what}.`, { path: 'storage.url' })

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    throw invalid('has a % that begins no escape; write % as %25')
  }
}

/** `postgres:///db` and `postgres://user@/db` have no host, which URL of the platform refuses for a user without one. */
const parse = (url: string): URL => {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(url)?.[1]?.toLowerCase()
  if (scheme === undefined) throw invalid(`is no URL; it has the form ${FORM}`)
  if (scheme !== 'postgres' && scheme !== 'postgresql')
    throw invalid(`begins with ${scheme}://, and only postgres:// and postgresql:// are known`)
  const rest = url.slice(scheme.length + 3)
  const authority = /^[^/?#]*/.exec(rest)?.[0] ?? ''
  if (authority.includes(','))
    throw invalid('names several hosts; name one, such as the address that follows the primary')
  const isHostless = authority === '' || authority.endsWith('@')
  try {
    return new URL(`postgres://${isHostless ? `${authority}localhost${rest.slice(authority.length)}` : rest}`)
  } catch {
    // the error of the platform holds the whole URL
    throw invalid(`cannot be parsed; it has the form ${FORM}, with special characters of the password as %XX`)
  }
}

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|localhost|\[?::1\]?)$/i

const tlsOf = (host: string, query: URLSearchParams): Tls | undefined => {
  const mode = query.get('sslmode') ?? (query.get('ssl') === 'true' ? 'require' : null)
  const tls = (checkName: boolean): Tls => {
    const file = query.get('sslrootcert')
    return {
      checkName,
      ca_file: file === null || file === 'system' ? undefined : file,
      cert_file: query.get('sslcert') ?? undefined,
      key_file: query.get('sslkey') ?? undefined,
    }
  }
  if (mode === 'disable') return undefined
  if (mode === 'require' || mode === 'verify-full') return tls(true)
  if (mode === 'verify-ca') return tls(false)
  if (mode !== null)
    throw invalid(
      `has sslmode=${mode}, which may end without encryption or without a check of the certificate; write require (TLS, certificate checked) or disable (no TLS)`,
    )
  if (host.startsWith('/') || LOOPBACK.test(host)) return undefined
  throw invalid(
    `leads to ${host} without TLS; add ?sslmode=require (and &sslrootcert=ca.pem for an authority of your own), or ?sslmode=disable to send everything readable`,
  )
}

/** Parses a connection URL. Throws INVALID_CONFIG, with no word of the password. */
export const targetOf = (text: string): Target => {
  const url = parse(text.trim())
  const query = url.searchParams
  const named = query.get('host') ?? decoded(url.hostname).replace(/^\[|\]$/g, '')
  const port = Number(query.get('port') ?? (url.port === '' ? '5432' : url.port))
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw invalid('has no valid port')
  const user = decoded(url.username) || query.get('user') || process.env.PGUSER || ''
  if (user === '') throw invalid(`names no user; it has the form ${FORM}`)
  const database = decoded(url.pathname.slice(1)) || user
  return {
    host: named,
    port,
    user,
    password: decoded(url.password) || query.get('password') || process.env.PGPASSWORD || undefined,
    database,
    tls: tlsOf(named, query),
    application_name: query.get('application_name') ?? 'guard-gateway',
    options: query.get('options') ?? undefined,
    described: named.startsWith('/') ? `"${database}" at ${named}` : `"${database}" at ${named}:${port}`,
  }
}

/** A function that hides the password, in every form in which it may stand in a URL or a message. */
export const hidePassword = ({ password, user, database }: Target): ((text: string) => string) => {
  if (password === undefined || password === user || password === database) return (text) => text
  const encoded = encodeURIComponent(password)
  const lower = encoded.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())
  const forms = [...new Set([password, encoded, lower, encodeURI(password)])].sort((a, b) => b.length - a.length)
  return (text) => forms.reduce((hidden, form) => hidden.replaceAll(form, '****'), text)
}
