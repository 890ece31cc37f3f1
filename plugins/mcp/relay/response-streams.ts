import { errorFrame } from '#lib/json-rpc'
import type { McpReply, StreamEvent } from '#lib/mcp-transport'
import type { Session } from '../session/session.ts'
import type { ClientResponse, OutgoingMessage } from './response.ts'
import type { ServerRelay } from './server-relay.ts'

const INTERNAL = -32603

/** Event streams of a server. Each message goes through the relay; a request whose stream ends without a response gets an error. */
export class ResponseStreams {
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
