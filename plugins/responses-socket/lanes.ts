import type { Call } from 'guard-gateway/core'
import type { CreateClient } from './create-client.ts'
import type { UpstreamEvent } from './upstream-event.ts'

/** So many responses that have ended are remembered, since what follows may name them. */
const MAX_ENDED = 64

/** What is kept of a response, since what follows may name it; nothing that was said. */
export interface KnownResponse extends Partial<Pick<Call, 'session' | 'mode'>> {
  readonly stream_id: string | undefined
  readonly model: string
}

const knownOf = ({ stream_id, call }: CreateClient): KnownResponse => ({
  stream_id,
  model: call?.envelope.model ?? '',
  ...(call === undefined ? {} : { session: call.session, mode: call.mode }),
})

/** Requests that were sent on one connection, by lane: those of one lane are answered one after another, lanes side by side. */
export class Lanes {
  readonly #lanes = new Map<string | undefined, CreateClient[]>()
  readonly #byResponse = new Map<string, CreateClient>()
  readonly #ended = new Map<string, KnownResponse>()
  /** Lanes in which a response follows that nobody has asked for by a request. */
  readonly #successions = new Set<string | undefined>()
  size = 0

  add(client: CreateClient): void {
    const lane = this.#lanes.get(client.stream_id)
    if (lane === undefined) this.#lanes.set(client.stream_id, [client])
    else lane.push(client)
    this.size++
  }

  /** The upstream has begun to answer. */
  began(client: CreateClient, response_id: string | undefined): void {
    this.#successions.delete(client.stream_id)
    if (response_id === undefined) return
    client.response_id = response_id
    this.#byResponse.set(response_id, client)
  }

  remove(client: CreateClient, steered = false): void {
    const lane = this.#lanes.get(client.stream_id)
    const at = lane?.indexOf(client) ?? -1
    if (lane === undefined || at === -1) return
    lane.splice(at, 1)
    if (lane.length === 0) this.#lanes.delete(client.stream_id)
    this.size--
    if (steered) this.#successions.add(client.stream_id)
    const { response_id } = client
    if (response_id === undefined) return
    this.#byResponse.delete(response_id)
    this.#ended.set(response_id, knownOf(client))
    const [oldest] = this.#ended.keys()
    if (this.#ended.size > MAX_ENDED && oldest !== undefined) this.#ended.delete(oldest)
  }

  /** The request that a message belongs to; undefined: none, which for a response that begins means that nobody asked for it. */
  ownerOf({ kind, stream_id, response_id }: UpstreamEvent): CreateClient | undefined {
    const named = response_id === undefined ? undefined : this.#byResponse.get(response_id)
    if (named !== undefined) return named
    if (kind === 'created' && this.#successions.has(stream_id)) return undefined
    const first = this.#lanes.get(stream_id)?.[0] ?? (stream_id === undefined ? this.#only : undefined)
    return kind === 'created' && first?.response_id !== undefined ? undefined : first
  }

  /** A response by its id, also one of those that ended last. */
  response(response_id: string): KnownResponse | undefined {
    const running = this.#byResponse.get(response_id)
    return running === undefined ? this.#ended.get(response_id) : knownOf(running)
  }

  all(): readonly CreateClient[] {
    return [...this.#lanes.values()].flat()
  }

  get #only(): CreateClient | undefined {
    return this.size === 1 ? this.all()[0] : undefined
  }
}
