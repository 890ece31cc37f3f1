import type { Conversation, LooseResult } from 'guard-gateway/core'
import { CallIndex, type CallPlace } from './call-index.ts'
import { Link } from './hash-chain.ts'
import type { CallPiece, MessagePiece, Piece, ResultPiece, TextPiece } from './hashed-parts.ts'
import { asTurn, type ClosedTurn, type OpenTurn, turnHash } from './turns.ts'
import { tipOfBoth, WholeChain } from './whole-chain.ts'

/** Where a fold stood at some point; cheap to take, and enough to go back. */
export interface Mark {
  readonly talk: Link
  readonly turns: number
  readonly results: number
  readonly users: number
  readonly systems: number
  readonly besides: number
  readonly loose: number
  readonly system: Link
  readonly full: Link | null
  readonly bytes: number
  readonly open: OpenTurn | null
  readonly openTexts: number
  readonly openCalls: number
}

/** A conversation's hashes and turns, and the tip that covers every item of it. */
export type Folded = Pick<
  Conversation,
  'chain' | 'talk' | 'turns' | 'systems' | 'besides' | 'loose_results' | 'text_bytes'
> & {
  readonly full: string
}

/**
 * Turns pieces, one after another, into the hashes and turns of a conversation.
 * It can go back to an earlier mark, so that a history seen before is not folded again.
 */
export class Fold {
  readonly #turns: ClosedTurn[] = []
  /** Which turn got each result, and each user message, in order. */
  readonly #results: ClosedTurn[] = []
  readonly #users: ClosedTurn[] = []
  readonly #systems: number[] = []
  readonly #besides: number[] = []
  readonly #loose: LooseResult[] = []
  readonly #calls = new CallIndex(this.#turns)
  /** All items but those of the system. */
  #talk = Link.from('')
  /** The system items, each with its place in the talk. */
  #system = Link.from('')
  /** Holds what chains leave out; null while that is nothing, and the chain says it all. */
  #full: Link | null = null
  #bytes = 0
  #open: OpenTurn | null = null

  mark(): Mark {
    return {
      talk: this.#talk,
      turns: this.#turns.length,
      results: this.#results.length,
      users: this.#users.length,
      systems: this.#systems.length,
      besides: this.#besides.length,
      loose: this.#loose.length,
      system: this.#system,
      full: this.#full,
      bytes: this.#bytes,
      open: this.#open,
      openTexts: this.#open?.texts.length ?? 0,
      openCalls: this.#open?.calls.length ?? 0,
    }
  }

  backTo(mark: Mark): void {
    while (this.#results.length > mark.results) this.#changed(this.#results.pop())?.results.pop()
    while (this.#users.length > mark.users) {
      const turn = this.#changed(this.#users.pop())
      if (turn !== undefined) turn.users--
    }
    cut(this.#turns, mark.turns)
    this.#calls.cut(mark.turns)
    cut(this.#systems, mark.systems)
    cut(this.#besides, mark.besides)
    cut(this.#loose, mark.loose)
    this.#talk = mark.talk
    this.#system = mark.system
    this.#full = mark.full
    this.#bytes = mark.bytes
    this.#open = mark.open
    if (mark.open === null) return
    mark.open.texts.length = mark.openTexts
    mark.open.calls.length = mark.openCalls
  }

  add(piece: Piece): void {
    this.#bytes += piece.bytes
    if (piece.kind !== 'text' && piece.kind !== 'call') this.#item(piece)
    else if (this.#open === null) this.#open = openedBy(piece)
    else if (piece.kind === 'text') this.#open.texts.push(piece.full)
    else this.#open.calls.push(piece)
  }

  /** The conversation so far, and the tip that covers every item; leaves the fold as it was. */
  conversation(): Folded {
    const mark = this.mark()
    this.#close()
    const systems = this.#systems.slice()
    const folded = {
      chain: new WholeChain(this.#system, this.#talk, systems),
      talk: this.#talk,
      turns: this.#turns.map(asTurn),
      systems,
      besides: this.#besides.slice(),
      loose_results: this.#loose.slice(),
      text_bytes: this.#bytes,
      full: this.#full?.tip ?? tipOfBoth(this.#system, this.#talk),
    }
    this.backTo(mark)
    return folded
  }

  #item(piece: MessagePiece | ResultPiece): void {
    this.#close()
    if (piece.kind === 'result') this.#result(piece)
    else this.#message(piece)
  }

  #message(piece: MessagePiece): void {
    this.#append(piece.kind, piece.full, piece.chain)
    if (piece.chain === null) return
    const turn = this.#turns.at(-1)
    if (piece.kind === 'system') this.#systems.push(this.#last)
    else if (piece.kind === 'beside') this.#besides.push(this.#last)
    else if (piece.kind === 'user' && turn !== undefined) {
      this.#users.push(turn)
      this.#changed(turn)
      turn.users++
    }
  }

  #append(kind: string, full: string, chain: string | null): void {
    if (this.#full === null && full !== chain) this.#full = Link.from(tipOfBoth(this.#system, this.#talk))
    if (this.#full !== null) this.#full = this.#full.with(kind + full)
    if (chain === null) return
    if (kind === 'system') this.#system = this.#system.with(`${this.#talk.length}:${chain}`)
    else this.#talk = this.#talk.with(kind + chain)
  }

  /** Position of the last item. */
  get #last(): number {
    return this.#system.length + this.#talk.length - 1
  }

  #close(): void {
    const open = this.#open
    if (open === null) return
    this.#open = null
    const hash = turnHash(open)
    this.#append('turn', hash, hash)
    const turn: ClosedTurn = { calls: open.calls, item: this.#last, results: [], users: 0, made: null }
    this.#turns.push(turn)
  }

  #result(piece: ResultPiece): void {
    this.#append('result', piece.full, piece.full)
    const { id, result, error, passed, pending, served } = piece
    const place = this.#callOf(id)
    if (place !== undefined) {
      this.#changed(place.turn)
      const pairing = { call: place.call, result, error, passed, pending, served }
      if (place.turn.results.length === 0) place.turn.results = [pairing]
      else place.turn.results.push(pairing)
      this.#results.push(place.turn)
    } else if (id !== null) this.#loose.push({ id, result, error, passed, pending })
  }

  /** The call a result belongs to: by id, else the next of the last turn's calls. */
  #callOf(id: string | null): CallPlace | undefined {
    const named = id === null ? undefined : this.#calls.find(id)
    if (named !== undefined) return named
    const turn = this.#turns.at(-1)
    const call = turn?.results.length ?? 0
    const next = turn?.calls[call]
    if (turn === undefined || next === undefined || (id !== null && next.id !== null)) return undefined
    return { turn, call }
  }

  #changed(turn: ClosedTurn | undefined): ClosedTurn | undefined {
    if (turn !== undefined) turn.made = null
    return turn
  }
}

/** A list that is made with its only element takes a sixth of one that it is added to. */
const openedBy = (piece: TextPiece | CallPiece): OpenTurn =>
  piece.kind === 'text' ? { texts: [piece.full], calls: [] } : { texts: [], calls: [piece] }

/** Setting a length costs, even to what it is. */
const cut = (list: unknown[], length: number): void => {
  if (list.length > length) list.length = length
}
