import type { Gateway } from 'guard-gateway/core'
import { applyEdits, memberIn, setMember, sourceOf, stringIn } from '#lib/json'
import { cancelledKey, errorFrame, type Frame, type FrameFault } from '#lib/json-rpc'
import type { McpReply, PassedHeaders, StreamEvent } from '#lib/mcp-transport'
import { type McpHooks, mcpHooks } from '../hooks.ts'
import type { JudgeCall } from '../judge/judge-call.ts'
import type { JudgeRequest } from '../judge/judge-request.ts'
import { clientOf, withoutTasks } from '../messages/initialize.ts'
import { isAnswer, type PendingRequest } from '../session/pending-requests.ts'
import type { Turn } from '../session/send-order.ts'
import { type Session, withText } from '../session/session.ts'
import { type ClientResponse, errorResponse, loginResponse, type OutgoingMessage, refusedRequest } from './response.ts'
import type { ServerRelay } from './server-relay.ts'

const INTERNAL = -32603
const INVALID_REQUEST = -32600
const NO_METHOD = -32601

/** Relays the messages of a client in one session. It judges calls of tools and other requests, and passes on everything else unchanged. */
export class ClientRelay {
  readonly #gateway: Gateway
  readonly #hooks: McpHooks
  readonly #session: Session
  readonly #relay: ServerRelay
  readonly #streams: ResponseStreams
  readonly #judge: JudgeCall
  readonly #judgeRequest: JudgeRequest
  readonly #over: (reason: string) => void

  constructor(
    gateway: Gateway,
    session: Session,
    parts: {
      readonly relay: ServerRelay
      readonly judge: JudgeCall
      readonly judgeRequest: JudgeRequest
      readonly over: (reason: string) => void
    },
  ) {
    this.#gateway = gateway
    this.#hooks = mcpHooks(gateway)
    this.#session = session
    this.#relay = parts.relay
    this.#streams = new ResponseStreams(session, parts.relay)
    this.#judge = parts.judge
    this.#judgeRequest = parts.judgeRequest
    this.#over = parts.over
  }

