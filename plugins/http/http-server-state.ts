import type { IncomingMessage, ServerResponse } from 'node:http'
import { type ApiStyle, type Gateway, GuardError, type Identity } from 'guard-gateway/core'
import { serverDefaults } from '#lib/config-defaults'
import { anyGlob } from '#lib/glob'
import type { InFlightClient } from '#lib/http'
import { AuthProxy } from './admission/auth-proxy.ts'
import { hostCheck, isLoopback } from './admission/hosts.ts'
import { type OriginCheck, originCheck } from './admission/origins.ts'
import { statusOverride } from './block-status.ts'
import type { HttpClient } from './connections/client.ts'
import { Log, type LogTarget } from './log.ts'
import { ModelPaths } from './models/model-paths.ts'
import type { HttpOptions, ServerOptions } from './options.ts'

/** One request on a model path and its response. */
export interface Exchange {
  readonly state: HttpServerState
  /** `guardreq_…` */
  readonly id: string
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Whose path it is; undefined where no style declares it. */
  readonly style?: ApiStyle | undefined
  /** The gateway does not read the body, so any media type will do. */
  readonly anyType?: boolean
}

/** The identity of the keys that a request showed, and how many there were. */
export interface ShownKey {
  readonly identity: Identity
  readonly count: number
}

/** Serves one admitted request; what it throws is answered. */
export type Serve = (exchange: Exchange, client: HttpClient, shown: ShownKey) => Promise<void>

/**
 * The model requests in flight. An array instead of a Set: a Set with constant additions and deletions leaves old tables
 * that keep every finished exchange alive until the next full garbage collection.
 */
class InFlightRequests {
  readonly #clients: InFlightClient[] = []

  get size(): number {
    return this.#clients.length
  }

  add(client: InFlightClient): void {
    client.index = this.#clients.length
    this.#clients.push(client)
  }

  remove(client: InFlightClient): void {
    const last = this.#clients.pop()
    if (last === undefined || last === client) return
    last.index = client.index
    this.#clients[client.index] = last
  }

  /** All of them at this moment. */
  all(): readonly InFlightClient[] {
    return [...this.#clients]
  }
}

/** How long a client should wait before it tries again, in seconds. */
const RETRY_AFTER = '1'

/** The state of one gateway's HTTP server: its settings, and the requests in flight. */
export class HttpServerState {
  readonly gateway: Gateway
  readonly server: ServerOptions
  /** The configuration, as it is now, lists this path to be forwarded unguarded. */
  readonly passesThrough: (path: string) => boolean
  readonly checkHostHeader: (host: string | undefined) => void
  readonly checkOrigin: OriginCheck
  /** Undefined where no proxy in front is trusted. */
  readonly authProxy: AuthProxy | undefined
  /** The paths that API styles declare. */
  readonly modelPaths = new ModelPaths<Serve>()
  /** Model requests in flight. */
  readonly inFlight = new InFlightRequests()
  /** Large bodies are parsed one at a time. */
  readonly bodyReads = new SerialQueue()
  /** Bytes of request bodies in memory. */
  buffered = 0
  draining = false
  /** A plugin has added hooks to the framework's requests. */
  hasRequestHooks = false
  /** The server is its own: a host application has probes itself. */
  isAlone = false
  /** Other machines may reach the listener, so who administers must show a key. */
  isBeyondLoopback: boolean
  /** The port that is listened on. */
  port: number
  log: Log | undefined
  /** Ends the requests in flight. */
  stop: () => Promise<void> = () => drain(this)
  #drained: Promise<void> | undefined
  /** The status that a blocked client with this user agent gets instead of 409 or 429. */
  readonly blockStatus: (userAgent: string, status: number) => number

  constructor(gateway: Gateway, options: HttpOptions) {
    this.gateway = gateway
    this.server = { ...serverDefaults, ...options.server }
    this.port = this.server.port
    this.authProxy = this.server.auth_proxy.header === '' ? undefined : new AuthProxy(this.server.auth_proxy)
    this.isBeyondLoopback = !isLoopback(this.server.host)
    this.passesThrough = passthroughOf(options)
    this.checkHostHeader = hostCheck(this.server.host, [
      ...this.server.allowed_hosts,
      ...(options.mcp?.allowed_hosts ?? []),
    ])
    this.checkOrigin = originCheck({
      own: this.server.allowed_origins,
      hosts: this.server.allowed_hosts,
      mcp: options.mcp?.allowed_origins,
      port: () => this.port,
      scheme: this.scheme,
    })
    this.blockStatus = statusOverride(this.server.block_status_override)
  }

  /** The scheme of its own addresses. */
  get scheme(): 'http' | 'https' {
    return this.server.tls.cert === '' ? 'http' : 'https'
  }

