import type { Gateway } from 'guard-gateway/core'
import { sha256 } from '#lib/ids'
import { applyEdits, memberIn, setMember, sourceOf } from '#lib/json'
import { cancelledKey, errorFrame, type Frame, type FrameFault, keyOfId, readFrame } from '#lib/json-rpc'
import type { StreamEvent } from '#lib/mcp-transport'
import { withData } from '#lib/sse'
import { type CallOutcome, type McpHooks, mcpHooks } from '../hooks.ts'
import { isAmbiguous, type ServerFacts, serverFacts, versions, withoutTasks } from '../messages/initialize.ts'
import type { CompiledResultCheck } from '../policy/compiled.ts'
import type { CheckedResult } from '../results/check-result.ts'
import type { PendingRequest } from '../session/pending-requests.ts'
import { type Session, withText } from '../session/session.ts'
import type { ServerTools } from '../tools/server-tools.ts'
import { type OutgoingMessage, type RequestRefusal, refusedRequest } from './response.ts'

/** The context of a server's relay besides the session. */
interface RelayContext {
  readonly tools: ServerTools
  /** Rewrites a page of the list of tools to what the policy lets the client see. */
  rewriteList(page: string): Promise<string>
  /** Lets checks look at the result of a call. */
  checkResult(frame: Frame, tool: string, checks: readonly CompiledResultCheck[]): Promise<CheckedResult>
  /** The server has answered `initialize`. */
  initialized(facts: ServerFacts): void
  /** The server has answered a request. */
  responded(): void
  /** Why a request of the server must not reach the client; undefined: it may. */
  judgeRequest(frame: Frame): Promise<RequestRefusal | undefined>
  /** The session cannot continue. */
  over(reason: string): void
}

const INTERNAL = -32603

/** Relays the messages of a server in one session. It matches responses with requests, reads those that matter to the policy, and passes on all others unchanged. */
export class ServerRelay {
  readonly #gateway: Gateway
  readonly #hooks: McpHooks
  readonly #session: Session
  readonly #context: RelayContext

  constructor(gateway: Gateway, session: Session, context: RelayContext) {
    this.#gateway = gateway
    this.#hooks = mcpHooks(gateway)
    this.#session = session
    this.#context = context
  }

  /** The message that the client gets for an event; undefined: none. `requestKey` is the key of the request whose stream it came in. */
  async take(
    { frame, fault, raw, resumable = false }: StreamEvent,
    requestKey?: string,
  ): Promise<OutgoingMessage | undefined> {
    this.#session.touch()
    if (fault !== undefined) return this.#invalidMessage(fault, requestKey)
    if (frame === undefined) return raw === undefined ? undefined : { event: raw, resumable }
    const forwarded = await (frame.kind === 'response'
      ? this.#matched(frame, resumable)
      : this.#serverMessage(frame, resumable))
    if (forwarded === undefined) return
    if (forwarded === frame)
      return { message: frame.raw, frame, ...(raw === undefined ? {} : { event: raw }), resumable }
    const text = typeof forwarded === 'string' ? forwarded : forwarded.text
    return { message: text, ...(raw === undefined ? {} : { event: withData(raw, text) }), resumable }
  }

  /** The server sent an invalid message. The request that it answers, if that is known, gets an error; a request whose stream it came in gets one when the stream ends. */
  #invalidMessage({ id, message }: FrameFault, requestKey: string | undefined): OutgoingMessage | undefined {
    const { clientRequests, merged } = this.#session
    const unplaced = requestKey === undefined ? clientRequests.only(!merged) : undefined
    const key = id === undefined ? unplaced : keyOfId(id)
    const request = key === undefined ? undefined : clientRequests.takeWaiting(key)
    if (request === undefined) return void this.#session.dropped('noise')
    void this.settle(request, 'lost', null)
    return { message: errorFrame(request.id, INTERNAL, `Upstream sent no usable answer. ${message}`) }
  }

  /** The frame, another one or other text in its place; undefined if it is not forwarded. */
  async #serverMessage(came: Frame, resumable: boolean): Promise<Frame | string | undefined> {
    if (came.kind === 'request' && (!this.#addServerRequest(came, resumable) || (await this.#isRefused(came)))) return
    if (came.method === 'notifications/tools/list_changed') this.#context.tools.listChanged()
    this.#session.serverRequests.cancel(cancelledKey(came) ?? '')
    try {
      return this.#hooks.frame.isUsed() ? await this.#runHook(came) : came
    } catch (error) {
      this.#gateway.fault(error, 'mcp:relay')
      return undefined
    }
  }

  /** Whether the policy stops a request of the server; the server then gets an error. */
  async #isRefused(came: Frame): Promise<boolean> {
    const refused = await this.#context.judgeRequest(came)
    if (refused === undefined) return false
    this.#session.serverRequests.take(came.key ?? '')
    const outgoing = readFrame(Buffer.from(refusedRequest(refused, came.id).message), 'client')
    // not awaited: the server may read its input only when its output is read
    if (outgoing.kind !== 'fault')
      this.#session.post(outgoing, {}).catch((error: unknown) => this.#gateway.fault(error, 'mcp:relay'))
    return true
  }

