import {
  type ApiStyle,
  type Call,
  errorBody,
  type Gateway,
  GuardError,
  handle,
  isFault,
  type Reply,
  statusOf,
} from 'guard-gateway/core'
import type { SocketUpgrade } from '#lib/http'
import { newId } from '#lib/ids'
import { type JsonObject, jsonObjectOf, listOf, nonEmptyText } from '#lib/json'
import { memberValue } from '#lib/request-reader'
import type { SocketUpstream } from '#lib/upstream-client'
import { type ClientFrame, type CreateFrame, isCreate, readClientFrame } from './client-frame.ts'
import { CreateClient } from './create-client.ts'
import { socketErrors } from './error-codes.ts'
import { errorEvent } from './error-event.ts'
import { HeldFrames, isSteer } from './held-frames.ts'
import type { KnownResponse, Lanes } from './lanes.ts'
import type { ResponseForwards } from './response-forwards.ts'
import type { UpstreamEvent } from './upstream-event.ts'

const STYLE = 'responses'
const MAX_OPEN = 64
const POLICY_VIOLATION = 1008
const SERVICE_RESTART = 1012
/** The bytes of a name of a lane, which is recorded. */
const LANE = /^[\w.-]{1,256}$/

/** The connection as its requests need it. */
interface RequestsConnection {
  readonly lanes: Lanes
  readonly isClientClosed: boolean
  /** No new request is taken. */
  readonly isLeaving: boolean
  /** To the client. */
  send(message: Buffer): void
  /** To the upstream; false: it is closed. */
  sendUp(message: Buffer): boolean
  /** So many bytes of the client's messages wait to be judged. */
  queued(bytes: number): void
  /** A request may have ended. */
  settle(): void
  /** Ends it once all that is under way has ended. */
  leave(code: number): void
  /** Ends it now. */
  close(code: number): void
}

/** What requests of a connection consist of. */
interface RequestsParts {
  readonly gateway: Gateway
  readonly upgrade: SocketUpgrade
  readonly chosen: SocketUpstream
  readonly forwards: ResponseForwards
  readonly connection: RequestsConnection
}

/** Takes the messages of one client, one after another: each request for a response is one guarded request. */
export class SocketRequests {
  /** Those under way. */
  readonly open = new Set<CreateClient>()
  readonly #parts: RequestsParts
  readonly #waiting: Buffer[] = []
  readonly #held: HeldFrames
  /** Bytes of those that wait. */
  #queued = 0
  #isBusy = false

  constructor(parts: RequestsParts) {
    this.#parts = parts
    this.#held = new HeldFrames((bytes) => parts.connection.sendUp(bytes))
  }

  push(bytes: Buffer): void {
    this.#waiting.push(bytes)
    this.#queued += bytes.length
    this.#parts.connection.queued(this.#queued)
    if (!this.#isBusy) void this.#takeAll()
  }

  /** Lets go what was held back while its session was paused, if it is not any more. */
  resume(): void {
    this.#held.release()
  }

  /** Opens a record for a response that runs without a request: what it used is to be seen. */
  unasked(event: UpstreamEvent, message: Buffer): CreateClient {
    const { connection, upgrade, forwards } = this.#parts
    const { body, stream_id } = successorOf(event, message, connection.lanes, this.#held)
    const client = this.#opened(stream_id)
    client.forwarded()
    connection.lanes.add(client)
    const reply = this.#replyOf(client)
    upgrade.beginUnasked(client)
    void this.#run(client, async () => {
      const call = await upgrade.callOf({
        style: this.#style,
        body,
        more: { ...laneOf(stream_id), mode_override: 'shadow' },
      })
      forwards.setUnasked(call, () => reply)
      return call
    })
    return client
  }

