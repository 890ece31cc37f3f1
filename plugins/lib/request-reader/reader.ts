import { isUtf8 } from 'node:buffer'
import type { ApiStyle, ReadRequest } from 'guard-gateway/core'
import { GuardError, thrownBy } from 'guard-gateway/core'
import { KeptBodies } from './body-cache.ts'
import { KnownFrames } from './envelope-cache.ts'
import { LatestList } from './last-parsed-list.ts'
import type { Known } from './list-scan.ts'
import { readAnew } from './parse-full.ts'
import { readOn } from './parse-incremental.ts'
import { BodyPrints, begins } from './prefix-checksums.ts'
import { KnownTools } from './tools-cache.ts'

/** Smaller bodies are read anew each time: remembering them costs more. */
const WORTH_KEEPING = 2048

/** What is known of one element, hashes mostly. */
const ELEMENT_BYTES = 600

/**
 * Reads request bodies, and remembers what it made of them for those that begin alike: at most 32 MiB of bodies, and little more.
 * Each gateway has one of its own. What one style made of a body is never taken for another's, were their ids the same.
 */
export class RequestReader {
  readonly #kept = new KeptBodies<Known>(({ elements }) => elements.length * ELEMENT_BYTES)
  readonly #prints = new BodyPrints()
  readonly #parts = { frames: new KnownFrames(), tools: new KnownTools(), latest: new LatestList() }
  readonly #numbers = new WeakMap<ApiStyle, number>()
  #styles = 0

  /**
   * Reads a request body for a style. Of a body that begins like earlier ones of the same `hint` (a session's id, or an empty text)
   * only what is new is parsed and hashed; one that begins like no other is remembered by a print alone.
   * Throws INVALID_BODY for anything but one JSON object within limits.
   */
  read(style: ApiStyle, body: Buffer, hint: string): ReadRequest {
    return thrownBy(`api-style:${style.id}`, () => this.#read(style, body, hint))
  }

  /** Frees all that is remembered; what is read later is remembered again. */
  forget(): void {
    this.#kept.clear()
    this.#prints.clear()
    this.#parts.frames.clear()
    this.#parts.tools.clear()
    this.#parts.latest.clear()
  }

  #read(style: ApiStyle, body: Buffer, hint: string): ReadRequest {
    if (!isUtf8(body)) throw new GuardError('INVALID_BODY', 'The request body is not UTF-8.')
    if (body.length < WORTH_KEEPING) return readAnew(style, body, this.#parts)
    const name = `${this.#numberOf(style)} ${hint}`
    const bodies = this.#kept.named(name)
    if (!bodies.some((earlier) => begins(body, earlier)) && !this.#prints.continues(name, body))
      return readAnew(style, body, this.#parts)
    const { request, known, earlier } = readOn(style, body, bodies)
    this.#kept.keep(name, body, known, earlier)
    return request
  }

  #numberOf(style: ApiStyle): number {
    const known = this.#numbers.get(style)
    if (known !== undefined) return known
    this.#numbers.set(style, ++this.#styles)
    return this.#styles
  }
}

/** Reads one request body by itself, as `RequestReader` does. */
export const readRequest = (style: ApiStyle, body: Buffer): ReadRequest => new RequestReader().read(style, body, '')
