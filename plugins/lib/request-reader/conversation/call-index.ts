import type { ClosedTurn } from './turns.ts'

/** A call by the turn that it stands in. */
export interface CallPlace {
  readonly turn: ClosedTurn
  readonly call: number
}

/** Where the latest call of an id stands; `earlier` is another of that id, for when turns are taken back. */
interface IndexedPlace extends CallPlace {
  readonly position: number
  readonly earlier: IndexedPlace | undefined
}

/** Finds calls by their ids. Most results belong to the last turn, so turns are indexed only once another one is looked for. */
export class CallIndex {
  readonly #turns: readonly ClosedTurn[]
  readonly #places = new Map<string, IndexedPlace>()
  /** Of how many first turns the calls are in the index. */
  #indexed = 0

  /** `turns`: those so far; they may be taken back, and others put in their place, after `cut`. */
  constructor(turns: readonly ClosedTurn[]) {
    this.#turns = turns
  }

  /** The latest call of this id. */
  find(id: string): CallPlace | undefined {
    return callAmongFew(this.#turns.at(-1), id) ?? this.#anywhere(id)
  }

  /** Only so many first turns are left. */
  cut(turns: number): void {
    this.#indexed = Math.min(this.#indexed, turns)
  }

  #anywhere(id: string): CallPlace | undefined {
    for (; this.#indexed < this.#turns.length; this.#indexed++) this.#index(this.#indexed)
    return this.#placeOf(id)
  }

  #index(position: number): void {
    const turn = this.#turns[position]
    turn?.calls.forEach(({ id }, call) => {
      if (id !== null) this.#places.set(id, { turn, position, call, earlier: this.#placeOf(id) })
    })
  }

  #placeOf(id: string): IndexedPlace | undefined {
    let place = this.#places.get(id)
    while (place !== undefined && this.#turns[place.position] !== place.turn) place = place.earlier
    return place
  }
}

/** Turns with more calls are indexed at once: each result would look through them all. */
const FEW_CALLS = 8

/** The last call of this id in a turn of few calls. */
const callAmongFew = (turn: ClosedTurn | undefined, id: string): CallPlace | undefined => {
  if (turn === undefined || turn.calls.length > FEW_CALLS) return undefined
  for (let call = turn.calls.length - 1; call >= 0; call--) if (turn.calls[call]?.id === id) return { turn, call }
  return undefined
}
