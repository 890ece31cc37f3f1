import { isIPv4 } from 'node:net'

type IpAddr = typeof import('ipaddr.js')
type Address = ReturnType<IpAddr['parse']>

/** Public ranges that the platform of the machine answers itself. */
const PLATFORM_ADDRESSES = new Set(['168.63.129.16'])

let ipaddr: IpAddr | undefined

/** Loads the address parser, which `isGlobal` needs. */
export const loadAddresses = async (): Promise<void> => {
  // the types of this CommonJS module omit its default export
  ipaddr ??= ((await import('ipaddr.js')) as unknown as { readonly default: IpAddr }).default
}

/** True if an address, without brackets, is globally reachable. False for text that is no address. */
export const isGlobal = (text: string): boolean => {
  if (ipaddr === undefined) throw new Error('The parser of addresses is not loaded.')
  return ipaddr.isValid(text) && isRouted(ipaddr.parse(text), ipaddr)
}

/** An IPv4 address with dots or dashes, as in host names of wildcard DNS services. */
const SPELLED = /(?<![a-z0-9])(?=([0-9]{1,3}([.-])[0-9]{1,3}\2[0-9]{1,3}\2[0-9]{1,3})(?![a-z0-9]))/g

/** True if a host name contains a private address, which a wildcard DNS service would return. */
export const spellsPrivate = (name: string): boolean =>
  [...name.matchAll(SPELLED)].some(([, spelled = '']) => {
    const address = spelled.replaceAll('-', '.')
    return isIPv4(address) && !isGlobal(address)
  })

const isRouted = (address: Address, lib: IpAddr): boolean => {
  if (address.kind() === 'ipv4') return address.range() === 'unicast' && !PLATFORM_ADDRESSES.has(address.toString())
  const bytes = address.toByteArray()
  const inner = innerAddresses(address.range(), bytes)
  if (inner !== undefined) return inner.every((four) => isRouted(lib.fromByteArray(four), lib))
  const [first = 0] = bytes
  return address.range() === 'unicast' && first >> 5 === 1
}

/** IPv4 addresses that a translator or tunnel extracts from an IPv6 address. Undefined if it contains none. */
const innerAddresses = (range: string, bytes: readonly number[]): readonly number[][] | undefined => {
  if (range === 'ipv4Mapped' || range === 'rfc6145' || bytes.slice(0, 12).every((byte) => byte === 0))
    return [bytes.slice(12)]
  // the local-use prefix of RFC 8215 does not fix the position of the IPv4 address
  if (range === 'rfc6052') return bytes[5] === 1 ? [[0, 0, 0, 0]] : [bytes.slice(12)]
  if (range === '6to4') return [bytes.slice(2, 6)]
  if (range === 'teredo') return [bytes.slice(4, 8), bytes.slice(12).map((byte) => byte ^ 0xff)]
  const isIsatap = bytes[10] === 0x5e && bytes[11] === 0xfe && ((bytes[8] ?? 0) & 0xfd) === 0 && bytes[9] === 0
  return isIsatap ? [bytes.slice(12)] : undefined
}
