import type { ClosedTurn } from './turns.ts'

/** A call by its turn and its index there. */
export interface CallLocation {
  readonly turn: ClosedTurn
  readonly call: number
}

/** The location of the latest call of an id. `earlier`: an earlier call of the same id, for a rollback. */
interface IndexedCall extends CallLocation {
  readonly position: number
  readonly earlier: IndexedCall | undefined
}

/** Finds calls by their ids. Most results belong to the last turn, so turns are indexed only when a call of another turn is searched. */
export class CallIndex {
  readonly #turns: readonly ClosedTurn[]
  readonly #byId = new Map<string, IndexedCall>()
  /** The calls of so many first turns are in the index. */
  #indexed = 0

  /** `turns`: the turns so far. A rollback may remove turns, and calls `truncate`. */
  constructor(turns: readonly ClosedTurn[]) {
    this.#turns = turns
  }

  /** The latest call of this id. */
  find(id: string): CallLocation | undefined {
    return findInTurn(this.#turns.at(-1), id) ?? this.#findIndexed(id)
  }

  /** Keeps only so many first turns. */
  truncate(turns: number): void {
    this.#indexed = Math.min(this.#indexed, turns)
  }

  #findIndexed(id: string): CallLocation | undefined {
    for (; this.#indexed < this.#turns.length; this.#indexed++) this.#index(this.#indexed)
    return this.#latest(id)
  }

  #index(position: number): void {
    const turn = this.#turns[position]
    turn?.calls.forEach(({ id }, call) => {
      if (id !== null) this.#byId.set(id, { turn, position, call, earlier: this.#latest(id) })
    })
  }

  #latest(id: string): IndexedCall | undefined {
    let found = this.#byId.get(id)
    while (found !== undefined && this.#turns[found.position] !== found.turn) found = found.earlier
    return found
  }
}

/** Turns with more calls are indexed at once, since every result would search through all of them. */
const FEW_CALLS = 8

/** The last call of this id in a turn of few calls; undefined for a turn of many. */
const findInTurn = (turn: ClosedTurn | undefined, id: string): CallLocation | undefined => {
  if (turn === undefined || turn.calls.length > FEW_CALLS) return undefined
  for (let call = turn.calls.length - 1; call >= 0; call--) if (turn.calls[call]?.id === id) return { turn, call }
  return undefined
}
