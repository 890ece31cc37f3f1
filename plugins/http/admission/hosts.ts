import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import { GuardError } from 'guard-gateway/core'
import { httpErrors } from '../error-codes.ts'

const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?$/
const wildcards = new Set(['0.0.0.0', '::', '[::]'])
const MAX_CACHED = 64

/** The address to listen on is every one of the machine, and so no name. */
export const isWildcardAddress = (host: string): boolean => wildcards.has(host)

/** Judges `Host` headers: only names that are known to mean this gateway, each as a whole, with any port. */
export const hostCheck = (listenHost: string, further: readonly string[]): ((host: string | undefined) => void) => {
  const names = new Set(['127.0.0.1', 'localhost', '[::1]', ...further.map(asName)])
  if (!isWildcardAddress(listenHost)) names.add(asName(listenHost))
  const accepted = new Set<string>()
  return (host) => {
    if (host !== undefined && accepted.has(host)) return
    const [, name] = HOST.exec(host?.toLowerCase() ?? '') ?? []
    if (host === undefined || name === undefined) {
      throw new GuardError(
        'INVALID_HEADER',
        'The header host is missing or malformed. Send it once, as name or name:port.',
      )
    }
    if (!names.has(name)) throw new GuardError(httpErrors.HOST_NOT_ALLOWED)
    if (accepted.size < MAX_CACHED) accepted.add(host)
  }
}

/** A configured host as a `Host` header names it. */
export const asName = (host: string): string => {
  const lower = host.toLowerCase()
  if (lower.includes(':')) return lower.startsWith('[') ? lower : `[${lower}]`
  return domainToASCII(lower) || lower
}

/** The host name or address is a loopback one. */
export const isLoopback = (host: string): boolean => {
  const bare = host.replace(/^\[(.*)\]$/, '$1').toLowerCase()
  if (isIP(bare) === 4) return bare.startsWith('127.')
  return bare === 'localhost' || bare === '::1' || bare === '0:0:0:0:0:0:0:1'
}
