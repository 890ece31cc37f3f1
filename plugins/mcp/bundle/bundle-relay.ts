import { applyEdits, memberIn, setMember, sourceOf, stringIn } from '#lib/json'
import { errorFrame, type Frame, resultFrame } from '#lib/json-rpc'
import type { PassedHeaders } from '#lib/mcp-transport'
import { type ClientResponse, errorResponse, type OutgoingMessage, resultResponse } from '../relay/response.ts'
import type { RunningSession } from '../session/running-session.ts'
import type { Bundle } from './bundle.ts'
import { kindListedBy } from './kinds.ts'
import type { BundleLists } from './lists.ts'
import { errorCode, errorText, type Member } from './member.ts'
import { edited, frameOf, readOut } from './messages.ts'
import { isRoute, type NoRoute, type Route, type Routing } from './routing.ts'
import type { PendingTokens, ServerRequests } from './server-requests.ts'
import type { Setup } from './setup.ts'
import type { ToClient } from './to-client.ts'
import { within } from './within.ts'

const INTERNAL = -32603
const INVALID_PARAMS = -32602
const INVALID_REQUEST = -32600
const NO_METHOD = -32601

export interface RelayParts {
  readonly bundle: Bundle
  readonly members: readonly Member[]
  readonly routing: Routing
  readonly lists: BundleLists
  readonly requests: ServerRequests
  readonly tokens: PendingTokens
  readonly toClient: ToClient
  readonly setup: Setup
}

/** Messages of a client of a bundle: each goes to the member that it is for, whose own relay judges it. */
export class BundleRelay {
  readonly #parts: RelayParts

  constructor(parts: RelayParts) {
    this.#parts = parts
  }

  /** The response to a message after `initialize`. */
  async take(frame: Frame, passed: PassedHeaders): Promise<ClientResponse> {
    if (frame.kind === 'request') return this.#request(frame, passed)
    if (frame.kind === 'response') return this.#response(frame)
    return this.#notification(frame)
  }

