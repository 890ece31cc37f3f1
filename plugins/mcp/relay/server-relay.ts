import type { Frame, FrameFault, Gateway, StreamEvent } from 'guard-gateway/core'
import { sha256 } from 'guard-gateway/lib/ids'
import { applyEdits, setMember, sourceOf } from 'guard-gateway/lib/json'
import { cancelledKey, errorFrame, keyOfId, readFrame } from 'guard-gateway/lib/json-rpc'
import { withData } from 'guard-gateway/lib/sse'
import { type McpHooks, mcpHooks } from '../hooks.ts'
import { callOutcome } from '../messages/call-outcome.ts'
import { isAmbiguous, serverFacts, versions, withoutTasks } from '../messages/initialize.ts'
import type { PendingRequest } from '../session/pending-requests.ts'
import { type Session, withText } from '../session/session.ts'
import type { RelayContext } from './relay-context.ts'
import { type OutgoingMessage, refusedRequest } from './response.ts'

const INTERNAL = -32603

/** Takes what a server says of one session: pairs answers with requests, reads the few that matter, and passes on everything else as it came. */
export class ServerRelay {
  readonly #gateway: Gateway
  readonly #hooks: McpHooks
  readonly #session: Session
  readonly #around: RelayContext

  constructor(gateway: Gateway, session: Session, around: RelayContext) {
    this.#gateway = gateway
    this.#hooks = mcpHooks(gateway)
    this.#session = session
    this.#around = around
  }

  /** What the client gets of an event; undefined: nothing. `asked` is the key of the request whose stream it came in. */
  async take(
    { frame, fault, raw, resumable = false }: StreamEvent,
    asked?: string,
  ): Promise<OutgoingMessage | undefined> {
    this.#session.touch()
    if (fault !== undefined) return this.#faulty(fault, asked)
    if (frame === undefined) return raw === undefined ? undefined : { event: raw, resumable }
    const passed = await (frame.kind === 'response' ? this.#paired(frame, resumable) : this.#unasked(frame, resumable))
    if (passed === undefined) return
    if (passed === frame)
      return raw === undefined ? { message: frame.raw, resumable } : { message: frame.raw, event: raw, resumable }
    const text = typeof passed === 'string' ? passed : passed.text
    return { message: text, ...(raw === undefined ? {} : { event: withData(raw, text) }), resumable }
  }

  /** What the server sent is no message: who waits for it, if that can be told, learns so; whose stream it came in, when that ends. */
  #faulty({ id, message }: FrameFault, asked: string | undefined): OutgoingMessage | undefined {
    const { clientRequests, merged } = this.#session
    const unplaced = asked === undefined ? clientRequests.only(!merged) : undefined
    const key = id === undefined ? unplaced : keyOfId(id)
    const request = key === undefined ? undefined : clientRequests.takeWaiting(key)
    if (request === undefined) return void this.#session.dropped('noise')
    void this.settle(request, 'lost', null)
    return { message: errorFrame(request.id, INTERNAL, `Upstream sent no usable answer. ${message}`) }
  }

  /** The frame, another one or other text in its place; undefined if it is not passed on. */
  async #unasked(came: Frame, resumable: boolean): Promise<Frame | string | undefined> {
    if (came.kind === 'request' && (!this.#asked(came, resumable) || (await this.#refused(came)))) return
    if (came.method === 'notifications/tools/list_changed') this.#around.tools.listChanged()
    this.#session.serverRequests.cancel(cancelledKey(came) ?? '')
    try {
      return this.#hooks.frame.isUsed() ? await this.#hooked(came) : came
    } catch (error) {
      this.#gateway.fault(error, 'mcp:relay')
      return undefined
    }
  }

  /** Whether the policy stops a request of the server, which is then told so. */
  async #refused(came: Frame): Promise<boolean> {
    const refused = await this.#around.refused(came)
    if (refused === undefined) return false
    this.#session.serverRequests.take(came.key ?? '')
    const told = readFrame(Buffer.from(refusedRequest(refused, came.id).message), 'client')
    // nobody waits: the server may read its input only when its output is read
    if (told.kind !== 'fault')
      this.#session.post(told, {}).catch((error: unknown) => this.#gateway.fault(error, 'mcp:relay'))
    return true
  }

