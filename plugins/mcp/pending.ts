import { roundedKey } from 'guard-gateway/core'
import type { Entry } from './audit/index.ts'

/** A request on its way, or being judged. */
export interface PendingRequest {
  readonly method: string
  /** Source text of its id. */
  readonly id: string
  /** Of a `tools/list`: the cursor it asked for. */
  readonly cursor?: string | undefined
  /** Of a `tools/call`: which tool, and its place among the records from when it is forwarded until it has ended. */
  tool?: string
  entry?: Entry | undefined
  /** Its answer may be passed on although the call cannot be recorded. */
  unrecorded?: boolean
  /** Its stream has ended before its answer, which a stream that takes it up again may bring. */
  loose?: boolean
  state: 'judging' | 'forwarded' | 'cancelled'
}

/** Whether an answer's key is that of a request, as the server keeps it. */
export const isAnswer = (key: string | undefined, request: string | undefined): boolean =>
  request !== undefined && (key === request || roundedKey([request], key ?? '') !== undefined)

/** How many cancelled requests are remembered: a late answer is still passed on. */
const MAX_CANCELLED = 256

/** Requests of one direction that have no answer yet, by type and value of their ids. */
export class Pending {
  readonly #limit: number
  readonly #requests = new Map<string, PendingRequest>()
  readonly #cancelled = new Map<string, PendingRequest>()

  constructor(limit: number) {
    this.#limit = limit
  }

  get size(): number {
    return this.#requests.size
  }

  /** `twice`: a request of this id is on its way. `full`: as many are as may be. */
  add(key: string, request: PendingRequest): 'added' | 'twice' | 'full' {
    if (this.#requests.has(key)) return 'twice'
    if (this.#requests.size >= this.#limit) return 'full'
    this.#cancelled.delete(key)
    this.#requests.set(key, request)
    return 'added'
  }

  /** The key of the request that an answer belongs to whose server has rounded its id. */
  rounded(key: string): string | undefined {
    return roundedKey(this.#requests.keys(), key)
  }

  /** The request that an answer belongs to, which is over with it. */
  take(key: string): PendingRequest | undefined {
    const requests = this.#requests.has(key) ? this.#requests : this.#cancelled
    const request = requests.get(key)
    requests.delete(key)
    return request
  }

  /** Marks a request as cancelled; gives what it was before, undefined if there is none that can be. An `initialize` cannot. */
  cancel(key: string): { readonly request: PendingRequest; readonly was: 'judging' | 'forwarded' } | undefined {
    const request = this.#requests.get(key)
    if (request === undefined || request.state === 'cancelled' || request.method === 'initialize') return
    const was = request.state
    request.state = 'cancelled'
    if (was === 'judging') return { request, was }
    this.#requests.delete(key)
    if (this.#cancelled.size >= MAX_CANCELLED) {
      const [oldest = ''] = this.#cancelled.keys()
      this.#cancelled.delete(oldest)
    }
    this.#cancelled.set(key, request)
    return { request, was }
  }

  /** Marks a request as one that no stream in hand will answer. */
  loosen(key: string): void {
    const request = this.#requests.get(key)
    if (request !== undefined) request.loose = true
  }

  /** Those that no stream in hand will answer; none of them is left afterwards. */
  takeLoose(): readonly PendingRequest[] {
    const loose = [...this.#requests].filter(([, request]) => request.loose === true)
    for (const [key] of loose) this.#requests.delete(key)
    return loose.map(([, request]) => request)
  }

  /** All that are left; none is afterwards. */
  takeAll(): readonly PendingRequest[] {
    const left = [...this.#requests.values()]
    this.#requests.clear()
    this.#cancelled.clear()
    return left
  }

  /** The key of the only request there is; undefined if there are none or several. */
  only(): string | undefined {
    const [key] = this.#requests.size === 1 ? this.#requests.keys() : []
    return key
  }
}
