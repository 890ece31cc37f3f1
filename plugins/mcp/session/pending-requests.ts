import { LRU } from 'tiny-lru'
import { roundedKey } from '#lib/json-rpc'
import type { Entry } from '../audit/index.ts'
import type { CompiledResultCheck } from '../policy/compiled.ts'

/** A request that is being judged, or that waits for its response. */
export interface PendingRequest {
  readonly method: string
  /** Source text of its id. */
  readonly id: string
  /** Of a `tools/list`: the cursor it asked for. */
  readonly cursor?: string | undefined
  /** Of a `tools/list` that was answered: the hash of its page. */
  page?: string
  /** Of a `tools/call`: which tool, and its place among the records from when it is forwarded until it has ended. */
  tool?: string
  entry?: Entry | undefined
  /** Checks of its result. */
  results?: readonly CompiledResultCheck[] | undefined
  /** Its stream ended before its response; a resumed stream may still bring it. */
  orphaned?: boolean
  state: 'judging' | 'forwarded' | 'cancelled' | 'answered'
}

/** Whether the key of a response is that of a request; a server may have rounded a number. */
export const isAnswer = (key: string | undefined, request: string | undefined): boolean =>
  request !== undefined && (key === request || roundedKey([request], key ?? '') !== undefined)

/** How many finished requests are remembered: a response that comes late, or again on a resumed stream, is still passed on. */
const MAX_OVER = 256

/** Requests of one direction without a response, by type and value of their ids. */
export class PendingRequests {
  readonly #limit: number
  readonly #requests = new Map<string, PendingRequest>()
  readonly #over = new LRU<PendingRequest>(MAX_OVER)

  constructor(limit: number) {
    this.#limit = limit
  }

  get size(): number {
    return this.#requests.size
  }

  /** `duplicate`: a request of this id is pending. `full`: the limit is reached. */
  add(key: string, request: PendingRequest): 'added' | 'duplicate' | 'full' {
    if (this.#requests.has(key)) return 'duplicate'
    if (this.#requests.size >= this.#limit) return 'full'
    this.#over.delete(key)
    this.#requests.set(key, request)
    return 'added'
  }

  /** The key of the request that a response belongs to whose server has rounded the id. */
  rounded(key: string): string | undefined {
    return roundedKey(this.#sent(), key)
  }

  /** Takes the request that a response belongs to. A request that is still being judged was not sent, and so is not taken. */
  takeSent(key: string): PendingRequest | undefined {
    const request = this.#requests.get(key)
    return request === undefined || isSent(request) ? this.take(key) : undefined
  }

  /** The same for a request that still waits for its response. */
  takeWaiting(key: string): PendingRequest | undefined {
    return this.#requests.has(key) ? this.takeSent(key) : undefined
  }

  /** Takes the request of a key. */
  take(key: string): PendingRequest | undefined {
    const requests = this.#requests.has(key) ? this.#requests : this.#over
    const request = requests.get(key)
    requests.delete(key)
    return request
  }

  /** Marks a request as cancelled and gives its state before; undefined if it cannot be cancelled, as an `initialize`. */
  cancel(key: string): { readonly request: PendingRequest; readonly was: 'judging' | 'forwarded' } | undefined {
    const request = this.#requests.get(key)
    if (request === undefined || request.method === 'initialize') return
    const was = request.state
    if (was !== 'judging' && was !== 'forwarded') return
    request.state = 'cancelled'
    if (was === 'judging') return { request, was }
    this.#requests.delete(key)
    this.#over.set(key, request)
    return { request, was }
  }

  /** Remembers a request whose response may be sent again, for a client that missed it. */
  answered(key: string, request: PendingRequest): void {
    request.state = 'answered'
    this.#over.set(key, request)
  }

  /** Whether a request that was sent and waits for its response fits. */
  some(like: (request: PendingRequest) => boolean): boolean {
    for (const request of this.#requests.values()) if (isSent(request) && like(request)) return true
    return false
  }

  /** A request of this key and method is pending. */
  has(key: string, method: string): boolean {
    return this.#requests.get(key)?.method === method
  }

  /** Marks a request as one that no open stream will answer. */
  orphan(key: string): void {
    const request = this.#requests.get(key)
    if (request !== undefined) request.orphaned = true
  }

  /** Takes the requests that no open stream will answer. */
  takeOrphaned(): readonly PendingRequest[] {
    const orphaned = [...this.#requests].filter(([, request]) => request.orphaned === true)
    for (const [key] of orphaned) this.#requests.delete(key)
    return orphaned.map(([, request]) => request)
  }

  /** Takes all requests. */
  takeAll(): readonly PendingRequest[] {
    const left = [...this.#requests.values()]
    this.#requests.clear()
    this.#over.clear()
    return left
  }

  /** The key of the only request that was sent; undefined if there are none or several. `orphaned`: of those that no open stream will answer. */
  only(orphaned: boolean): string | undefined {
    const [only, ...more] = [...this.#requests].filter(
      ([, request]) => isSent(request) && (request.orphaned || !orphaned),
    )
    return more.length === 0 ? only?.[0] : undefined
  }

  /** Keys of the requests that were sent. */
  *#sent(): Generator<string> {
    for (const [key, request] of this.#requests) if (isSent(request)) yield key
  }
}

const isSent = ({ state }: PendingRequest): boolean => state === 'forwarded'