  /** Handles a response as the one to the request that it belongs to. */
  async #matched(came: Frame, resumable: boolean): Promise<Frame | string | undefined> {
    const { clientRequests } = this.#session
    const request = clientRequests.takeSent(came.key ?? '')
    const rounded = request === undefined ? clientRequests.rounded(came.key ?? '') : undefined
    if (rounded !== undefined) return this.#matched(withId(came, rounded), resumable)
    if (request === undefined) return void this.#session.dropped('unknown_id')
    this.#context.responded()
    try {
      const forwarded = await this.#response(this.#hooks.frame.isUsed() ? await this.#runHook(came) : came, request)
      // a client that missed the response may fetch it again, unless it was replaced
      if (resumable && typeof forwarded !== 'string' && request.method !== 'initialize')
        clientRequests.answered(came.key ?? '', request)
      return forwarded
    } catch (error) {
      this.#gateway.fault(error, 'mcp:relay')
      return errorFrame(request.id, INTERNAL, 'The gateway failed on this answer.')
    }
  }

  #runHook(frame: Frame): Promise<Frame> {
    const { id: session_id, server } = this.#session
    return this.#hooks.frame.promise(frame, { direction: 'to_client', server_id: server.id, session_id })
  }

  /** Notes a request of the server; false: it must not reach the client. A request with an event id may come again, for a client that missed it. */
  #addServerRequest({ key = '', id = '', method = '' }: Frame, resumable: boolean): boolean {
    if (resumable && this.#session.serverRequests.has(key, method)) return true
    const added = this.#session.serverRequests.add(key, { method, id, state: 'forwarded' })
    if (added === 'added') return true
    this.#session.dropped(added === 'full' ? 'too_many_requests' : 'id_in_use')
    return false
  }

  #response(frame: Frame, request: PendingRequest): Frame | string | Promise<Frame | string> {
    if (request.method === 'tools/call' && request.results !== undefined)
      return this.#checked(frame, request, request.results)
    if (request.method === 'tools/call')
      return this.settle(request, callOutcome(frame), frame.raw.length).then(() => frame)
    if (frame.result === undefined) {
      if (request.method === 'initialize') this.#context.over('initialize was refused')
      return frame
    }
    if (request.method === 'initialize') return this.#initialized(frame, request)
    return request.method === 'tools/list' ? this.#listed(frame, request) : frame
  }

  /** The result of a call as its checks let it pass. */
  async #checked(
    frame: Frame,
    request: PendingRequest,
    checks: NonNullable<PendingRequest['results']>,
  ): Promise<Frame | string> {
    const { text, findings } = await this.#context.checkResult(frame, request.tool ?? '', checks)
    await this.settle(request, callOutcome(frame), frame.raw.length, findings)
    return text ?? frame
  }

  /** Records the end of a forwarded call; resolves when every later reader sees it. */
  async settle(
    request: PendingRequest,
    outcome: ReturnType<typeof callOutcome>,
    bytes: number | null,
    findings?: CheckedResult['findings'],
  ): Promise<void> {
    const { entry, tool = '' } = request
    if (entry === undefined) return
    request.entry = undefined
    const { id: session_id, server, log } = this.#session
    const recorded = log.ended(entry, outcome, bytes, findings)
    const { outcome: hook } = this.#hooks
    if (hook.isUsed()) {
      try {
        await hook.promise({ server_id: server.id, session_id, tool, outcome, result_bytes: bytes })
      } catch (error) {
        this.#gateway.fault(error, 'mcp:outcome')
      }
    }
    await recorded
  }

  #initialized(frame: Frame, { id }: PendingRequest): Frame | string {
    const ambiguous = isAmbiguous(frame)
    const facts = ambiguous ? undefined : serverFacts(frame)
    const version = facts?.protocol_version
    if (facts === undefined || version === undefined || !versions.includes(version)) {
      this.#context.over('the versions do not match')
      return ambiguous
        ? errorFrame(id, INTERNAL, 'Upstream sent ambiguous JSON')
        : errorFrame(id, -32602, 'Unsupported protocol version', { supported: versions, requested: version ?? null })
    }
    this.#session.protocol_version = version
    this.#session.announcesTools = facts.announcesTools
    this.#session.log.negotiated(version)
    this.#context.initialized(facts)
    const text = withoutTasks(frame)
    return text === frame.text ? frame : text
  }

  async #listed(frame: Frame, request: PendingRequest): Promise<Frame | string> {
    const { id, cursor, state, page: known } = request
    const { result, text } = frame
    if (result === undefined || isAmbiguous(frame)) return this.#noList(id, 'Upstream sent ambiguous JSON')
    const page = sourceOf(text, result)
    request.page = sha256(page)
    // a page that comes again is an old one, and must not replace a newer one
    if (state !== 'answered') {
      const refused = await this.#context.tools.observe(page, cursor)
      if (refused !== undefined) return this.#noList(id, refused)
    } else if (request.page !== known) return this.#noList(id, 'Upstream sent two lists in answer to one request')
    const outgoing = await this.#context.rewriteList(page)
    if (outgoing === page) return frame
    return withText(frame, applyEdits(text, [{ start: result.start, end: result.end, text: outgoing }]))
  }

  #noList(id: string, reason: string): string {
    this.#session.log.event({ kind: 'refusal', name: 'list.refused', reason, request_id: id })
    return errorFrame(id, INTERNAL, reason)
  }
}

/** The frame with the id of its request; `key` is the key of a number. */
const withId = (frame: Frame, key: string): Frame => {
  const text = applyEdits(frame.text, [setMember(frame.root, 'id', key.slice(1))])
  const read = readFrame(Buffer.from(text), 'server')
  return read.kind === 'fault' ? frame : read
}

/** How a call ended, read from its response. */
const callOutcome = ({ text, result }: Frame): CallOutcome['outcome'] => {
  if (result === undefined) return 'rpc_error'
  const isError = memberIn(result, 'isError')?.value
  return isError !== undefined && sourceOf(text, isError) === 'true' ? 'tool_error' : 'ok'
}
