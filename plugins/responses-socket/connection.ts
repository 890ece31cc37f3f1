import type { Gateway } from 'guard-gateway/core'
import type { SocketUpgrade } from '#lib/http'
import type { MessageSocket, SocketUpstream } from '#lib/upstream-client'
import type { CreateClient } from './create-client.ts'
import { Lanes } from './lanes.ts'
import { SocketRequests } from './requests.ts'
import type { ResponseForwards } from './response-forwards.ts'
import { readUpstreamEvent, type UpstreamEvent } from './upstream-event.ts'

/** More than this may not wait for one side: the other is not read meanwhile. */
const MAX_WAITING = 8 * 1024 * 1024
/** How long a client may take nothing of what waits for it. */
const STALL_MS = 60_000
const LOST = 1006
const NO_CODE = 1005
const GOING_AWAY = 1001
const UNSUPPORTED_DATA = 1003
const SERVICE_RESTART = 1012

/** What a connection consists of. */
export interface ConnectionParts {
  readonly gateway: Gateway
  readonly upgrade: SocketUpgrade
  readonly chosen: SocketUpstream
  readonly client: MessageSocket
  readonly upstream: MessageSocket
  readonly forwards: ResponseForwards
  /** Both sides are closed. */
  readonly over: (connection: SocketConnection) => void
}

/** A client's WebSocket and the upstream's, message by message, and how each ends when the other does. */
export class SocketConnection {
  readonly lanes = new Lanes()
  readonly #parts: ConnectionParts
  readonly #pump: UpstreamPump
  readonly #requests: SocketRequests
  #isClientClosed = false
  #isUpstreamClosed = false
  /** The close code that both get once nothing is under way. */
  #leaving: number | undefined
  readonly #clientLife: SignsOfLife
  readonly #upstreamLife: SignsOfLife
  #isUpstreamPaused = false
  #isClientPaused = false
  #isUpstreamFull = false
  /** Messages of the client wait to be judged. */
  #isQueueFull = false
  #idle: NodeJS.Timeout | undefined