  async #request(frame: Frame, passed: PassedHeaders): Promise<ClientResponse> {
    const { id = '', method = '' } = frame
    const { lists, setup, members, bundle } = this.#parts
    if (method === 'tools/call') return this.#named('tools', frame, passed)
    if (method === 'prompts/get') return this.#named('prompts', frame, passed)
    const listed = kindListedBy(method)
    if (listed !== undefined) return lists.answer(listed, frame)
    if (method === 'ping') return resultResponse(resultFrame(id, '{}'))
    if (method === 'logging/setLevel') return setup.setLevel(frame)
    if (method.startsWith('resources/')) return this.#resource(frame, passed)
    if (method === 'completion/complete') return this.#completion(frame, passed)
    const [only, ...more] = members
    if (only !== undefined && more.length === 0) return this.#send({ member: only, own: '' }, frame, passed)
    const reason = `The method ${method} names no server of the bundle "${bundle.id}", so that it is not served there. Ask at the server's own address.`
    return errorResponse(200, id, NO_METHOD, reason)
  }

  async #named(kind: 'tools' | 'prompts', frame: Frame, passed: PassedHeaders): Promise<ClientResponse> {
    const value = memberIn(frame.params, 'name')?.value
    const name = stringIn(frame.text, value)
    if (value === undefined || name === undefined)
      return errorResponse(200, frame.id, INVALID_PARAMS, '"name" must be a string.')
    const route = await this.#parts.routing.named(kind, name)
    if (!isRoute(route)) return noRoute(frame, route)
    if (route.own === name) return this.#send(route, frame, passed)
    return this.#send(route, edited(frame, [{ ...value, text: JSON.stringify(route.own) }]), passed)
  }

  async #resource(frame: Frame, passed: PassedHeaders): Promise<ClientResponse> {
    const uri = stringIn(frame.text, memberIn(frame.params, 'uri')?.value)
    if (uri === undefined) return errorResponse(200, frame.id, INVALID_PARAMS, '"uri" must be a string.')
    const route = await this.#parts.routing.resource(uri)
    if (!isRoute(route)) return noRoute(frame, route)
    this.#parts.setup.subscribed(route.member, frame.method ?? '', uri)
    return this.#send(route, frame, passed)
  }

  async #completion(frame: Frame, passed: PassedHeaders): Promise<ClientResponse> {
    const ref = memberIn(frame.params, 'ref')?.value
    const value = memberIn(ref, 'name')?.value
    const name = stringIn(frame.text, value)
    const uri = stringIn(frame.text, memberIn(ref, 'uri')?.value)
    if (uri !== undefined) {
      const route = await this.#parts.routing.resource(uri)
      return isRoute(route) ? this.#send(route, frame, passed) : noRoute(frame, route)
    }
    if (value === undefined || name === undefined)
      return errorResponse(200, frame.id, INVALID_PARAMS, '"ref" must name a prompt or a resource.')
    const route = await this.#parts.routing.named('prompts', name)
    if (!isRoute(route)) return noRoute(frame, route)
    return this.#send(route, edited(frame, [{ ...value, text: JSON.stringify(route.own) }]), passed)
  }

  /** Hands a request to its member, whose session is opened again if it is not there. */
  async #send({ member }: Route, frame: Frame, passed: PassedHeaders): Promise<ClientResponse> {
    const { tokens, bundle } = this.#parts
    const running = member.there ?? (await within(member.ready(), bundle.wait_ms))
    if (running === undefined) {
      const reason = `The MCP server "${member.id}" of the bundle "${bundle.id}" is not there: ${member.missing ?? 'it has not answered yet'}`
      return errorResponse(200, frame.id, INTERNAL, reason, 'UPSTREAM_UNREACHABLE')
    }
    const over = tokens.add(member, frame)
    if (over === undefined) return errorResponse(400, frame.id, INVALID_REQUEST, 'A request of this id is on its way.')
    const answer = await running.clientRelay.take(frame, passed)
    if (answer.form === 'sse') return this.#streamed(member, answer, over)
    over()
    return answer.form === 'json' && answer.status > 299 ? this.#failed(member, running, frame, answer) : answer
  }

  /** The stream of one request. */
  #streamed(member: Member, answer: ClientResponse & { form: 'sse' }, ended: () => void): ClientResponse {
    const { events } = answer
    const { toClient } = this.#parts
    const translated = (out: OutgoingMessage) => toClient.take(member, out) ?? []
    if ('length' in events) {
      ended()
      return { ...answer, events: events.flatMap(translated) }
    }
    const each = async function* () {
      try {
        for await (const out of events) yield* [translated(out)].flat()
      } finally {
        ended()
      }
    }
    return { ...answer, events: each() }
  }

  /** A request that failed with one member is an error of JSON-RPC: the endpoint and its session are well. */
  #failed(
    member: Member,
    { session }: RunningSession,
    { id }: Frame,
    answer: ClientResponse & { form: 'json' },
  ): ClientResponse {
    const error = readOut(answer)
    const code = error === undefined ? undefined : errorCode(error)
    if (session.ended || code === 'MCP_SESSION_NOT_FOUND') {
      const reason = `The MCP server "${member.id}" has ended its session; the next call opens another. Repeat this one.`
      return {
        form: 'json',
        status: 200,
        message: errorFrame(id, INTERNAL, reason, { type: 'mcp_error', code: 'UPSTREAM_FAILED' }),
      }
    }
    if (code === 'UPSTREAM_UNREACHABLE' && error !== undefined) member.lose(errorText(error))
    return answer.status === 429 ? answer : { ...answer, status: 200 }
  }

  /** The client's response to a request of a member. */
  async #response(frame: Frame): Promise<ClientResponse> {
    const { requests } = this.#parts
    const number = frame.id ?? ''
    const request = requests.get(number)
    if (request === undefined)
      return errorResponse(
        400,
        undefined,
        INVALID_REQUEST,
        'No server of the bundle has a request of this id on its way.',
      )
    requests.delete(Number(number))
    return this.#notify(request.member, edited(frame, [setMember(frame.root, 'id', request.id)]))
  }

  async #notification(frame: Frame): Promise<ClientResponse> {
    const { members, requests, setup } = this.#parts
    const { method, params, text } = frame
    if (method === 'notifications/initialized') setup.initialized(text)
    const token = method === 'notifications/progress' ? memberIn(params, 'progressToken')?.value : undefined
    if (token !== undefined) {
      const request = requests.get(sourceOf(text, token))
      if (request?.token === undefined) return { form: 'none', status: 202 }
      return this.#notify(request.member, frameOf(applyEdits(text, [{ ...token, text: request.token }])))
    }
    // whoever has no request of its id does nothing about a cancel
    await Promise.all(members.map((member) => this.#notify(member, frame)))
    return { form: 'none', status: 202 }
  }

  async #notify({ running }: Member, frame: Frame): Promise<ClientResponse> {
    await running?.clientRelay.take(frame)
    return { form: 'none', status: 202 }
  }
}

const noRoute = ({ id }: Frame, { code, reason }: NoRoute): ClientResponse => errorResponse(200, id, code, reason)
