/** The parts of a URL that determine the target of a request. */
export interface Target {
  readonly scheme: 'http' | 'https'
  /** In lower case and ASCII. An IPv6 address has brackets. */
  readonly host: string
  readonly port: number
}

const SHAPE = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)(.*)$/is
const AUTHORITY = /^(\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)(?::([0-9]*))?$/i
/** Longer than any DNS name with port, or bracketed address. */
const MAX_AUTHORITY = 262
const STANDARD_PORTS = { http: 80, https: 443 }

/**
 * Parses a URL that every parser reads alike. Otherwise returns the reason, as the end of a sentence about the text:
 * parsers could disagree on the host of such a URL.
 */
export const readUrl = (text: string): Target | string => {
  if (/\p{Cc}/u.test(text)) return 'holds a control character'
  const [, scheme = '', authority = '', rest = ''] = SHAPE.exec(text) ?? []
  const lower = scheme.toLowerCase()
  if (lower === '') return 'is not an absolute URL'
  if (lower !== 'http' && lower !== 'https') return `has the scheme ${lower.slice(0, 40)}, which is not http or https`
  if (/^[?#]/.test(rest) && rest.includes('@')) return 'has an @ where some parsers look for the host'
  return readAuthority(text, lower, authority)
}

const readAuthority = (text: string, scheme: Target['scheme'], authority: string): Target | string => {
  if (authority.includes('@')) return 'holds a user name, which hides the host from a reader'
  if (authority.length > MAX_AUTHORITY) return 'has a host that is longer than a name can be'
  const [, host = '', written] = AUTHORITY.exec(authority) ?? []
  if (host === '') return 'has a host that not every parser reads alike'
  const port = written === undefined ? STANDARD_PORTS[scheme] : Number(written)
  if (written !== undefined && String(port) !== written) return 'has a port that not every parser reads alike'
  const parsed = URL.parse(text)
  if (parsed === null) return 'is not a URL'
  if (parsed.hostname !== host.toLowerCase()) return `has a host that is another spelling of ${parsed.hostname}`
  return { scheme, host: parsed.hostname, port }
}