  async #takeAll(): Promise<void> {
    this.#isBusy = true
    for (let bytes = this.#waiting.shift(); bytes !== undefined; bytes = this.#waiting.shift()) {
      try {
        await this.#take(bytes)
      } catch (error) {
        this.#refuse(error, undefined, undefined)
      }
      this.#queued -= bytes.length
      this.#parts.connection.queued(this.#queued)
    }
    this.#isBusy = false
  }

  /** Rejects with INVALID_BODY for a message that cannot be used. */
  async #take(bytes: Buffer): Promise<void> {
    const { connection, chosen } = this.#parts
    if (!chosen.isCurrent()) connection.leave(SERVICE_RESTART)
    // whoever is left without an answer sends it again on the next connection
    if (connection.isLeaving && !this.#parts.upgrade.draining) return
    this.#held.release()
    const frame = readClientFrame(bytes)
    if (isCreate(frame)) await this.#create(frame)
    else await this.#pass(frame)
  }

  async #create(frame: CreateFrame): Promise<void> {
    const { upgrade, chosen, forwards } = this.#parts
    const client = this.#opened(frame.stream_id)
    void this.#run(client, async () => {
      if (this.open.size > MAX_OPEN)
        throw new GuardError(
          'OVERLOADED',
          `${MAX_OPEN} requests of this connection are under way. Wait for one to end.`,
        )
      const begun = upgrade.begin(client, frame.bytes.length)
      if (begun !== undefined) await begun
      const more = { ...laneOf(frame.stream_id), ...(frame.warmup ? { uncounted: 'warmup' as const } : {}) }
      const call = await upgrade.callOf({ style: this.#style, body: frame.bytes, more })
      forwards.set(call, () => {
        chosen.checkModel(call.envelope.model)
        return this.#forward(client, call)
      })
      return call
    })
    await client.decided
  }

  /** Another message than a request for a response. */
  async #pass(frame: ClientFrame): Promise<void> {
    const { gateway, connection, upgrade } = this.#parts
    const { previous_response_id, objects } = frame
    if (objects.length > 0) await gateway.service('providerObjects').get()?.check(objects, upgrade.proxied.identity)
    const target = previous_response_id === null ? undefined : connection.lanes.response(previous_response_id)
    const spent = isSteer(frame) && target !== undefined ? await spentBudget(gateway, target) : undefined
    if (spent !== undefined) return this.#refuse(spent, target?.stream_id, undefined)
    if (this.#held.take(frame, target?.session ?? undefined)) return
    this.#refuse(
      new GuardError('OVERLOADED', 'Too much waits for a paused session to be resumed.'),
      undefined,
      undefined,
    )
  }

  #opened(stream_id: string | undefined): CreateClient {
    const { connection, upgrade } = this.#parts
    const side = {
      send: (message: Buffer) => connection.send(message),
      blockStatus: (status: number) => upgrade.blockStatus(status),
    }
    const client = new CreateClient(side, stream_id)
    if (connection.isClientClosed) client.leave()
    this.open.add(client)
    return client
  }

  async #run(client: CreateClient, begin: () => Promise<Call>): Promise<void> {
    const { gateway, upgrade, chosen, connection } = this.#parts
    try {
      const call = await begin()
      client.call = call
      call.upstream = chosen.name
      await handle(gateway, call, client)
    } catch (error) {
      this.#refuse(error, client.stream_id, client.call?.id)
    } finally {
      if (client.call?.session) this.#held.last = client.call.session
      upgrade.end(client)
      client.over()
      this.open.delete(client)
      // else it is in its lane until the upstream has ended it
      if (client.body.isDestroyed && client.gone) connection.lanes.remove(client)
      connection.settle()
    }
  }

  #forward(client: CreateClient, call: Call): Reply {
    const { chosen, connection } = this.#parts
    if (client.gone) throw new GuardError('UPSTREAM_UNREACHABLE')
    const reply = this.#replyOf(client)
    if (call.session !== null) this.#held.last = call.session
    connection.lanes.add(client)
    if (!connection.sendUp(chosen.bodyFor(call.steered_body ?? call.body, call.envelope.model)))
      client.body.finish('cut')
    client.forwarded()
    return reply
  }

  #replyOf(client: CreateClient): Reply {
    const { chosen } = this.#parts
    const attempt = { upstream: chosen.name, address: chosen.address.hostname, status: 200, error: null }
    client.reply = {
      status: 200,
      headers: ['content-type', 'text/event-stream'],
      body: client.body,
      upstream: chosen.name,
      attempts: [attempt],
      upstream_request_id: null,
      on_disconnect: chosen.on_disconnect,
    }
    return client.reply
  }

  /** Answers an error of ours; nothing was decided then. */
  #refuse(thrown: unknown, stream_id: string | undefined, id: string | undefined): void {
    const { gateway, connection, upgrade } = this.#parts
    if (isFault(thrown)) gateway.fault(thrown, 'responses-socket')
    const request_id = id ?? newId('guardreq_', gateway.clock.now())
    const further = thrown instanceof GuardError ? Object.entries(thrown.place.headers ?? {}).flat() : []
    const isBlock = thrown instanceof GuardError && thrown.place.block !== undefined
    const status = isBlock ? upgrade.blockStatus(statusOf(thrown)) : statusOf(thrown)
    const body = this.#style.refusal(errorBody(thrown), request_id, status)
    connection.send(errorEvent({ status, body, headers: ['x-request-id', request_id, ...further], stream_id }))
    if (thrown instanceof GuardError && thrown.code === 'UNAUTHORIZED') connection.close(POLICY_VIOLATION)
  }

  get #style(): ApiStyle {
    return this.#parts.gateway.apiStyles.need(STYLE)
  }
}

