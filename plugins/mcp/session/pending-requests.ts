import { roundedKey } from 'guard-gateway/lib/json-rpc'
import type { Entry } from '../audit/index.ts'

/** A request on its way, or being judged. */
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
  /** Its stream has ended before its answer, which a stream that takes it up again may bring. */
  orphaned?: boolean
  state: 'judging' | 'forwarded' | 'cancelled' | 'answered'
}

/** Whether an answer's key is that of a request, as the server keeps it. */
export const isAnswer = (key: string | undefined, request: string | undefined): boolean =>
  request !== undefined && (key === request || roundedKey([request], key ?? '') !== undefined)

/** How many requests that are over are remembered: an answer that comes late, or again on a stream that was taken up again, is still passed on. */
const MAX_OVER = 256

/** Requests of one direction that have no answer yet, by type and value of their ids. */
export class PendingRequests {
  readonly #limit: number
  readonly #requests = new Map<string, PendingRequest>()
  readonly #over = new Map<string, PendingRequest>()

  constructor(limit: number) {
    this.#limit = limit
  }

  get size(): number {
    return this.#requests.size
  }

  /** `twice`: a request of this id is on its way. `full`: as many are as may be. */
  add(key: string, request: PendingRequest): 'added' | 'duplicate' | 'full' {
    if (this.#requests.has(key)) return 'duplicate'
    if (this.#requests.size >= this.#limit) return 'full'
    this.#over.delete(key)
    this.#requests.set(key, request)
    return 'added'
  }

  /** The key of the request that an answer belongs to whose server has rounded its id. */
  rounded(key: string): string | undefined {
    return roundedKey(this.#sent(), key)
  }

  /** The request that an answer belongs to, which is over with it. What is still being judged has none: it was not sent. */
  takeSent(key: string): PendingRequest | undefined {
    const request = this.#requests.get(key)
    return request === undefined || isSent(request) ? this.take(key) : undefined
  }

  /** The same for one that still waits for its answer. */
  takeWaiting(key: string): PendingRequest | undefined {
    return this.#requests.has(key) ? this.takeSent(key) : undefined
  }

  /** The request of a key, which is over with that. */
  take(key: string): PendingRequest | undefined {
    const requests = this.#requests.has(key) ? this.#requests : this.#over
    const request = requests.get(key)
    requests.delete(key)
    return request
  }

  /** Marks a request as cancelled; gives what it was before, undefined if there is none that can be. An `initialize` cannot. */
  cancel(key: string): { readonly request: PendingRequest; readonly was: 'judging' | 'forwarded' } | undefined {
    const request = this.#requests.get(key)
    if (request === undefined || request.method === 'initialize') return
    const was = request.state
    if (was !== 'judging' && was !== 'forwarded') return
    request.state = 'cancelled'
    if (was === 'judging') return { request, was }
    this.#requests.delete(key)
    this.#remember(key, request)
    return { request, was }
  }

  /** Remembers a request whose answer its server may send again to a client that has missed it. */
  answered(key: string, request: PendingRequest): void {
    request.state = 'answered'
    this.#remember(key, request)
  }

  #remember(key: string, request: PendingRequest): void {
    if (this.#over.size >= MAX_OVER) {
      const [oldest = ''] = this.#over.keys()
      this.#over.delete(oldest)
    }
    this.#over.set(key, request)
  }

  /** Whether one that was sent and waits for its answer is like that. */
  some(like: (request: PendingRequest) => boolean): boolean {
    for (const request of this.#requests.values()) if (isSent(request) && like(request)) return true
    return false
  }

  /** A request of this id and method is on its way. */
  has(key: string, method: string): boolean {
    return this.#requests.get(key)?.method === method
  }

  /** Marks a request as one that no stream in hand will answer. */
  orphan(key: string): void {
    const request = this.#requests.get(key)
    if (request !== undefined) request.orphaned = true
  }

  /** Those that no stream in hand will answer; none of them is left afterwards. */
  takeOrphaned(): readonly PendingRequest[] {
    const orphaned = [...this.#requests].filter(([, request]) => request.orphaned === true)
    for (const [key] of orphaned) this.#requests.delete(key)
    return orphaned.map(([, request]) => request)
  }

  /** All that are left; none is afterwards. */
  takeAll(): readonly PendingRequest[] {
    const left = [...this.#requests.values()]
    this.#requests.clear()
    this.#over.clear()
    return left
  }

  /** The key of the only request that was sent; undefined if there are none or several. `orphaned`: of those that no stream in hand will answer. */
  only(orphaned: boolean): string | undefined {
    const [only, ...more] = [...this.#requests].filter(
      ([, request]) => isSent(request) && (request.orphaned || !orphaned),
    )
    return more.length === 0 ? only?.[0] : undefined
  }

  /** The keys of what the server has got. */
  *#sent(): Generator<string> {
    for (const [key, request] of this.#requests) if (isSent(request)) yield key
  }
}

const isSent = ({ state }: PendingRequest): boolean => state === 'forwarded'