  /** From now on events are logged. */
  startLog(target: LogTarget): void {
    this.log = new Log(target, () => this.gateway.clock.now())
  }

  /** Ends the requests in flight; resolves when there is none. */
  drained(): Promise<void> {
    this.#drained ??= this.stop()
    return this.#drained
  }

  /** Refuses a model request while shutting down or overloaded. Throws SHUTTING_DOWN, OVERLOADED. */
  checkCapacity(bytes: number): void {
    if (this.draining)
      throw new GuardError('SHUTTING_DOWN', undefined, { headers: { connection: 'close', 'retry-after': RETRY_AFTER } })
    if (
      this.inFlight.size >= this.server.max_in_flight ||
      (this.buffered > 0 && this.buffered + bytes > this.server.buffer_bytes)
    ) {
      throw new GuardError('OVERLOADED', undefined, { headers: { 'retry-after': RETRY_AFTER } })
    }
  }

  /** Counts bytes of a client's body as held. */
  hold(client: InFlightClient, bytes: number): void {
    client.held += bytes
    this.buffered += bytes
  }

  /** Counts bytes that no content-length announced. Throws OVERLOADED if all bodies together exceed the buffer; a single one may. */
  raiseHold(client: InFlightClient, bytes: number): void {
    this.hold(client, bytes)
    if (this.buffered <= this.server.buffer_bytes || this.buffered === client.held) return
    throw new GuardError('OVERLOADED', undefined, { headers: { connection: 'close', 'retry-after': RETRY_AFTER } })
  }

  /** Nothing of a client's body is held any more. */
  release(client: InFlightClient): void {
    this.buffered -= client.held
    client.held = 0
  }
}

/** Reads the list on each call: a configuration reload may replace it. */
const passthroughOf = (options: HttpOptions): ((path: string) => boolean) => {
  let list = options.passthrough
  let matches = anyGlob(list ?? [])
  return (path) => {
    if (options.passthrough !== list) {
      list = options.passthrough
      matches = anyGlob(list ?? [])
    }
    return matches(path)
  }
}

declare module 'guard-gateway/core' {
  interface Services {
    http: HttpServerState
  }
}

/** Provides the service `http` of a gateway; called once, when the plugin is applied. */
export const provideServerState = (gateway: Gateway, options: HttpOptions): HttpServerState => {
  const state = new HttpServerState(gateway, options)
  gateway.service('http').provide(state)
  return state
}

/** The HTTP server state of a gateway. Throws MISSING_PLUGIN if it has none. */
export const serverStateOf = (gateway: Gateway): HttpServerState => gateway.service('http').need()

/** How long interrupted requests may take to be recorded. */
const SETTLE_MS = 2_000
const POLL_MS = 10

/** Drains a gateway: it takes no new request, lets open replies end within `shutdown_grace_seconds`, then interrupts them. `servers`: its own, if it has any. */
export const drain = async (state: HttpServerState, servers?: { stop(): void }): Promise<void> => {
  state.draining = true
  servers?.stop()
  const grace = state.server.shutdown_grace_seconds * 1000
  const others = within(grace, state.gateway.hooks.drain.promise())
  if (!(await idleWithin(state, grace))) {
    for (const client of state.inFlight.all()) client.interrupt()
    await idleWithin(state, SETTLE_MS)
  }
  await others
  state.log?.flush()
}

/** Waits for work, at most `limit` milliseconds. */
const within = async (limit: number, work: Promise<unknown>): Promise<void> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limit)
  })
  await Promise.race([work, late])
  clearTimeout(timer)
}

/** Waits until no request is in flight, at most `limit` milliseconds; false if some are left. */
const idleWithin = (state: HttpServerState, limit: number): Promise<boolean> =>
  new Promise((resolve) => {
    if (state.inFlight.size === 0) return resolve(true)
    const end = performance.now() + limit
    const look = setInterval(() => {
      if (state.inFlight.size > 0 && performance.now() < end) return
      clearInterval(look)
      resolve(state.inFlight.size === 0)
    }, POLL_MS)
  })

/** Starts long work one piece at a time, each in its own turn of the event loop, so that short requests run in between. */
class SerialQueue {
  readonly #waiting: (() => void)[] = []
  #busy = false

  /** Resolves when the caller may start; undefined: at once. */
  turn(): Promise<void> | undefined {
    if (this.#busy) return new Promise((resolve) => this.#waiting.push(resolve))
    this.#take()
    return undefined
  }

  #take(): void {
    this.#busy = true
    setImmediate(() => {
      const next = this.#waiting.shift()
      if (next === undefined) this.#busy = false
      else {
        this.#take()
        next()
      }
    })
  }
}