  /** The response that the client gets for one message. Never rejects. */
  async take(came: Frame | FrameFault, passed: PassedHeaders = {}): Promise<ClientResponse> {
    this.#session.touch()
    if (came.kind === 'fault') return this.#invalidFrame(came)
    const turn = this.#session.order?.join()
    try {
      const frame = this.#hooks.frame.isUsed() ? await this.#runHook(came) : came
      if (frame.kind === 'request') return await this.#request(frame, passed, turn)
      return await (frame.kind === 'response' ? this.#response(frame, turn) : this.#notification(frame, turn))
    } catch (error) {
      this.#gateway.fault(error, 'mcp:proxy')
      if (came.key !== undefined && came.kind === 'request') this.#session.clientRequests.take(came.key)
      return errorResponse(500, came.id, INTERNAL, 'The gateway failed on this message.', 'INTERNAL')
    } finally {
      turn?.end()
    }
  }

  /** Messages that the server sends of its own, or those that follow the event of this id. */
  async listen(lastEventId: string | undefined, passed: PassedHeaders = {}): Promise<ClientResponse> {
    this.#session.touch()
    const reply = await this.#session.link.listen(lastEventId, passed)
    if (reply.form === 'none') return reply
    return this.#answer(reply, undefined, undefined)
  }

  /** Gives an error for every request that waits: the server will not answer. */
  abandon(reason: string): readonly OutgoingMessage[] {
    return this.#session.clientRequests.takeAll().map((request) => {
      void this.#relay.settle(request, 'lost', null)
      return { message: errorResponse(502, request.id, INTERNAL, reason).message }
    })
  }

  #runHook(frame: Frame): Promise<Frame> {
    const { id: session_id, server } = this.#session
    return this.#hooks.frame.promise(frame, { direction: 'to_server', server_id: server.id, session_id })
  }

  #invalidFrame({ code, message, id, silent = false }: FrameFault): ClientResponse {
    this.#session.log.event({
      kind: 'refusal',
      name: 'frame.refused',
      reason: message,
      ...(id === undefined ? {} : { request_id: id }),
    })
    if (silent && this.#session.merged) return { form: 'none', status: 400 }
    return errorResponse(400, id, code, message)
  }

  async #request(frame: Frame, passed: PassedHeaders, turn?: Turn): Promise<ClientResponse> {
    const { id = '', key = '', method = '' } = frame
    if (method.startsWith('tasks/') || method === 'server/discover')
      return errorResponse(200, id, NO_METHOD, `The method ${method} is not served.`)
    const request: PendingRequest = { method, id, state: 'forwarded', cursor: listCursor(frame), entry: undefined }
    const added = this.#session.clientRequests.add(key, request)
    if (added === 'duplicate')
      return this.#invalidFrame({
        kind: 'fault',
        code: INVALID_REQUEST,
        message: 'A request of this id is on its way.',
        id,
      })
    if (added === 'full')
      return errorResponse(429, id, -32000, 'Too many requests wait for their answers.', 'TOO_MANY_PENDING')
    request.state = 'judging'
    if (method !== 'tools/call') return this.#otherRequest(frame, request, passed, turn)
    const judged = await this.#judge(frame, request, passed)
    if (!('form' in judged)) return await this.#forward(judged, request, passed, turn)
    this.#session.clientRequests.take(key)
    return judged
  }

  /** A request that is no call of a tool. */
  async #otherRequest(
    frame: Frame,
    request: PendingRequest,
    passed: PassedHeaders,
    turn?: Turn,
  ): Promise<ClientResponse> {
    const refused = await this.#judgeRequest(frame, 'client')
    if (refused === undefined && request.state !== 'cancelled')
      return await this.#forward(this.#prepared(frame), request, passed, turn)
    if (frame.key !== undefined) this.#session.clientRequests.take(frame.key)
    if (refused === undefined || request.state === 'cancelled') return { form: 'none', status: 202 }
    return refusedRequest(refused, frame.id)
  }

  /** The frame as it goes to the server. */
  #prepared(frame: Frame): Frame {
    if (frame.method !== 'initialize') return frame
    this.#session.client = clientOf(frame)
    const text = withoutTasks(frame)
    return text === frame.text ? frame : withText(frame, text)
  }

  async #forward(frame: Frame, request: PendingRequest, passed: PassedHeaders, turn?: Turn): Promise<ClientResponse> {
    request.state = 'forwarded'
    return await this.#answer(await this.#session.post(frame, passed, turn), frame, request)
  }

  #answer(
    reply: McpReply,
    frame: Frame | undefined,
    request: PendingRequest | undefined,
  ): ClientResponse | Promise<ClientResponse> {
    if (reply.form === 'none') return { form: 'none', status: 202 }
    if (reply.form === 'sse') return this.#streams.answer(reply, frame?.key)
    if (reply.form === 'failed') return this.#failed(reply, frame, request)
    return this.#single(reply.event, reply.status, frame, request)
  }

  #failed(
    { status, code, message, retry_after }: McpReply & { form: 'failed' },
    frame: Frame | undefined,
    request: PendingRequest | undefined,
  ): ClientResponse {
    if (frame?.key !== undefined) this.#session.clientRequests.take(frame.key)
    if (request !== undefined) void this.#relay.settle(request, code === 'UPSTREAM_TIMEOUT' ? 'timeout' : 'lost', null)
    const isUnknownSession = code === 'MCP_SESSION_NOT_FOUND'
    if (isUnknownSession || request?.method === 'initialize') this.#over(message)
    // as the result of a tool it reaches whoever talks to the agent
    if (code === 'MCP_LOGIN_NEEDED' && request?.method === 'tools/call') return loginResponse(request.id, message)
    const headers = retry_after === undefined ? undefined : { 'retry-after': retry_after }
    return errorResponse(status, frame?.id, isUnknownSession ? -32001 : INTERNAL, message, code, headers)
  }

  /** Handles a reply that is one message: it must be the response to the request. */
  async #single(
    event: StreamEvent,
    status: number,
    frame: Frame | undefined,
    request: PendingRequest | undefined,
  ): Promise<ClientResponse> {
    const { frame: came } = event
    const unplaced = unmatchedError(came, frame, status)
    if (unplaced !== undefined || came?.kind !== 'response' || !isAnswer(came.key, frame?.key)) {
      if (frame?.key !== undefined) this.#session.clientRequests.take(frame.key)
      if (request !== undefined) void this.#relay.settle(request, 'rpc_error', null)
      if (request?.method === 'initialize') this.#over('initialize was refused')
      return unplaced === undefined
        ? errorResponse(502, frame?.id, INTERNAL, 'Upstream sent another message than the answer.', 'UPSTREAM_FAILED')
        : { form: 'json', status, message: unplaced }
    }
    const out = await this.#relay.take(event)
    if (out?.message === undefined) return { form: 'none', status: 202 }
    return { form: 'json', status, message: out.message }
  }

  async #response(frame: Frame, turn?: Turn): Promise<ClientResponse> {
    if (frame.key === undefined || this.#session.serverRequests.take(frame.key) === undefined) {
      this.#session.dropped('unknown_id')
      return this.#session.merged
        ? { form: 'none', status: 400 }
        : errorResponse(400, undefined, INVALID_REQUEST, 'The server has no request of this id on its way.')
    }
    return this.#sendOn(frame, turn)
  }

  async #notification(frame: Frame, turn?: Turn): Promise<ClientResponse> {
    if (frame.method === 'notifications/cancelled' && !this.#cancels(frame)) return { form: 'none', status: 202 }
    return this.#sendOn(frame, turn)
  }

  /** Marks a request as cancelled by the client; true if the server must be notified. */
  #cancels(frame: Frame): boolean {
    const found = this.#session.clientRequests.cancel(cancelledKey(frame) ?? '')
    if (found?.was !== 'forwarded') return false
    void this.#relay.settle(found.request, 'cancelled', null)
    return true
  }

  async #sendOn(frame: Frame, turn?: Turn): Promise<ClientResponse> {
    return this.#answer(await this.#session.post(frame, {}, turn), undefined, undefined)
  }
}

