import { type Gateway, GuardError, type ProxyRequest } from 'guard-gateway/core'
import { clientCredentials, outboundHeaders, tapsOutbound } from '#lib/http'
import type { SocketUpstream, SocketUpstreams } from '#lib/upstream-client'
import { statusesOfKeys } from './availability.ts'
import { withModel } from './body.ts'
import { coolDown } from './cool-down.ts'
import { clientResponseHeaders, type HeaderRules, upstreamRequestHeaders } from './headers.ts'
import type { LiveUpstreams } from './live-upstreams.ts'
import { missingLogin } from './login.ts'
import { projectOf, type Upstreams } from './routing.ts'
import { guardedPath, type Upstream } from './upstream.ts'
import { noReply } from './upstream-attempt.ts'

/** Answers that mean that an upstream takes no WebSocket at all. */
const LACKING: ReadonlySet<number> = new Set([404, 405, 426, 501])
/** How long an upstream that takes no WebSocket is not asked again, in milliseconds. */
const LACK_MS = 600_000

/** The upstreams that WebSockets lead to. */
export class LiveSocketUpstreams implements SocketUpstreams {
  readonly #gateway: Gateway
  readonly #live: LiveUpstreams
  /** Upstreams that answered that they take no WebSocket, and until when that is believed; of this configuration. */
  readonly #lacking = new Map<string, number>()
  #of: Upstreams | undefined

  constructor(gateway: Gateway, live: LiveUpstreams) {
    this.#gateway = gateway
    this.#live = live
  }

  async choose(style: string, request: ProxyRequest): Promise<SocketUpstream | undefined> {
    const { current } = this.#live
    const project = await projectOf(this.#gateway, current, request)
    if (this.#of !== current) this.#lacking.clear()
    this.#of = current
    const speaking = current.speaking([style], project)
    const upstream =
      speaking.find(({ websocket }) => websocket === 'on') ??
      speaking.find(({ websocket }) => websocket === 'auto' && speaking.length === 1)
    if (upstream === undefined || this.#isLacking(upstream)) return undefined
    return new ChosenUpstream(this.#gateway, this.#live, upstream, style, () => this.#lacks(upstream))
  }

  #isLacking({ name }: Upstream): boolean {
    return this.#gateway.clock.tick() < (this.#lacking.get(name) ?? 0)
  }

  #lacks({ name }: Upstream): void {
    this.#lacking.set(name, this.#gateway.clock.tick() + LACK_MS)
  }
}

class ChosenUpstream implements SocketUpstream {
  readonly #gateway: Gateway
  readonly #live: LiveUpstreams
  readonly #upstream: Upstream
  readonly #style: string
  readonly #lacks: () => void
  /** What the handshake was sent by. */
  #rules: HeaderRules | undefined

  constructor(gateway: Gateway, live: LiveUpstreams, upstream: Upstream, style: string, lacks: () => void) {
    this.#gateway = gateway
    this.#live = live
    this.#upstream = upstream
    this.#style = style
    this.#lacks = lacks
  }

  get name() {
    return this.#upstream.name
  }

  get address() {
    return this.#upstream.route
  }

  get idle_ms() {
    return this.#upstream.timeouts.idle_ms
  }

  get on_disconnect() {
    return this.#upstream.on_disconnect
  }

  path(path: string, query: string): string {
    return guardedPath(this.#upstream, this.#style, path, query)
  }

  async requestHeaders(request: ProxyRequest, login: readonly string[]): Promise<readonly string[]> {
    const { name, origin, availability } = this.#upstream
    const rules = availability.keys?.first(this.#gateway.clock.tick()) ?? this.#upstream.rules
    this.#rules = rules
    clientCredentials.set(request, login)
    const refused = missingLogin(this.#gateway, this.#upstream, request)
    if (refused !== undefined) throw refused
    const outbound = { raw: withoutHandshake(request.raw_headers), login, style: this.#style, length: undefined }
    const headers = upstreamRequestHeaders(rules, outbound, this.#gateway.secrets)
    if (!tapsOutbound(this.#gateway)) return headers
    const url = origin.replace(/^http/, 'ws') + this.path(request.path, request.query)
    return outboundHeaders(this.#gateway, { upstream: name, method: 'GET', url, headers, body: undefined }, request)
  }

  responseHeaders(raw: readonly string[]): string[] {
    return withoutHandshake(clientResponseHeaders(raw, this.#gateway.secrets, false))
  }

  checkModel(model: string): void {
    if (this.#upstream.serves(model)) return
    const { name } = this.#upstream
    throw new GuardError(
      'NO_UPSTREAM',
      `This WebSocket leads to upstream "${name}", which does not serve model "${model.slice(0, 100)}". Ask for it by HTTP, or choose another model.`,
      { known: this.#live.current.all.map((upstream) => upstream.name) },
    )
  }

  bodyFor(bytes: Buffer, model: string): Buffer {
    const mapped = this.#upstream.model_map.get(model)
    return mapped === undefined ? bytes : withModel(bytes, mapped)
  }

  refused(status: number, headers: readonly string[]): boolean {
    const { keys } = this.#upstream.availability
    const { clock } = this.#gateway
    if (keys !== undefined && this.#rules !== undefined && statusesOfKeys.has(status))
      keys.rest(this.#rules, clock.tick() + coolDown(status, headers, clock.now()))
    if (!LACKING.has(status)) return false
    this.#lacks()
    return true
  }

  isCurrent(): boolean {
    return this.#live.current.get(this.name) === this.#upstream
  }

  failure(error: NodeJS.ErrnoException): GuardError {
    if (error.code === 'HANDSHAKE_TIMEOUT')
      return new GuardError(
        'UPSTREAM_TIMEOUT',
        `Upstream "${this.name}" did not answer in time: ${error.message}. Try again.`,
        { cause: error },
      )
    return noReply(this.#upstream, error)
  }
}

/** Headers without those of a handshake, which each hop has of its own, and without the web origin, which was judged here. */
const withoutHandshake = (raw: readonly string[]): string[] => {
  const forwarded: string[] = []
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const lower = raw[index]?.toLowerCase() ?? ''
    if (!lower.startsWith('sec-websocket-') && lower !== 'origin')
      forwarded.push(raw[index] ?? '', raw[index + 1] ?? '')
  }
  return forwarded
}
