import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { McpServer } from '#lib/mcp-transport'
import { isThisMachine } from '#lib/network'
import { terminalLine } from '#lib/text'
import { LoginFault } from './login-fault.ts'

/** How widely an address can be reached. */
const reaches = ['loopback', 'private', 'public'] as const
type Reach = (typeof reaches)[number]

/** Resolves a name to its addresses. */
export type Resolve = (hostname: string) => Promise<readonly string[]>

const resolveName: Resolve = async (hostname) => (await lookup(hostname, { all: true })).map(({ address }) => address)

/** What addresses in metadata are measured by. */
export interface AddressContext {
  /** Of the MCP server. */
  readonly target: URL
  /** Plain http to the host of the server is allowed. */
  readonly insecure: boolean
  /** A proxy resolves names, which cannot be done here then. */
  readonly proxied: boolean
  /** Named in the configuration, and so allowed to be anywhere. */
  readonly trusted?: string | undefined
}

const MAX_CHARS = 2_048
/** No address that is opened in a browser needs other characters, and some of the others mean something to shells. */
const PLAIN = /^[A-Za-z0-9._~:/?@!*+,=&%[\]-]+$/

/** The rules for addresses that servers name: encrypted, and no nearer to this machine than the server is. */
export class AddressRules {
  readonly #context: AddressContext
  readonly #resolve: Resolve
  #reach: Promise<Reach> | undefined

  constructor(context: AddressContext, resolve: Resolve = resolveName) {
    this.#context = context
    this.#resolve = resolve
  }

  /** The address, if it may be asked. `what` names it in the message. Throws LoginFault. */
  async checked(text: unknown, what: string): Promise<URL> {
    const url = typeof text === 'string' && text.length <= MAX_CHARS ? URL.parse(text) : null
    const displayed = displayAddress(text)
    if (url === null || typeof text !== 'string') throw new LoginFault(`${what} is no address: ${displayed}.`)
    if (url.protocol !== 'https:' && !this.#isPlainAllowed(url))
      throw new LoginFault(`${what} is ${displayed}, which is not reached by https: nothing is sent there.`)
    if (url.username !== '' || url.password !== '' || url.hash !== '')
      throw new LoginFault(`${what} holds a user, a password or a fragment: ${displayed}.`)
    if (!PLAIN.test(text)) throw new LoginFault(`${what} holds characters that no such address needs: ${displayed}.`)
    if (this.#context.trusted !== undefined && url.host === URL.parse(this.#context.trusted)?.host) return url
    this.#reach ??= this.#reachOf(this.#context.target)
    const [own, named] = await Promise.all([this.#reach, this.#reachOf(url)])
    if (reaches.indexOf(named) < reaches.indexOf(own))
      throw new LoginFault(
        `${what} is ${displayed}, a ${named} address, and the MCP server has a ${own} one. Nothing is sent there. If it is right, name the authorization server as login.issuer.`,
      )
    return url
  }

  #isPlainAllowed({ protocol, hostname }: URL): boolean {
    const { target, insecure } = this.#context
    return protocol === 'http:' && (isThisMachine(hostname) || (insecure && hostname === target.hostname))
  }

  async #reachOf({ hostname }: URL): Promise<Reach> {
    const host = hostname.replace(/^\[(.*)\]$/, '$1')
    if (isThisMachine(host)) return 'loopback'
    if (isIP(host) > 0) return reachOfAddress(host)
    if (this.#context.proxied) return 'public'
    const found = await this.#resolve(host).catch(() => [])
    const all = await Promise.all(found.map(reachOfAddress))
    return reaches.find((reach) => all.includes(reach)) ?? 'public'
  }
}

const reachOfAddress = async (address: string): Promise<Reach> => {
  // the types of this CommonJS module omit its default export
  const { default: ipaddr } = (await import('ipaddr.js')) as unknown as { default: typeof import('ipaddr.js') }
  const range = ipaddr.process(address).range()
  return range === 'unicast' ? 'public' : range === 'loopback' || range === 'unspecified' ? 'loopback' : 'private'
}

/** An address from outside as a person may read it. */
export const displayAddress = (text: unknown): string =>
  typeof text === 'string' ? JSON.stringify(terminalLine(text.slice(0, 200))) : 'nothing'

/** The rules for addresses in the metadata of a server. */
export const addressRules = ({ target = '', login, proxy = 'none' }: McpServer): AddressRules =>
  new AddressRules({
    target: new URL(target),
    insecure: login?.insecure === true,
    proxied: proxy !== 'none',
    trusted: login?.issuer,
  })
