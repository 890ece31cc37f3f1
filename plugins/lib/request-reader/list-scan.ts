import { type ApiStyle, type Envelope, GuardError, type Part, type ProviderObject } from 'guard-gateway/core'
import { objectsIn } from '#lib/api-style'
import { hasRoundedInteger, readJson } from '#lib/json'
import type { CachedBody } from './body-cache.ts'
import type { Checkpoint, ConversationBuilder } from './conversation/conversation-builder.ts'
import { type HashedPart, hashPart } from './conversation/hashed-parts.ts'
import type { Span } from './member.ts'
import { type MemberVisitor, parseSlice, scanArray, scanObject, skipValue } from './scanner.ts'

/** The span of a value in its body, with the parsed or hashed value. */
export interface Slice<T> extends Span {
  readonly value: T
}

/** The state of a body that was read, for a later body that starts like it. */
export interface BodyState {
  /** The members of the body apart from its list. */
  readonly members: ReadonlyMap<string, Slice<unknown>>
  readonly envelope: Envelope
  /** The elements of the list as hashed parts, with the objects that they name. */
  readonly elements: readonly Slice<HashedElement>[]
  readonly builder: ConversationBuilder
  /** Checkpoints of the builder: before the first element, and before every sixteenth after it. */
  readonly checkpoints: Checkpoint[]
  /** The checkpoint after the last element. */
  end: Checkpoint
  /** The hash of the opening, once it was needed, and the number of elements that it was read from; infinite if more elements could change it. */
  opening: { readonly hash: string; readonly span: number } | undefined
}

/** Shorter values are parsed faster than compared. */
const WORTH_COMPARING = 32

const OPEN_ARRAY = 0x5b

/** One pass over a body: each value is either recognised by its bytes, which equal those of an earlier body, or parsed. */
export class ListScan implements MemberVisitor {
  readonly members = new Map<string, Slice<unknown>>()
  readonly elements: Slice<HashedElement>[] = []
  /** The earlier body whose list has the longest common beginning with this one. */
  earlier: CachedBody<BodyState> | undefined
  /** The number of first elements that equal those of the earlier body. */
  same = 0
  readonly #style: ApiStyle
  readonly #body: Buffer
  readonly #cached: readonly CachedBody<BodyState>[]
  readonly #duplicates: DuplicateMembers

  constructor(style: ApiStyle, body: Buffer, cached: readonly CachedBody<BodyState>[]) {
    this.#style = style
    this.#body = body
    this.#cached = cached
    this.#duplicates = new DuplicateMembers(style.list)
    scanObject(body, this)
  }

  member(name: string, at: number): number {
    this.#duplicates.check(name)
    if (name === this.#style.list && this.#body[at] === OPEN_ARRAY) return this.#scanList(at)
    const slice = this.#fromEarlier(name, at) ?? this.#parse(at)
    this.members.set(name, slice)
    return slice.end
  }

  #fromEarlier(name: string, at: number): Slice<unknown> | undefined {
    for (const { bytes, state } of this.#cached) {
      const slice = state.members.get(name)
      if (slice === undefined || slice.end - slice.start < WORTH_COMPARING) continue
      const { start, end, value } = slice
      if (this.#isEqual(at, bytes, start, end)) return { start: at, end: at + end - start, value }
    }
  }

  #parse(at: number): Slice<unknown> {
    const end = skipValue(this.#body, at, 1)
    return { start: at, end, value: parseSlice(this.#body, at, end) }
  }

  /** Whether the value here equals these bytes. Strings, objects and arrays end with their last byte, so equal bytes are equal values; numbers and literals are parsed instead. */
  #isEqual(at: number, bytes: Buffer, start: number, end: number): boolean {
    return (
      at + end - start <= this.#body.length && this.#isSame(bytes, start, end, at - start) && isClosing(bytes[end - 1])
    )
  }

  /** Whether the bytes of another body from `start` to `end` equal those of this body, `shift` bytes further. */
  #isSame(bytes: Buffer, start: number, end: number, shift: number): boolean {
    return this.#body.compare(bytes, start, end, start + shift, end + shift) === 0
  }

  #scanList(at: number): number {
    let isFirst = true
    let equal = true
    return scanArray(this.#body, at, (start) => {
      if (isFirst) {
        isFirst = false
        this.#chooseEarlier(start)
        if (this.same > 0) return this.#copyElements(start)
      }
      const earlierElement = this.earlier?.state.elements[this.elements.length]
      if (
        earlierElement !== undefined &&
        this.earlier !== undefined &&
        this.#isEqual(start, this.earlier.bytes, earlierElement.start, earlierElement.end)
      ) {
        if (equal) this.same++
        return this.#add(start, start + earlierElement.end - earlierElement.start, earlierElement.value)
      }
      equal = false
      const end = skipValue(this.#body, start, 2)
      return this.#add(start, end, hashedElementAt(this.#style, this.#body, { start, end }))
    })
  }