  /** An answer, for the request it belongs to. */
  async #paired(came: Frame, resumable: boolean): Promise<Frame | string | undefined> {
    const { clientRequests } = this.#session
    const request = clientRequests.takeSent(came.key ?? '')
    const rounded = request === undefined ? clientRequests.rounded(came.key ?? '') : undefined
    if (rounded !== undefined) return this.#paired(withId(came, rounded), resumable)
    if (request === undefined) return void this.#session.dropped('unknown_id')
    this.#around.responded()
    try {
      const passed = await this.#answered(this.#hooks.frame.isUsed() ? await this.#hooked(came) : came, request)
      // a client that has missed it may fetch it again, unless it is withheld
      if (resumable && typeof passed !== 'string' && request.method !== 'initialize')
        clientRequests.answered(came.key ?? '', request)
      return passed
    } catch (error) {
      this.#gateway.fault(error, 'mcp:relay')
      return errorFrame(request.id, INTERNAL, 'The gateway failed on this answer.')
    }
  }

  #hooked(frame: Frame): Promise<Frame> {
    const { id: session_id, server } = this.#session
    return this.#hooks.frame.promise(frame, { direction: 'to_client', server_id: server.id, session_id })
  }

  /** Notes a request of the server; false: it must not reach the client. One with an event id may come again to a client that has missed it. */
  #asked({ key = '', id = '', method = '' }: Frame, resumable: boolean): boolean {
    if (resumable && this.#session.serverRequests.has(key, method)) return true
    const added = this.#session.serverRequests.add(key, { method, id, state: 'forwarded' })
    if (added === 'added') return true
    this.#session.dropped(added === 'full' ? 'too_many_requests' : 'id_in_use')
    return false
  }

  #answered(frame: Frame, request: PendingRequest): Frame | string | Promise<Frame | string> {
    if (request.method === 'tools/call')
      return this.settle(request, callOutcome(frame), frame.raw.length).then(() => frame)
    if (frame.result === undefined) {
      if (request.method === 'initialize') this.#around.over('initialize was refused')
      return frame
    }
    if (request.method === 'initialize') return this.#initialized(frame, request)
    return request.method === 'tools/list' ? this.#listed(frame, request) : frame
  }

  /** Puts the end of a forwarded call on record; resolves when whoever reads it afterwards reads its end. */
  async settle(request: PendingRequest, outcome: ReturnType<typeof callOutcome>, bytes: number | null): Promise<void> {
    const { entry, tool = '' } = request
    if (entry === undefined) return
    request.entry = undefined
    const { id: session_id, server, log } = this.#session
    const recorded = log.ended(entry, outcome, bytes)
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
      this.#around.over('the versions do not match')
      return ambiguous
        ? errorFrame(id, INTERNAL, 'Upstream sent ambiguous JSON')
        : errorFrame(id, -32602, 'Unsupported protocol version', { supported: versions, requested: version ?? null })
    }
    this.#session.protocol_version = version
    this.#session.announcesTools = facts.announcesTools
    this.#session.log.negotiated(version)
    this.#around.initialized(facts)
    const text = withoutTasks(frame)
    return text === frame.text ? frame : text
  }

  async #listed(frame: Frame, request: PendingRequest): Promise<Frame | string> {
    const { id, cursor, state, page: known } = request
    const { result, text } = frame
    if (result === undefined || isAmbiguous(frame)) return this.#noList(id, 'Upstream sent ambiguous JSON')
    const page = sourceOf(text, result)
    request.page = sha256(page)
    // one that comes again is an old one, which must not come to count
    if (state !== 'answered') {
      const refused = await this.#around.tools.observe(page, cursor)
      if (refused !== undefined) return this.#noList(id, refused)
    } else if (request.page !== known) return this.#noList(id, 'Upstream sent two lists in answer to one request')
    const told = await this.#around.rewriteList(page)
    if (told === page) return frame
    return withText(frame, applyEdits(text, [{ start: result.start, end: result.end, text: told }]))
  }

  #noList(id: string, reason: string): string {
    this.#session.log.event({ kind: 'refusal', name: 'list.refused', reason, request_id: id })
    return errorFrame(id, INTERNAL, reason)
  }
}

/** The frame with the id that its request had; `key` is that of a number. */
const withId = (frame: Frame, key: string): Frame => {
  const text = applyEdits(frame.text, [setMember(frame.root, 'id', key.slice(1))])
  const read = readFrame(Buffer.from(text), 'server')
  return read.kind === 'fault' ? frame : read
}
