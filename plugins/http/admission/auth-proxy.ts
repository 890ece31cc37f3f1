import type { IncomingMessage, Server } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { GuardError } from 'guard-gateway/core'
import { headerText } from '#lib/http'
import { expandScopes, type Principal, type PrincipalSource, type Scope } from '#lib/principal'

/** A proxy in front that authenticates people, and what they may do. */
export interface AuthProxyOptions {
  /** The header that names a person; empty: no proxy is trusted. */
  readonly header: string
  /** Addresses of the proxies, and networks as 10.1.0.0/16: those that open the connection. */
  readonly from: readonly string[]
  /** The header that lists the groups of the person, with commas; empty: none does. */
  readonly groups_header: string
  /** Person to scopes; `default`: of everybody who is not named. */
  readonly scopes: Readonly<Record<string, readonly Scope[]>>
  /** Group to scopes, in addition. */
  readonly groups: Readonly<Record<string, readonly Scope[]>>
  /** Person to the projects that they see; `default`: of everybody who is not named. Empty: everybody sees all. */
  readonly projects: Readonly<Record<string, readonly string[]>>
}

/** What a proxy says of a request, by Node's request object; null: nothing, or it is none of ours. */
const vouched = new WeakMap<IncomingMessage, Vouched | null>()

interface Vouched {
  readonly person: readonly string[]
  readonly groups: readonly string[]
}

/** Names of people are not longer than this. */
const MAX_CHARS = 256

/** Believes a header of listed peers alone. The headers are taken out of every request, so that nothing else reads them and no upstream gets them. */
export class AuthProxy implements PrincipalSource {
  readonly id = 'auth_proxy'
  readonly #options: AuthProxyOptions
  readonly #peers: BlockList
  readonly #header: string
  readonly #groupsHeader: string

  /** Throws TypeError for an address that is none. */
  constructor(options: AuthProxyOptions) {
    this.#options = options
    this.#peers = peersOf(options.from)
    this.#header = options.header.toLowerCase()
    this.#groupsHeader = options.groups_header.toLowerCase()
  }

  /** Takes the headers out of requests before anything else sees them. */
  watch(server: Server): void {
    server.prependListener('request', (request: IncomingMessage) => this.take(request))
    server.prependListener('checkContinue', (request: IncomingMessage) => this.take(request))
  }

  /** Takes the headers out of a request. */
  take(request: IncomingMessage): void {
    this.#take(request)
  }

  /** Throws INVALID_HEADER where the proxy names nobody clearly. */
  principalOf(request: IncomingMessage): Principal | undefined {
    const claimed = this.#take(request)
    if (claimed === null || claimed.person.length === 0) return undefined
    const name = this.#nameOf(claimed.person)
    const groups = claimed.groups.flatMap((text) => headerText(text).split(',')).map((group) => group.trim())
    return {
      name,
      kind: 'proxy',
      scopes: expandScopes([
        ...entryOf(this.#options.scopes, name),
        ...groups.flatMap((group) => this.#scopesOf(group)),
      ]),
      projects: Object.keys(this.#options.projects).length === 0 ? null : entryOf(this.#options.projects, name),
      key_id: null,
    }
  }

  #nameOf(values: readonly string[]): string {
    const [value = ''] = values
    const name = headerText(value).trim()
    if (values.length === 1 && name !== '' && name.length <= MAX_CHARS) return name
    throw new GuardError(
      'INVALID_HEADER',
      `The header ${this.#header} must name one person, once, in at most ${MAX_CHARS} characters. Correct the proxy in front: it must replace the header that a client sends.`,
    )
  }

  #scopesOf(group: string): readonly Scope[] {
    const { groups } = this.#options
    return Object.hasOwn(groups, group) ? (groups[group] ?? []) : []
  }

  #take(request: IncomingMessage): Vouched | null {
    const known = vouched.get(request)
    if (known !== undefined) return known
    const claimed = { person: this.#removed(request, this.#header), groups: this.#removed(request, this.#groupsHeader) }
    const found = this.#isPeer(request.socket.remoteAddress) ? claimed : null
    vouched.set(request, found)
    return found
  }

  /** Takes a header out, and gives its values. */
  #removed({ rawHeaders, headers }: IncomingMessage, name: string): readonly string[] {
    if (name === '') return []
    const values: string[] = []
    for (let index = 0; index + 1 < rawHeaders.length; index += 2)
      if (rawHeaders[index]?.toLowerCase() === name) {
        values.push(...rawHeaders.splice(index, 2).slice(1))
        index -= 2
      }
    delete headers[name]
    return values
  }

  #isPeer(address: string | undefined): boolean {
    const bare = address?.replace(/%.*$/, '') ?? ''
    const family = isIP(bare)
    return family !== 0 && this.#peers.check(bare, family === 4 ? 'ipv4' : 'ipv6')
  }
}

/** What is wrong with an entry of `from`; undefined if it is an address or a network. */
export const peerError = (entry: string): string | undefined => {
  const [address = '', bits, ...more] = entry.split('/')
  const family = isIP(address)
  if (family === 0 || more.length > 0) return 'expected an address as 10.0.0.5 or fd00::5, or a network as 10.1.0.0/16'
  const most = family === 4 ? 32 : 128
  if (bits !== undefined && (!/^\d{1,3}$/.test(bits) || Number(bits) > most))
    return `expected 0 to ${most} bits after the slash`
  return undefined
}

const peersOf = (entries: readonly string[]): BlockList => {
  const peers = new BlockList()
  for (const entry of entries) {
    const error = peerError(entry)
    if (error !== undefined) throw new TypeError(`server.auth_proxy.from: ${entry}: ${error}`)
    const [address = '', bits] = entry.split('/')
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
    if (bits === undefined) peers.addAddress(address, family)
    else peers.addSubnet(address, Number(bits), family)
  }
  return peers
}

/** The entry of a name, else that of `default`, else nothing. */
const entryOf = <T>(entries: Readonly<Record<string, readonly T[]>>, name: string): readonly T[] => {
  if (Object.hasOwn(entries, name)) return entries[name] ?? []
  return Object.hasOwn(entries, 'default') ? (entries.default ?? []) : []
}