  /** Copies the first elements, whose bytes are equal, from the earlier body. Returns the end of the last one. */
  #copyElements(first: number): number {
    let end = first
    const shift = first - (this.earlier?.state.elements[0]?.start ?? first)
    for (const earlierElement of this.earlier?.state.elements.slice(0, this.same) ?? []) {
      const moved =
        shift === 0
          ? earlierElement
          : { start: earlierElement.start + shift, end: earlierElement.end + shift, value: earlierElement.value }
      this.elements.push(moved)
      end = moved.end
    }
    return end
  }

  #add(start: number, end: number, value: HashedElement): number {
    this.elements.push({ start, end, value })
    return end
  }

  /** Chooses the earlier body with the most equal first elements. A body with more than half of its elements equal is taken at once. */
  #chooseEarlier(start: number): void {
    let best = -1
    for (const earlier of this.#cached) {
      const count = this.#equalElements(start, earlier)
      if (count > best) {
        best = count
        this.earlier = earlier
        this.same = count
      }
      if (count * 2 > earlier.state.elements.length) return
    }
  }

  /** The number of first elements of an earlier body that are unchanged here, with the white space between them. */
  #equalElements(start: number, { bytes, state }: CachedBody<BodyState>): number {
    const first = state.elements[0]
    if (first === undefined) return 0
    const shift = start - first.start
    let low = 0
    let high = state.elements.length
    // in most bodies all elements are equal
    let middle = high
    let from = first.start
    while (low < high) {
      const to = state.elements[middle - 1]?.end ?? first.end
      if (to + shift <= this.#body.length && this.#isSame(bytes, from, to, shift)) {
        low = middle
        from = to
      } else high = middle - 1
      middle = (low + high + 1) >> 1
    }
    // a number at the end may continue here with more digits
    while (low > 0 && !isClosing(bytes[(state.elements[low - 1]?.end ?? 0) - 1])) low--
    return low
  }
}

const isClosing = (byte: number | undefined): boolean => byte === 0x22 || byte === 0x7d || byte === 0x5d

/** Members that a request of any API style may have only once, since sessions, rules or the reply depend on them: of duplicates, two parsers could read different values. */
const uniqueNames = new Set([
  'cachedContent',
  'cached_content',
  'container',
  'conversation',
  'function_call',
  'functions',
  'input',
  'instructions',
  'max_completion_tokens',
  'max_output_tokens',
  'max_tokens',
  'messages',
  'metadata',
  'model',
  'previous_response_id',
  'prompt',
  'prompt_cache_key',
  'stream',
  'system',
  'tool_choice',
  'tools',
])

/** Checks the members of one body for duplicates. */
class DuplicateMembers {
  readonly #list: string
  readonly #seen = new Set<string>()

  constructor(list: string) {
    this.#list = list
  }

  /** Throws INVALID_BODY for the second member of a name that may occur only once. */
  check(name: string): void {
    if (name !== this.#list && !uniqueNames.has(name)) return
    if (this.#seen.has(name)) {
      throw new GuardError('INVALID_BODY', `The request body holds "${name}" twice.`, { path: `/${name}` })
    }
    this.#seen.add(name)
  }
}

/** What is kept of a list element. */
interface HashedElement {
  readonly parts: readonly HashedPart[]
  readonly objects: readonly ProviderObject[]
}

/** The list element at this span: its parts as hashes, and the objects that it names. */
const hashedElementAt = (style: ApiStyle, body: Buffer, span: Span): HashedElement => {
  const element = parseSlice(body, span.start, span.end)
  const parts = exactParts(style, element, () => readJson(body.toString('utf8', span.start, span.end)))
  return { parts: parts.map(hashPart), objects: objectsIn(element) }
}

/** The parts of an element. If an integer in the arguments of a call may have lost digits, they are taken from `exactly()` instead. */
const exactParts = (style: ApiStyle, element: unknown, exactly: () => unknown): readonly Part[] => {
  const parts = style.parts(element)
  // arguments that are text have every digit
  for (const part of parts)
    if (part.kind === 'call' && typeof part.args === 'object' && hasRoundedInteger(part.args))
      return style.parts(exactly())
  return parts
}
