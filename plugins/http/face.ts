import { type Gateway, GuardError } from 'guard-gateway/core'
import { glob } from 'guard-gateway/lib/glob'
import { hostJudge } from './admission/hosts.ts'
import { type OriginJudge, originJudge } from './admission/origins.ts'
import { statusOverride } from './block-status.ts'
import type { HttpClient } from './connections/client.ts'
import { drain } from './connections/drain.ts'
import { UnderWay } from './connections/under-way.ts'
import type { Log } from './log.ts'
import { OneByOne } from './models/one-by-one.ts'
import { type HttpOptions, type ServerOptions, serverDefaults } from './options.ts'

/** How long a client should wait before it tries again, in seconds. */
const RETRY_AFTER = '1'

/** The HTTP face of one gateway: its settings, and what is going on. */
export class HttpFace {
  readonly gateway: Gateway
  readonly server: ServerOptions
  /** The configuration, as it is now, lists this path to be forwarded unguarded. */
  readonly passesThrough: (path: string) => boolean
  readonly judgeHost: (host: string | undefined) => void
  readonly judgeOrigin: OriginJudge
  /** Model requests under way. */
  readonly exchanges = new UnderWay()
  /** The reading of large bodies. */
  readonly readings = new OneByOne()
  /** Bytes of request bodies held. */
  buffered = 0
  draining = false
  /** A plugin hooks into the framework's requests. */
  isWatched = false
  /** The port that is listened on. */
  port: number
  log: Log | undefined
  /** Ends what is under way. */
  stop: () => Promise<void> = () => drain(this)
  #drained: Promise<void> | undefined
  /** The status that a blocked client of this kind is told instead of 409 or 429. */
  readonly blockStatus: (userAgent: string, status: number) => number

  constructor(gateway: Gateway, options: HttpOptions) {
    this.gateway = gateway
    this.server = { ...serverDefaults, ...options.server }
    this.port = this.server.port
    this.passesThrough = passthroughOf(options)
    this.judgeHost = hostJudge(this.server.host, [...this.server.allowed_hosts, ...(options.mcp?.allowed_hosts ?? [])])
    this.judgeOrigin = originJudge({
      own: this.server.allowed_origins,
      hosts: this.server.allowed_hosts,
      mcp: options.mcp?.allowed_origins,
      port: () => this.port,
    })
    this.blockStatus = statusOverride(this.server.block_status_override)
  }

  /** Ends what is under way; resolves when nothing is. */
  drained(): Promise<void> {
    this.#drained ??= this.stop()
    return this.#drained
  }

  /** Refuses a model request while shutting down or overloaded. Throws SHUTTING_DOWN, OVERLOADED. */
  checkCapacity(bytes: number): void {
    if (this.draining)
      throw new GuardError('SHUTTING_DOWN', undefined, { headers: { connection: 'close', 'retry-after': RETRY_AFTER } })
    if (
      this.exchanges.size >= this.server.max_in_flight ||
      (this.buffered > 0 && this.buffered + bytes > this.server.buffer_bytes)
    ) {
      throw new GuardError('OVERLOADED', undefined, { headers: { 'retry-after': RETRY_AFTER } })
    }
  }

  /** Counts bytes of a client's body as held. */
  hold(client: HttpClient, bytes: number): void {
    client.held += bytes
    this.buffered += bytes
  }

  /** Counts bytes that nobody announced. Throws OVERLOADED where bodies are more than is held at once; one alone may be. */
  holdMore(client: HttpClient, bytes: number): void {
    this.hold(client, bytes)
    if (this.buffered <= this.server.buffer_bytes || this.buffered === client.held) return
    throw new GuardError('OVERLOADED', undefined, { headers: { connection: 'close', 'retry-after': RETRY_AFTER } })
  }

  /** Nothing of a client's body is held any more. */
  release(client: HttpClient): void {
    this.buffered -= client.held
    client.held = 0
  }
}

/** Judges by the list as it is now: a configuration may change it while the gateway runs. */
const passthroughOf = (options: HttpOptions): ((path: string) => boolean) => {
  let list = options.passthrough
  let globs = (list ?? []).map(glob)
  return (path) => {
    if (options.passthrough !== list) {
      list = options.passthrough
      globs = (list ?? []).map(glob)
    }
    return globs.some((matches) => matches(path))
  }
}

declare module 'guard-gateway/core' {
  interface Services {
    http: HttpFace
  }
}

/** Gives a gateway its HTTP face; done once, when the plugin is applied. */
export const setFace = (gateway: Gateway, options: HttpOptions): HttpFace => {
  const face = new HttpFace(gateway, options)
  gateway.service('http').provide(face)
  return face
}

/** The HTTP face of a gateway. Throws MISSING_PLUGIN if it has none. */
export const faceOf = (gateway: Gateway): HttpFace => gateway.service('http').need()
