import type { ProviderSocket } from './socket-provider.ts'

/** A request for a response, as far as a provider looks at it. */
export interface CreateMessage {
  readonly type: string
  readonly model?: string
  readonly stream_id?: string
  readonly previous_response_id?: string | null
  readonly generate?: boolean
  readonly input?: unknown
  readonly [name: string]: unknown
}

/** How one request is answered. What is absent is as a well-behaved provider does it. */
export interface SocketScript {
  /** Exactly these messages. */
  readonly messages?: readonly (object | string | Buffer)[]
  /** The response calls this tool. */
  readonly call?: { readonly name: string; readonly arguments: string }
  readonly text?: string
  readonly usage?: object
  /** An error instead of a response. */
  readonly error?: { readonly status: number; readonly code: string; readonly type?: string; readonly message?: string }
  /** After so many messages the connection is cut. */
  readonly cut_at?: number
  /** After so many messages it is closed with `close`. */
  readonly close_at?: number
  readonly close?: { readonly code: number; readonly reason: string }
  /** After so many messages nothing more comes. */
  readonly stall_at?: number
  /** Waits before its last message. */
  readonly until?: Promise<unknown>
}

let responses = 0

const newResponse = (): string => {
  responses++
  return `resp_${responses}`
}

/** Answers the requests of one connection: those of a lane one after another, lanes side by side. */
export class SocketLanes {
  readonly #socket: ProviderSocket
  readonly #next: () => SocketScript
  readonly #known = new Set<string>()
  readonly #tails = new Map<string, Promise<void>>()
  /** Responses that user input was queued for. */
  readonly #steered = new Map<string, unknown>()

  constructor(socket: ProviderSocket, next: () => SocketScript, creates: CreateMessage[]) {
    this.#socket = socket
    this.#next = next
    socket.socket.on('message', (data) => {
      const message = JSON.parse(String(data)) as CreateMessage
      if (message.type === 'response.steer') this.#steered.set(String(message.previous_response_id), message.input)
      if (message.type !== 'response.create') return
      creates.push(message)
      const script = this.#next()
      const lane = message.stream_id ?? ''
      const tail = this.#tails.get(lane) ?? Promise.resolve()
      this.#tails.set(
        lane,
        tail.then(() => this.#answer(message, script)),
      )
    })
  }

  async #answer(create: CreateMessage, script: SocketScript): Promise<void> {
    const id = newResponse()
    const messages = script.messages ?? this.#messages(create, script, id)
    for (const [index, message] of messages.entries()) {
      if (this.#stops(script, index)) return
      if (index === messages.length - 1) await script.until
      if (index === messages.length - 1 && this.#steered.has(id)) return this.#succeed(create, id)
      this.#socket.send(message)
    }
    this.#known.add(id)
  }

  #stops({ cut_at, close_at, close, stall_at }: SocketScript, index: number): boolean {
    if (cut_at === index) this.#socket.cut()
    else if (close_at === index) this.#socket.socket.close(close?.code, close?.reason)
    return [cut_at, close_at, stall_at].includes(index)
  }

  #messages(create: CreateMessage, script: SocketScript, id: string): readonly object[] {
    const lane = create.stream_id === undefined ? {} : { stream_id: create.stream_id }
    const { previous_response_id: before } = create
    if (typeof before === 'string' && !this.#known.has(before))
      return [errorMessage({ status: 400, code: 'previous_response_not_found' }, lane)]
    if (script.error !== undefined) return [errorMessage(script.error, lane)]
    const response = { id, object: 'response', model: create.model, previous_response_id: before ?? null }
    const created = { type: 'response.created', response: { ...response, status: 'in_progress', usage: null }, ...lane }
    const usage = script.usage ?? {
      input_tokens: 20,
      output_tokens: create.generate === false ? 0 : 5,
      total_tokens: 25,
    }
    if (create.generate === false)
      return [
        created,
        { type: 'response.completed', response: { ...response, status: 'completed', output: [], usage }, ...lane },
      ]
    const { text = 'Hello there.', call } = script
    const item =
      call === undefined
        ? { type: 'message', id: 'item_1', role: 'assistant', content: [{ type: 'output_text', text }] }
        : { type: 'function_call', id: 'item_1', call_id: `call_${id}`, ...call }
    const words = call === undefined ? text.split(/(?<= )/) : []
    return [
      created,
      ...words.map((delta) => ({ type: 'response.output_text.delta', item_id: 'item_1', delta, ...lane })),
      { type: 'response.output_item.done', output_index: 0, item, ...lane },
      { type: 'response.completed', response: { ...response, status: 'completed', output: [item], usage }, ...lane },
    ]
  }

  /** The response ends early, and another one follows by itself. */
  async #succeed(create: CreateMessage, id: string): Promise<void> {
    const lane = create.stream_id === undefined ? {} : { stream_id: create.stream_id }
    const response = { id, object: 'response', model: create.model, status: 'incomplete', output: [] }
    const usage = { input_tokens: 7, output_tokens: 1, total_tokens: 8 }
    this.#socket.send({
      type: 'response.incomplete',
      response: { ...response, incomplete_details: { reason: 'steered' }, usage },
      ...lane,
    })
    this.#known.add(id)
    await this.#answer({ ...create, previous_response_id: id, input: this.#steered.get(id) }, {})
  }
}

/** An error as the provider says it. */
export const errorMessage = (
  { status, code, type = 'invalid_request_error', message = `It says ${code}.` }: NonNullable<SocketScript['error']>,
  more: object = {},
): object => ({ type: 'error', status, error: { type, code, message, param: null }, ...more })