  constructor(parts: ConnectionParts) {
    this.#parts = parts
    this.#clientLife = new SignsOfLife(parts.client)
    this.#upstreamLife = new SignsOfLife(parts.upstream)
    this.#requests = new SocketRequests({ ...parts, connection: this })
    this.#pump = new UpstreamPump({
      lanes: this.lanes,
      send: (message, isText) => this.send(message, isText),
      unasked: (event, message) => this.#requests.unasked(event, message),
      answered: () => this.settle(),
    })
  }

  /** Begins to read both sides. */
  start(): void {
    const { client, upstream } = this.#parts
    client.listen({
      message: (bytes, isText) => this.#fromClient(bytes, isText),
      taken: () => this.#clientTook(),
      closed: (code, reason) => this.#clientClosed(code, reason),
    })
    upstream.listen({
      message: (bytes, isText) => this.#fromUpstream(bytes, isText),
      taken: () => this.#upstreamTook(),
      closed: (code, reason) => void this.#upstreamClosed(code, reason),
    })
  }

  /** To the client. */
  send(message: Buffer, isText = true): void {
    if (this.#isClientClosed) return
    const { client, upstream } = this.#parts
    client.send(message, isText)
    if (this.#isUpstreamPaused || client.waiting <= MAX_WAITING) return
    this.#isUpstreamPaused = true
    client.limitStall(STALL_MS)
    upstream.pause()
  }

  /** To the upstream; false: it is closed. */
  sendUp(message: Buffer): boolean {
    if (this.#isUpstreamClosed) return false
    const { upstream } = this.#parts
    upstream.send(message)
    if (upstream.waiting > MAX_WAITING) this.#holdClient({ isUpstreamFull: true })
    this.#watchIdle()
    return true
  }

  get isClientClosed(): boolean {
    return this.#isClientClosed
  }

  /** No new request is taken: the connection is about to end. */
  get isLeaving(): boolean {
    return this.#leaving !== undefined || this.#isClientClosed || this.#isUpstreamClosed
  }

  /** Ends the connection once all that is under way has ended. The first code holds. */
  leave(code: number): void {
    this.#leaving ??= code
    this.settle()
  }

  /** Ends the connection now. */
  close(code: number): void {
    this.#leaving ??= code
    const { client, upstream } = this.#parts
    if (!this.#isClientClosed) client.close(code)
    if (!this.#isUpstreamClosed) upstream.close(GOING_AWAY)
  }

  /** A request may have ended. */
  settle(): void {
    this.#watchIdle()
    if (this.#requests.open.size > 0 || !this.#pump.isIdle) return
    if (this.#leaving !== undefined && !this.#isClientClosed && !this.#isUpstreamClosed) this.close(this.#leaving)
    else if (this.#isClientClosed && !this.#isUpstreamClosed) this.#parts.upstream.close(GOING_AWAY)
  }

  /** Comes every 30 s: asks both sides for a sign of life, and cuts off the one that gave none to the last two. */
  beat(): void {
    if (!this.#parts.chosen.isCurrent()) this.leave(SERVICE_RESTART)
    this.#requests.resume()
    if (!this.#isClientPaused) this.#clientLife.ask()
    if (!this.#isUpstreamPaused) this.#upstreamLife.ask()
  }

  destroy(): void {
    for (const client of this.#requests.open) client.interrupt()
    this.#parts.client.destroy()
    this.#parts.upstream.destroy()
  }

  #fromClient(bytes: Buffer, isText: boolean): void {
    if (isText) this.#requests.push(bytes)
    else this.close(UNSUPPORTED_DATA)
  }

  /** So many bytes of the client's messages wait to be judged. */
  queued(bytes: number): void {
    this.#holdClient({ isQueueFull: bytes > MAX_WAITING })
  }

  #fromUpstream(bytes: Buffer, isText: boolean): void {
    this.#idle?.refresh()
    this.#pump.push(bytes, isText)
    if (this.#pump.held > MAX_WAITING && !this.#isUpstreamPaused) {
      this.#isUpstreamPaused = true
      this.#parts.upstream.pause()
      void this.#pump.idle().then(() => this.#clientTook())
    }
  }

  #clientTook(): void {
    this.#clientLife.note()
    const { client, upstream } = this.#parts
    if (!this.#isUpstreamPaused || client.waiting > MAX_WAITING / 2 || !this.#pump.isIdle) return
    this.#isUpstreamPaused = false
    client.limitStall(0)
    this.#idle?.refresh()
    upstream.resume()
  }

  #upstreamTook(): void {
    this.#upstreamLife.note()
    if (this.#isUpstreamFull && this.#parts.upstream.waiting <= MAX_WAITING / 2)
      this.#holdClient({ isUpstreamFull: false })
  }

  /** The client is not read while either is so. */
  #holdClient({ isUpstreamFull = this.#isUpstreamFull, isQueueFull = this.#isQueueFull }): void {
    this.#isUpstreamFull = isUpstreamFull
    this.#isQueueFull = isQueueFull
    const isHeld = isUpstreamFull || isQueueFull
    if (isHeld === this.#isClientPaused) return
    this.#isClientPaused = isHeld
    if (isHeld) this.#parts.client.pause()
    else this.#parts.client.resume()
  }

  /** What is under way ends as if its client had left, which stops the bill; or the upstream is read to the end. */
  #clientClosed(code: number, reason: Buffer): void {
    this.#isClientClosed = true
    const { upstream, chosen } = this.#parts
    for (const client of this.#requests.open) client.leave()
    const reads = chosen.on_disconnect === 'drain' && this.lanes.size > 0
    if (reads) upstream.resume()
    else if (code === LOST || code === NO_CODE) upstream.close(GOING_AWAY)
    else upstream.close(code, reason)
    this.#overIfClosed()
  }

  async #upstreamClosed(code: number, reason: Buffer): Promise<void> {
    clearTimeout(this.#idle)
    // what has come before is passed on first
    await this.#pump.idle()
    this.#isUpstreamClosed = true
    const open = [...this.#requests.open]
    for (const client of open) client.body.finish('cut')
    await Promise.all(open.map(({ ended }) => ended))
    const { client } = this.#parts
    if (!this.#isClientClosed) {
      if (code === LOST) client.destroy()
      else if (code === NO_CODE) client.close()
      else client.close(code, reason)
    }
    this.#overIfClosed()
  }

  #overIfClosed(): void {
    if (!this.#isClientClosed || !this.#isUpstreamClosed) return
    clearTimeout(this.#idle)
    this.#parts.over(this)
  }

  /** While a response is under way, the upstream may be silent for `idle_ms`. */
  #watchIdle(): void {
    const { chosen, upstream } = this.#parts
    if (this.lanes.size === 0) {
      clearTimeout(this.#idle)
      this.#idle = undefined
    } else if (chosen.idle_ms > 0) {
      this.#idle ??= setTimeout(() => {
        if (!this.#isUpstreamPaused) upstream.destroy()
      }, chosen.idle_ms)
    }
  }
}

/** The connection as its messages from the upstream need it. */
interface PumpTarget {
  readonly lanes: Lanes
  /** To the client. */
  send(message: Buffer, isText?: boolean): void
  /** Opens a record for a response that no request accounts for. */
  unasked(event: UpstreamEvent, message: Buffer): CreateClient
  /** A request has ended, and its last message was sent. */
  answered(): void
}

/**
 * Passes on what an upstream sends, in order and as it is, and shows each message to the request that it belongs to.
 * The message that ends a response waits until its record is safe, and what comes after it waits behind it.
 */
class UpstreamPump {
  readonly #target: PumpTarget
  readonly #waiting: { readonly message: Buffer; readonly isText: boolean }[] = []
  #isHeld = false
  #whenIdle: (() => void)[] = []
  /** Bytes that wait. */
  held = 0

  constructor(target: PumpTarget) {
    this.#target = target
  }

  push(message: Buffer, isText: boolean): void {
    if (this.#isHeld) {
      this.#waiting.push({ message, isText })
      this.held += message.length
    } else this.#take(message, isText)
  }

  get isIdle(): boolean {
    return !this.#isHeld
  }

  /** Resolves when nothing waits. */
  idle(): Promise<void> {
    return this.isIdle ? Promise.resolve() : new Promise((resolve) => this.#whenIdle.push(resolve))
  }

  #take(message: Buffer, isText: boolean): void {
    const event = isText ? readUpstreamEvent(message) : undefined
    const owner = event === undefined ? undefined : this.#ownerOf(event, message)
    if (event === undefined || owner === undefined) this.#target.send(message, isText)
    else if (event.kind === 'terminal' || event.kind === 'error') this.#end(owner, event, message)
    else this.#pass(owner, message)
  }

  #ownerOf(event: UpstreamEvent, message: Buffer): CreateClient | undefined {
    const { lanes, unasked } = this.#target
    const owner = lanes.ownerOf(event)
    if (event.kind !== 'created') return owner
    const begun = owner ?? unasked(event, message)
    lanes.began(begun, event.response_id)
    return begun
  }

  #pass(owner: CreateClient, message: Buffer): void {
    owner.body.push(message)
    if (owner.isMuted) return
    if (owner.body.isDestroyed && !owner.gone) {
      // a listener has ended the response within this message, which goes out with the end
      owner.isMuted = true
      this.#hold(owner, () => {})
    } else this.#target.send(message)
  }

  #end(owner: CreateClient, event: UpstreamEvent, message: Buffer): void {
    if (event.kind === 'terminal' && owner.response_id === undefined) owner.response_id = event.response_id
    if (owner.reply !== undefined && event.status !== undefined) owner.reply.status = event.status
    owner.body.push(message)
    if (owner.body.isDestroyed && !owner.gone) owner.isMuted = true
    owner.body.finish('end')
    this.#hold(owner, () => {
      this.#target.lanes.remove(owner, event.steered)
      if (!owner.isMuted) this.#target.send(message)
      this.#target.answered()
    })
  }

  #hold(owner: CreateClient, then: () => void): void {
    this.#isHeld = true
    void owner.ended.then(() => {
      then()
      this.#isHeld = false
      this.#goOn()
    })
  }

  #goOn(): void {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      this.held -= next.message.length
      this.#take(next.message, next.isText)
      if (this.#isHeld) return
    }
    this.#tellIdle()
  }

  #tellIdle(): void {
    const waiting = this.#whenIdle
    this.#whenIdle = []
    for (const resolve of waiting) resolve()
    this.#target.answered()
  }
}

const MAX_SILENT = 2

/** Finds out whether the other end of a WebSocket is still there. */
export class SignsOfLife {
  readonly #socket: MessageSocket
  #received = -1
  #silent = 0

  constructor(socket: MessageSocket) {
    this.#socket = socket
  }

  /** It took something. */
  note(): void {
    this.#silent = 0
  }

  /** Sends a ping; cuts an end off that was silent after two of them. */
  ask(): void {
    const { received } = this.#socket
    this.#silent = received === this.#received ? this.#silent + 1 : 0
    this.#received = received
    if (this.#silent >= MAX_SILENT) this.#socket.destroy()
    else this.#socket.ping()
  }
}
