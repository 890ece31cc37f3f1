import dns from 'node:dns/promises'
import { isIP, isIPv4 } from 'node:net'
import { GuardError, plainSchema } from 'guard-gateway/core'
import { findViolations, textsAtPointers } from 'guard-gateway/lib/check-arguments'
import { type CheckFinding, mcpCheck } from 'guard-gateway/lib/mcp-check'
import { quoted } from 'guard-gateway/lib/text'

type IpAddr = typeof import('ipaddr.js')
type Address = ReturnType<IpAddr['parse']>

/** Public ranges that the platform of the machine answers itself. */
const PLATFORM_ADDRESSES = new Set(['168.63.129.16'])

let ipaddr: IpAddr | undefined

/** Loads the address parser, which `isGlobal` needs. */
const loadAddresses = async (): Promise<void> => {
  // the types of this CommonJS module omit its default export
  ipaddr ??= ((await import('ipaddr.js')) as unknown as { readonly default: IpAddr }).default
}

/** True if an address, without brackets, is globally reachable. False for text that is no address. */
const isGlobal = (text: string): boolean => {
  if (ipaddr === undefined) throw new Error('The parser of addresses is not loaded.')
  return ipaddr.isValid(text) && isRouted(ipaddr.parse(text), ipaddr)
}

/** An IPv4 address with dots or dashes, as in host names of wildcard DNS services. */
const SPELLED = /(?<![a-z0-9])(?=([0-9]{1,3}([.-])[0-9]{1,3}\2[0-9]{1,3}\2[0-9]{1,3})(?![a-z0-9]))/g

/** True if a host name contains a private address, which a wildcard DNS service would return. */
const spellsPrivate = (name: string): boolean =>
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

