import { isUtf8 } from 'node:buffer'
import { type ApiStyle, GuardError, withErrorOrigin } from 'guard-gateway/core'
import { type RequestTarget, targetOf } from '#lib/api-style'
import { MemoryBudget } from '#lib/memory-budget'
import { BodyCache } from './body-cache.ts'
import type { BodyState } from './list-scan.ts'
import { parseIncremental } from './parse-incremental.ts'
import type { ReadRequest } from './requests.ts'
import type { Spoken } from './spoken.ts'

/** Smaller bodies are parsed in full each time: a cache entry would cost more. In bytes. */
const MIN_CACHED_BYTES = 2048

/** Bytes of the state of one element, about; mostly hashes. */
const ELEMENT_BYTES = 600

/**
 * Reads request bodies, and caches bodies and their state for later bodies that start alike, as many as the memory budget has room for.
 * Each gateway has its own reader. Entries are separate for each API style object, even if two styles have the same id.
 */
export class RequestReader {
  readonly #bodies: BodyCache<BodyState>
  readonly #styleIds = new WeakMap<ApiStyle, number>()
  #lastStyleId = 0

  constructor(budget: MemoryBudget = new MemoryBudget()) {
    this.#bodies = new BodyCache(({ elements }) => elements.length * ELEMENT_BYTES, budget)
  }

  /**
   * Reads a request body for a style. If the body starts like an earlier one of the same `hint` (a session id, or an empty text), only
   * its new elements are parsed and hashed. `target`: where the request was sent.
   * Throws INVALID_BODY unless the body is one JSON object within limits.
   */
  read(style: ApiStyle, body: Buffer, hint: string, target: RequestTarget = targetOf(style)): ReadRequest {
    return withErrorOrigin(`api-style:${style.id}`, () => this.#read({ style, target }, body, hint))
  }

  /** Clears the cache. Later reads fill it again. */
  clear(): void {
    this.#bodies.clear()
  }

  #read(spoken: Spoken, body: Buffer, hint: string): ReadRequest {
    if (!isUtf8(body)) throw new GuardError('INVALID_BODY', 'The request body is not UTF-8.')
    if (body.length < MIN_CACHED_BYTES) return parseIncremental(spoken, body, []).request
    const name = `${this.#styleId(spoken.style)} ${hint} ${spoken.target.path}`
    const bodies = this.#bodies.get(name)
    const { request, state, earlier } = parseIncremental(spoken, body, bodies)
    this.#bodies.set(name, body, state, earlier)
    return request
  }

  #styleId(style: ApiStyle): number {
    const id = this.#styleIds.get(style)
    if (id !== undefined) return id
    this.#styleIds.set(style, ++this.#lastStyleId)
    return this.#lastStyleId
  }
}

/** Reads one request body without caches, with the same result as `RequestReader`. */
export const readRequest = (style: ApiStyle, body: Buffer): ReadRequest => new RequestReader().read(style, body, '')
