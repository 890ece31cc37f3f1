import type { ApiStyle, Envelope } from 'guard-gateway/core'
import type { KeptBody } from './body-cache.ts'
import type { Fold, Mark } from './conversation/conversation-builder.ts'
import type { Piece } from './conversation/hashed-parts.ts'
import { piecesAt } from './elements.ts'
import type { Span } from './member.ts'
import { parseSlice, type Skimmer, skimArray, skimObject, skipValue } from './scanner.ts'
import { SingleMembers } from './single-members.ts'

/** Bytes of a value in its body, and what they were read as. */
export interface Slice<T> extends Span {
  readonly value: T
}

/** What stands around the list of a body. */
interface Frame {
  readonly members: ReadonlyMap<string, Slice<unknown>>
  /** How many bytes further than said those members stand that follow the list. */
  readonly moved: number
  readonly envelope: Envelope
}

/** What reading a body left behind, for the next body that begins like it. */
export interface Known extends Frame {
  /** Where the list stands, its brackets included; undefined without one. */
  readonly list: Span | undefined
  /** Elements of the conversation as hashes. */
  readonly elements: readonly Slice<readonly Piece[]>[]
  readonly fold: Fold
  /** The fold before the first element and every sixteenth from there. */
  readonly marks: Mark[]
  /** The fold behind the last one. */
  end: Mark
  /** Once asked for, and how many elements it was read from; infinite if more elements could change it. */
  opening: { readonly hash: string; readonly span: number } | undefined
}

/** Shorter values are parsed sooner than compared. */
const WORTH_COMPARING = 32

const OPEN_ARRAY = 0x5b

/** One pass over a body: every value is either recognised byte for byte from an earlier body, or parsed. */
export class Scan implements Skimmer {
  readonly members = new Map<string, Slice<unknown>>()
  readonly elements: Slice<readonly Piece[]>[] = []
  /** The earlier body whose conversation begins most like this one. */
  earlier: KeptBody<Known> | undefined
  /** How many first elements are equal to the earlier body's. */
  same = 0
  /** Where the list stands, its brackets included. */
  list: Span | undefined
  /** Set where an earlier body's stands around the list. */
  frame: Frame | undefined
  readonly #style: ApiStyle
  readonly #body: Buffer
  readonly #kept: readonly KeptBody<Known>[]
  readonly #single: SingleMembers

  constructor(style: ApiStyle, body: Buffer, kept: readonly KeptBody<Known>[]) {
    this.#style = style
    this.#body = body
    this.#kept = kept
    this.#single = new SingleMembers(style.list)
    if (!this.#framed()) skimObject(body, this)
  }

  /** Reads the list alone where all around it is as in an earlier body; false if it is not. */
  #framed(): boolean {
    for (const { bytes, length, state } of this.#kept) {
      if (state.list === undefined) continue
      const { start, end } = state.list
      const grown = this.#body.length - length
      if (end + grown < start + 2 || !this.#same(bytes, 0, start + 1, 0) || !this.#same(bytes, end - 1, length, grown))
        continue
      if (this.#list(start) === end + grown) {
        this.frame = { members: state.members, moved: state.moved + grown, envelope: state.envelope }
        return true
      }
      this.elements.length = 0
      this.earlier = undefined
      this.same = 0
      return false
    }
    return false
  }

  member(name: string, at: number): number {
    this.#single.note(name)
    if (name === this.#style.list && this.#body[at] === OPEN_ARRAY) return this.#list(at)
    const slice = this.#known(name, at) ?? this.#parsed(at)
    this.members.set(name, slice)
    return slice.end
  }

  #known(name: string, at: number): Slice<unknown> | undefined {
    for (const { bytes, state } of this.#kept) {
      const slice = state.members.get(name)
      if (slice === undefined || slice.end - slice.start < WORTH_COMPARING) continue
      const moved = state.list !== undefined && slice.start > state.list.start ? state.moved : 0
      const start = slice.start + moved
      const end = slice.end + moved
      if (this.#equal(at, bytes, start, end)) return { start: at, end: at + end - start, value: slice.value }
    }
  }

  #parsed(at: number): Slice<unknown> {
    const end = skipValue(this.#body, at, 1)
    return { start: at, end, value: parseSlice(this.#body, at, end) }
  }

  /** Strings, objects and arrays end by themselves, so equal bytes are equal values; numbers and words are left to the parser. */
  #equal(at: number, bytes: Buffer, start: number, end: number): boolean {
    return at + end - start <= this.#body.length && this.#same(bytes, start, end, at - start) && closes(bytes[end - 1])
  }

  /** Whether these bytes of another body stand here too, so many bytes further. */
  #same(bytes: Buffer, start: number, end: number, shift: number): boolean {
    return this.#body.compare(bytes, start, end, start + shift, end + shift) === 0
  }

  #list(at: number): number {
    let isFirst = true
    let equal = true
    const behind = skimArray(this.#body, at, (start) => {
      if (isFirst) {
        isFirst = false
        this.#choose(start)
        if (this.same > 0) return this.#takeOver(start)
      }
      const known = this.earlier?.state.elements[this.elements.length]
      if (
        known !== undefined &&
        this.earlier !== undefined &&
        this.#equal(start, this.earlier.bytes, known.start, known.end)
      ) {
        if (equal) this.same++
        return this.#add(start, start + known.end - known.start, known.value)
      }
      equal = false
      const end = skipValue(this.#body, start, 2)
      return this.#add(start, end, piecesAt(this.#style, this.#body, { start, end }))
    })
    this.list = { start: at, end: behind }
    return behind
  }

  /** Takes the first elements from the earlier body, whose bytes up to there are equal; gives the end of the last one. */
  #takeOver(first: number): number {
    let end = first
    const shift = first - (this.earlier?.state.elements[0]?.start ?? first)
    for (const known of this.earlier?.state.elements.slice(0, this.same) ?? []) {
      const moved = shift === 0 ? known : { start: known.start + shift, end: known.end + shift, value: known.value }
      this.elements.push(moved)
      end = moved.end
    }
    return end
  }

  #add(start: number, end: number, value: readonly Piece[]): number {
    this.elements.push({ start, end, value })
    return end
  }

  /** The earlier body with the longest equal beginning; one that is equal for more than half of its length is taken at once. */
  #choose(start: number): void {
    let best = -1
    for (const earlier of this.#kept) {
      const count = this.#leading(start, earlier)
      if (count > best) {
        best = count
        this.earlier = earlier
        this.same = count
      }
      if (count * 2 > earlier.state.elements.length) return
    }
  }

  /** How many of an earlier body's elements stand here unchanged, spacing between them included. */
  #leading(start: number, { bytes, state }: KeptBody<Known>): number {
    const first = state.elements[0]
    if (first === undefined) return 0
    const shift = start - first.start
    let low = 0
    let high = state.elements.length
    // all of them in most bodies
    let middle = high
    let from = first.start
    while (low < high) {
      const to = state.elements[middle - 1]?.end ?? first.end
      if (to + shift <= this.#body.length && this.#same(bytes, from, to, shift)) {
        low = middle
        from = to
      } else high = middle - 1
      middle = (low + high + 1) >> 1
    }
    // behind a number that ended there, digits may stand here
    while (low > 0 && !closes(bytes[(state.elements[low - 1]?.end ?? 0) - 1])) low--
    return low
  }
}

const closes = (byte: number | undefined): boolean => byte === 0x22 || byte === 0x7d || byte === 0x5d
