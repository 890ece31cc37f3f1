import type { Conversation } from '../call.ts'
import { Link } from './links.ts'
import type { CallPiece, MessagePiece, Piece, ResultPiece, TextPiece } from './pieces.ts'
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

/** Where the latest call of an id stands; `earlier` is another of that id, for when the fold goes back. */
interface CallPlace {
  readonly turn: ClosedTurn
  readonly position: number
  readonly call: number
  readonly earlier: CallPlace | undefined
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
  readonly #loose: { readonly id: string; readonly result: string | null; readonly error: boolean }[] = []
  readonly #callIds = new Map<string, CallPlace>()
  /** Of how many first turns the calls are found by their ids. */
  #indexed = 0
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
    this.#indexed = Math.min(this.#indexed, mark.turns)
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
    const { id, result, error } = piece
    const place = this.#callOf(id)
    if (place !== undefined) {
      this.#changed(place.turn)
      const pairing = { call: place.call, result, error }
      if (place.turn.results.length === 0) place.turn.results = [pairing]
      else place.turn.results.push(pairing)
      this.#results.push(place.turn)
    } else if (id !== null) this.#loose.push({ id, result, error })
  }

  /** The call a result belongs to: by id, else the next of the last turn's calls. */
  #callOf(id: string | null): { turn: ClosedTurn; call: number } | undefined {
    const turn = this.#turns.at(-1)
    if (turn === undefined) return undefined
    const { calls, results } = turn
    const named = id === null ? undefined : (callAmongFew(turn, id) ?? this.#earlier(id))
    if (named !== undefined) return named
    const next = calls[results.length]
    return next === undefined || (id !== null && next.id !== null) ? undefined : { turn, call: results.length }
  }

  /** The latest call of this id; most results belong to the last turn, so turns are indexed once another one is looked for. */
  #earlier(id: string): CallPlace | undefined {
    for (; this.#indexed < this.#turns.length; this.#indexed++) this.#index(this.#indexed)
    return this.#placeOf(id)
  }

  #index(position: number): void {
    const turn = this.#turns[position]
    turn?.calls.forEach((call, place) => {
      if (call.id !== null) this.#callIds.set(call.id, { turn, position, call: place, earlier: this.#placeOf(call.id) })
    })
  }

  #placeOf(id: string): CallPlace | undefined {
    let place = this.#callIds.get(id)
    while (place !== undefined && this.#turns[place.position] !== place.turn) place = place.earlier
    return place
  }

  #changed(turn: ClosedTurn | undefined): ClosedTurn | undefined {
    if (turn !== undefined) turn.made = null
    return turn
  }
}

/** Turns with more calls are indexed at once: each result would look through them all. */
const FEW_CALLS = 8

/** The last call of this id in a turn of few calls. */
const callAmongFew = (turn: ClosedTurn, id: string): { turn: ClosedTurn; call: number } | undefined => {
  const { calls } = turn
  if (calls.length > FEW_CALLS) return undefined
  for (let call = calls.length - 1; call >= 0; call--) if (calls[call]?.id === id) return { turn, call }
  return undefined
}

/** A list that is made with its only element takes a sixth of one that it is added to. */
const openedBy = (piece: TextPiece | CallPiece): OpenTurn =>
  piece.kind === 'text' ? { texts: [piece.full], calls: [] } : { texts: [], calls: [piece] }

/** Setting a length costs, even to what it is. */
const cut = (list: unknown[], length: number): void => {
  if (list.length > length) list.length = length
}