const laneOf = (stream_id: string | undefined): { stream_id?: string } =>
  stream_id !== undefined && LANE.test(stream_id) ? { stream_id } : {}

/**
 * Why user input for a running response is not passed on: a budget that blocks is used up, and the response that follows would spend more.
 * Undefined where none is, and where rules only report.
 */
const spentBudget = async (gateway: Gateway, { mode, session }: KnownResponse): Promise<GuardError | undefined> => {
  if (mode !== 'enforce' || !session) return undefined
  const budgets = (await gateway.service('rules').get()?.budgets({ session })) ?? []
  const spent = budgets.find(({ action, left }) => action === 'block' && left <= 0)
  if (spent === undefined) return undefined
  const { rule_id, limit, unit } = spent
  return new GuardError(
    socketErrors.STEER_BUDGET,
    `Guard blocked this message: the budget of ${limit} ${unit} is used up. Raise it, or begin another session.`,
    { block: { session_id: session.row.id, rule_id }, headers: { 'x-should-retry': 'false' } },
  )
}

/** A response that nobody has asked for by a request, as the request that it would have been. */
interface Successor {
  readonly body: Buffer
  readonly stream_id: string | undefined
}

/** The request continues the response that the upstream names, with the input that steered it where some has. */
const successorOf = (event: UpstreamEvent, message: Buffer, lanes: Lanes, steers: HeldFrames): Successor => {
  const response = responseIn(message)
  const previous_response_id = nonEmptyText(response.previous_response_id)
  const before = previous_response_id === null ? undefined : lanes.response(previous_response_id)
  const steer = previous_response_id === null ? undefined : steers.steerOf(previous_response_id)
  const model = nonEmptyText(response.model) ?? before?.model ?? ''
  const input = steer === undefined ? [] : inputOf(steer)
  const named = previous_response_id === null ? {} : { previous_response_id }
  return {
    body: Buffer.from(JSON.stringify({ type: 'response.create', model, ...named, input })),
    stream_id: event.stream_id ?? before?.stream_id,
  }
}

/** Nothing where a value inside is no JSON. */
const responseIn = (message: Buffer): JsonObject => {
  try {
    return jsonObjectOf(memberValue(message, 'response'))
  } catch {
    return {}
  }
}

const inputOf = (steer: Buffer): unknown => {
  const input = memberValue(steer, 'input')
  return typeof input === 'string' ? input : listOf(input)
}
