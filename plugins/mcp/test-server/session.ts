import { setTimeout } from 'node:timers/promises'
import { answer, type Exchange, Failure, failure, type Message, outgoing } from './message.ts'
import { levels, methods } from './methods.ts'
import type { TestServer } from './server.ts'
import type { Running, ToolResult } from './tool.ts'

type Result = Readonly<Record<string, unknown>>

/** One client of the test server. */
export class TestSession {
  readonly server: TestServer
  /** Log messages from this level on are sent. */
  level = 'debug'
  readonly watched = new Set<string>()
  capabilities: Result = {}
  readonly #calls = new Map<string | number, AbortController>()
  readonly #asks = new Map<string, PromiseWithResolvers<Result>>()
  readonly #over = new AbortController()
  #requestCount = 0

  constructor(server: TestServer) {
    this.server = server
  }

  /** Takes one message of the client; resolves when everything that belongs to it is sent. Never rejects. */
  async take(message: Message, exchange: Exchange): Promise<void> {
    const { id, method } = message
    if (method === undefined) this.#answered(message)
    else if (id === undefined) this.#notified(message)
    else if (method === 'tools/call') await this.#call(id, message, exchange)
    else exchange.send(this.#result(id, method, message), true)
  }

  /** What the client said that it can do. */
  can(capability: string): boolean {
    return Object.hasOwn(this.capabilities, capability)
  }

  /** Asks the client on the way of a call; rejects with its error, and when the call is cancelled. */
  ask(method: string, params: object, exchange: Exchange, signal: AbortSignal): Promise<Result> {
    const id = `ask-${++this.#requestCount}`
    const pending = Promise.withResolvers<Result>()
    this.#asks.set(id, pending)
    signal.addEventListener('abort', () => pending.reject(signal.reason), { once: true })
    exchange.send(outgoing(method, params, id), false)
    return pending.promise.finally(() => this.#asks.delete(id))
  }

  /** Ends every call that lasts. */
  end(): void {
    this.#over.abort()
  }

  #result(id: string | number, method: string, message: Message): string {
    try {
      const work = Object.hasOwn(methods, method) ? methods[method] : undefined
      if (work === undefined) throw new Failure(-32601, `There is no method ${method}.`)
      const result = work(message, this)
      return answer(id, method === 'tools/list' ? this.server.written(result) : JSON.stringify(result))
    } catch (error) {
      return failure(id, asFailure(error))
    }
  }

  async #call(id: string | number, message: Message, exchange: Exchange): Promise<void> {
    if (this.server.misbehave === 'drop') return exchange.drop()
    const tool = this.server.tool(String(message.params.name))
    if (tool === undefined) {
      const missing = new Failure(-32602, `There is no tool ${String(message.params.name)}.`)
      return exchange.send(failure(id, missing), true)
    }
    const cancel = new AbortController()
    this.#calls.set(id, cancel)
    const signal = AbortSignal.any([cancel.signal, this.#over.signal])
    const { arguments: args } = message.params
    try {
      const input = typeof args === 'object' && args !== null ? (args as Result) : {}
      const result = await tool.call(input, running(this, message, exchange, signal))
      exchange.send(answer(id, this.server.written(result)), true)
    } catch (error) {
      if (!signal.aborted) exchange.send(answer(id, JSON.stringify(failed(error))), true)
    } finally {
      this.#calls.delete(id)
    }
  }

  #answered({ id, result, error }: Message): void {
    const pending = this.#asks.get(String(id))
    if (error !== undefined) pending?.reject(new Error(String(error.message)))
    else pending?.resolve(result ?? {})
  }

  #notified({ method, params: { requestId } }: Message): void {
    if (method !== 'notifications/cancelled') return
    if (typeof requestId === 'string' || typeof requestId === 'number') this.#calls.get(requestId)?.abort()
  }
}

const progressToken = ({ params: { _meta } }: Message): unknown =>
  typeof _meta === 'object' && _meta !== null && 'progressToken' in _meta ? _meta.progressToken : undefined

/** What the tool of one call can do, in the session of the call. */
const running = (session: TestSession, message: Message, exchange: Exchange, signal: AbortSignal): Running => {
  const token = progressToken(message)
  return {
    signal,
    wait: (ms) => setTimeout(ms, undefined, { signal }),
    log(level, data) {
      if (levels.indexOf(level) < levels.indexOf(session.level)) return
      exchange.send(outgoing('notifications/message', { level, logger: 'test-server', data }), false)
    },
    progress(progress, total) {
      if (token === undefined) return
      exchange.send(outgoing('notifications/progress', { progressToken: token, progress, total }), false)
    },
    ask(capability, method, params) {
      if (!session.can(capability)) throw new Failure(-32600, `The client does not have the capability ${capability}.`)
      return session.ask(method, params, exchange, signal)
    },
    letGo: () => exchange.release(),
  }
}

const asFailure = (error: unknown): Failure =>
  error instanceof Failure ? error : new Failure(-32603, error instanceof Error ? error.message : String(error))

const failed = (error: unknown): ToolResult => ({
  content: [{ type: 'text', text: asFailure(error).message }],
  isError: true,
})