/** The parts of a URL that determine the target of a request. */
interface Target {
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
const readUrl = (text: string): Target | string => {
  if (/\p{Cc}/u.test(text)) return 'holds a control character'
  const [, scheme = '', authority = '', rest = ''] = SHAPE.exec(text) ?? []
  const lower = scheme.toLowerCase()
  if (lower === '') return 'is not an absolute URL'
  if (lower !== 'http' && lower !== 'https') return `has the scheme ${quoted(lower)}, which is not http or https`
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
  if (parsed.hostname !== host.toLowerCase()) return `has a host that is another spelling of ${quoted(parsed.hostname)}`
  return { scheme, host: parsed.hostname, port }
}

const words = (text: string): readonly string[] => text.split(/\s+/)

/** Domains with names that lead to this machine or its network. */
const SUFFIXES = [
  // resolved to private addresses by local resolvers, home and office networks, or clouds
  ...words('localhost localdomain localdomain6 local internal intranet private corp lan home home.arpa ip consul'),
  // reserved names, names inside clusters, and names of networks with their own resolvers
  ...words('test invalid svc onion i2p'),
  // public, resolved to this machine
  ...words(`localtest.me lvh.me vcap.me lacolhost.com localh.st localho.st localhost.direct localhost.tv local.gd local.computer local.sisteminha.com
    fuf.me lcl.host lndo.site ddev.site docksal.site ratchetlocal.com smackaho.st ulh.us yoogle.com fbi.com cefgo.com bugbounty.dod.network
    spoofed.burpcollaborator.net mail.ebc.apple.com`),
  // public, resolved to any address that the name spells
  ...words('nip.io sslip.io xip.io xip.name ip6.name traefik.me local-ip.sh sentinel.pentesting.us'),
  // public, resolved to a different address each time
  ...words('rbndr.us 1u.ms rebind.network rebind.it rbnd.gl0.eu'),
  // parsed as an address by Windows, without a resolver
  'ipv6-literal.net',
  // public, answered inside clouds
  ...words('metadata.tencentyun.com metadata.cloud.ibm.com metadata.packet.net metadata.platformequinix.com'),
  // answered by routers
  ...words(`fritz.box easy.box pi.hole ui.unifi routerlogin.com routerlogin.net orbilogin.com orbilogin.net tplinkwifi.net tplinkmodem.net tplogin.cn
    mwlogin.net router.asus.com repeater.asus.com asusrouter.com mywifiext.net linksyssmartwifi.com tendawifi.com setup.meraki.com`),
]

const NAMES = new Set(words('ip6-localhost ip6-loopback broadcasthost metadata metadata.goog kubernetes.default'))

/** True if a host name, in lower case, leads to this machine or its network. */
const isPrivateName = (name: string): boolean =>
  NAMES.has(name) || SUFFIXES.some((suffix) => name === suffix || name.endsWith(`.${suffix}`))

const ENTRY = /^(\*\.)?([^*\s/@:?#\\%]+|\[[0-9a-f:.]+\])$/i

/** Normalises a `hosts` entry of a policy for the comparison with hosts of URLs. */
const hostEntry = (entry: string): string => {
  if (entry === '*') return entry
  const bracketed = /^[0-9a-f:.]*$/i.test(entry) && entry.split(':').length > 2 ? `[${entry}]` : entry
  const [, wildcard = '', name = ''] = ENTRY.exec(bracketed) ?? []
  const host = name === '' ? undefined : URL.parse(`http://${name}/`)?.hostname
  if (host === undefined || host === '' || host.endsWith('.'))
    throw new GuardError(
      'INVALID_POLICY',
      `"${entry}" is no host; write a name such as api.example.com, *.example.com or *, without scheme, port and path.`,
      { path: 'hosts' },
    )
  return wildcard + host
}

/** True if an entry matches the host: exactly, as `*.suffix`, or as `*`, which matches any name with a dot. */
const isListed = (host: string, entries: readonly string[]): boolean =>
  entries.some((entry) => {
    if (entry === '*') return host.includes('.') || host.startsWith('[')
    return entry.startsWith('*.') ? host.length > entry.length - 1 && host.endsWith(entry.slice(1)) : host === entry
  })

type Scheme = 'http' | 'https'

interface Options {
  args: string[]
  hosts: string[]
  schemes?: Scheme[]
  ports?: number[]
  private_addresses?: 'deny' | 'allow'
  resolve_dns?: boolean
  optional?: boolean
}

const schema = plainSchema<Options>({
  type: 'object',
  additionalProperties: false,
  required: ['args', 'hosts'],
  properties: {
    args: { $ref: '#/$defs/pointers' },
    hosts: { $ref: '#/$defs/strings', description: 'exact, *.suffix, or * for any public host' },
    schemes: {
      type: 'array',
      minItems: 1,
      uniqueItems: true,
      items: { enum: ['http', 'https'] },
      default: ['https'],
    },
    ports: {
      type: 'array',
      minItems: 1,
      uniqueItems: true,
      items: { type: 'integer', minimum: 1, maximum: 65535 },
    },
    private_addresses: { enum: ['deny', 'allow'], default: 'deny' },
    resolve_dns: { type: 'boolean', default: false },
    optional: { $ref: '#/$defs/optional' },
  },
})

/** Allows URLs with listed hosts only, and no addresses of this machine or its network. */
export const httpHosts = mcpCheck({
  id: 'http',
  schema,
  prepare: loadAddresses,

  compile: async (options): Promise<Options> => ({ ...options, hosts: options.hosts.map(hostEntry) }),

  find(args, options): readonly CheckFinding[] | Promise<readonly CheckFinding[]> {
    const targets: PointedTarget[] = []
    const found = findViolations(textsAtPointers(args, options), ({ pointer, text, wrong }) => {
      if (text === undefined) return wrong
      const target = readUrl(text)
      if (typeof target !== 'string') targets.push({ pointer, target })
      const reason = typeof target === 'string' ? target : violation(target, options)
      return reason === undefined ? undefined : { reason, certain: true }
    })
    if (options.resolve_dns !== true || options.private_addresses === 'allow') return found
    return resolvedUnless(found, targets)
  },
})

interface PointedTarget {
  readonly pointer: string
  readonly target: Target
}

/** Resolves host names, unless the call already has a violation. */
const resolvedUnless = async (
  found: readonly CheckFinding[] | Promise<readonly CheckFinding[]>,
  targets: readonly PointedTarget[],
): Promise<readonly CheckFinding[]> => {
  const findings = await found
  return findings.length > 0 ? findings : resolved(targets)
}

const violation = ({ scheme, host, port }: Target, options: Options): string | undefined => {
  if (!(options.schemes ?? ['https']).includes(scheme)) return `has the scheme ${scheme}, which is not allowed`
  if (!isListed(host, options.hosts)) return `goes to ${quoted(host)}, which is no allowed host`
  const allowed = options.ports ?? [scheme === 'https' ? 443 : 80]
  if (!allowed.includes(port)) return `goes to port ${port}, which is not allowed`
  const isInner = options.private_addresses !== 'allow' && (isPrivate(host) || isForeign(host, options.hosts))
  return isInner ? `goes to the private address ${quoted(host)}` : undefined
}

/**
 * True for a name that spells a private address, unless the policy lists its domain. The owner of a listed domain can
 * name hosts freely.
 */
const isForeign = (host: string, hosts: readonly string[]): boolean =>
  spellsPrivate(host) &&
  !isListed(
    host,
    hosts.filter((entry) => entry !== '*'),
  )

const isPrivate = (host: string): boolean => {
  const address = host.startsWith('[') ? host.slice(1, -1) : host
  return isIP(address) === 0 ? isPrivateName(host) : !isGlobal(address)
}

/** Resolves the names now. Every address must be globally reachable. */
const resolved = async (targets: readonly PointedTarget[]): Promise<readonly CheckFinding[]> => {
  const found = await Promise.all(
    targets.map(async ({ pointer, target: { host } }): Promise<CheckFinding | undefined> => {
      if (host.startsWith('[')) return undefined
      try {
        const addresses = await dns.lookup(host, { all: true })
        const inner = addresses.find(({ address }) => !isGlobal(address))
        if (inner === undefined && addresses.length > 0) return undefined
        return { pointer, reason: `goes to ${quoted(host)}, which resolves to a private address`, certain: true }
      } catch {
        return { pointer, reason: `goes to ${quoted(host)}, which does not resolve`, certain: false }
      }
    }),
  )
  return found.filter((one) => one !== undefined)
}