/** The cursor of a `tools/list`; undefined for the first page. A lax server may take a cursor that is no string: then this is its source text. */
const listCursor = ({ method, text, params }: Frame): string | undefined => {
  const cursor = method === 'tools/list' ? memberIn(params, 'cursor')?.value : undefined
  return cursor === undefined ? undefined : (stringIn(text, cursor) ?? sourceOf(text, cursor))
}

/**
 * The text of an error that has no id, or that answers a message which was no request; undefined for anything else.
 * With a status below 300 the error gets the id of `request`, so that its sender can match it.
 */
const unmatchedError = (
  received: Frame | undefined,
  request: Frame | undefined,
  status: number,
): Buffer | string | undefined => {
  if (received?.error === undefined || (received.key !== undefined && request !== undefined)) return undefined
  if (request?.id === undefined || status >= 300) return received.raw
  return applyEdits(received.text, [setMember(received.root, 'id', request.id)])
}

/** Event streams of a server. Each message goes through the relay; a request whose stream ends without a response gets an error. */
class ResponseStreams {
  readonly #session: Session
  readonly #relay: ServerRelay

  constructor(session: Session, relay: ServerRelay) {
    this.#session = session
    this.#relay = relay
  }

  /** The stream as it goes to the client; `key` is the key of the request that it answers. */
  answer(reply: McpReply & { form: 'sse' }, key: string | undefined): ClientResponse | Promise<ClientResponse> {
    const { events } = reply
    const stop = () => reply.stop()
    if ('length' in events) return this.#whole(events, key).then((outs) => ({ form: 'sse', events: outs, stop }))
    return { form: 'sse', events: this.#stream(events, key), stop }
  }

  /** The messages of a stream that has arrived whole. */
  async #whole(events: readonly StreamEvent[], key: string | undefined): Promise<readonly OutgoingMessage[]> {
    const outs: OutgoingMessage[] = []
    for (const event of events) {
      const out = await this.#relay.take(event, key)
      if (out !== undefined) outs.push(out)
    }
    const resumable = events.some((event) => event.resumable === true)
    const fault = events.find((event) => event.fault !== undefined)?.fault
    return outs.concat(this.#owed(key, resumable && fault === undefined, fault?.message))
  }

  /** The messages of a stream as they come, and an error at its end if the response cannot come any more. */
  async *#stream(events: AsyncIterable<StreamEvent>, key: string | undefined): AsyncGenerator<OutgoingMessage> {
    let resumable = false
    let unusable = false
    let why: string | undefined
    try {
      for await (const event of events) {
        const out = await this.#relay.take(event, key)
        resumable ||= event.resumable === true
        unusable ||= event.fault !== undefined
        why ??= event.fault?.message
        if (out !== undefined) yield out
      }
    } catch (error) {
      this.#session.dropped('stream_broken')
      unusable ||= error instanceof RangeError
      if (error instanceof Error) why = error.message
    }
    yield* this.#owed(key, resumable && !unusable, why)
  }

  /** The error for a request whose stream ended without its response; none while the response may come on another stream. */
  #owed(key: string | undefined, resumable: boolean, why: string | undefined): readonly OutgoingMessage[] {
    const { clientRequests, ended } = this.#session
    const mayCome = resumable && !ended
    if (key !== undefined && mayCome) clientRequests.orphan(key)
    const request = key === undefined || mayCome ? undefined : clientRequests.take(key)
    if (request?.state !== 'forwarded') return []
    void this.#relay.settle(request, 'lost', null)
    const message = ['Upstream ended the stream without an answer.', why].filter(Boolean).join(' ')
    return [{ message: errorFrame(request.id, INTERNAL, message) }]
  }
}
