import { BlockList, isIP } from 'node:net'
import { domainToASCII } from 'node:url'

/** Whether a host and port of a URL are reached without the proxy. */
export type NoProxy = (hostname: string, port: number) => boolean

/**
 * Reads lists of the form of NO_PROXY, as curl does: names by comma or blank, each for itself and what is below it, with or without a
 * leading `.` or `*.`; addresses, CIDR blocks, any of them with a port; `*` for everything. What cannot be read matches nothing.
 */
export const noProxy = (lists: readonly string[]): NoProxy => {
  const entries = lists.flatMap((list) => list.split(/[\s,]+/)).filter((entry) => entry !== '')
  const matchers = entries.map(matcherOf)
  return (hostname, port) => {
    const host = bare(hostname)
    return matchers.some((matches) => matches(host, port))
  }
}

/** The host is this machine, whatever it is called. */
export const isThisMachine = (hostname: string): boolean => {
  const host = bare(hostname)
  if (isIP(host) === 0) return host === 'localhost' || host.endsWith('.localhost')
  return loopback.check(host, familyOf(host))
}

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4')

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('0.0.0.0', 'ipv4')
loopback.addAddress('::1', 'ipv6')
loopback.addAddress('::', 'ipv6')

/** In lower case, without brackets and without the dot that ends a full name. */
const bare = (hostname: string): string =>
  hostname
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')

const matcherOf = (entry: string): NoProxy => {
  const { host, port: expectedPort } = parted(entry)
  const matches = hostMatcher(host)
  return (hostname, port) => (expectedPort === undefined || expectedPort === port) && matches(hostname)
}

/** An entry as its host and its port. An address of IPv6 has a port only after brackets. */
const parted = (entry: string): { readonly host: string; readonly port?: number } => {
  const [, host, port] = /^(\[[^\]]*\]|[^:]*):(\d{1,5})$/.exec(entry) ?? []
  return host === undefined ? { host: entry } : { host, port: Number(port) }
}

const hostMatcher = (host: string): ((hostname: string) => boolean) => {
  if (host === '*') return () => true
  const [address = '', bits] = host.split('/', 2)
  const ip = bare(address)
  if (isIP(ip) !== 0) return addressMatcher(ip, bits)
  const written = bare(host).replace(/^\*?\./, '')
  // as it is in a URL
  const name = domainToASCII(written) || written
  if (name === '') return () => false
  return (hostname) => hostname === name || hostname.endsWith(`.${name}`)
}

const addressMatcher = (ip: string, bits: string | undefined): ((hostname: string) => boolean) => {
  const family = familyOf(ip)
  const most = family === 'ipv6' ? 128 : 32
  const prefix = bits === undefined ? most : Number(bits)
  if (bits !== undefined && (!/^\d{1,3}$/.test(bits) || prefix > most)) return () => false
  const block = new BlockList()
  block.addSubnet(ip, prefix, family)
  return (hostname) => isIP(hostname) !== 0 && block.check(hostname, familyOf(hostname))
}
