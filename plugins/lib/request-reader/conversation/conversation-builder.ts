import type { Chain, Conversation, LooseResult } from 'guard-gateway/core'
import { CallIndex, type CallLocation } from './call-index.ts'
import { HashChain } from './hash-chain.ts'
import type { HashedCall, HashedMessage, HashedPart, HashedResult, HashedText } from './hashed-parts.ts'
import { asTurn, type ClosedTurn, type OpenTurn, turnHash } from './turns.ts'

/** A checkpoint of a builder: cheap to take, and enough to roll back to. */
export interface Checkpoint {
  readonly talk: HashChain
  readonly turns: number
  readonly results: number
  readonly users: number
  readonly systems: number
  readonly besides: number
  readonly loose: number
  readonly system: HashChain
  readonly full: HashChain | null
  readonly bytes: number
  readonly open: OpenTurn | null
  readonly openTexts: number
  readonly openCalls: number
}

/** The hashes and turns of a conversation. `full`: the tip that covers every item of it. */
export type BuiltConversation = Pick<
  Conversation,
  'chain' | 'talk' | 'turns' | 'systems' | 'besides' | 'loose_results' | 'text_bytes'
> & {
  readonly full: string
}

/**
 * Builds the hashes and turns of a conversation from hashed parts, one after another.
 * It can roll back to a checkpoint, so that a history that was read before is not added again.
 */
export class ConversationBuilder {
  readonly #turns: ClosedTurn[] = []
  /** The turn of each result, and of each user message, in order. */
  readonly #results: ClosedTurn[] = []
  readonly #users: ClosedTurn[] = []
  readonly #systems: number[] = []
  readonly #besides: number[] = []
  readonly #loose: LooseResult[] = []
  readonly #calls = new CallIndex(this.#turns)
  /** The chain of all items that are not system items. */
  #talk = HashChain.from('')
  /** The chain of system items, each with its position in the talk. */
  #system = HashChain.from('')
  /** The chain that also covers what the other chains leave out; null while they leave out nothing. */
  #full: HashChain | null = null
  #bytes = 0
  #open: OpenTurn | null = null

  checkpoint(): Checkpoint {
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

  rollback(checkpoint: Checkpoint): void {
    while (this.#results.length > checkpoint.results) this.#invalidate(this.#results.pop())?.results.pop()
    while (this.#users.length > checkpoint.users) {
      const turn = this.#invalidate(this.#users.pop())
      if (turn !== undefined) turn.users--
    }
    truncate(this.#turns, checkpoint.turns)
    this.#calls.truncate(checkpoint.turns)
    truncate(this.#systems, checkpoint.systems)
    truncate(this.#besides, checkpoint.besides)
    truncate(this.#loose, checkpoint.loose)
    this.#talk = checkpoint.talk
    this.#system = checkpoint.system
    this.#full = checkpoint.full
    this.#bytes = checkpoint.bytes
    this.#open = checkpoint.open
    if (checkpoint.open === null) return
    checkpoint.open.texts.length = checkpoint.openTexts
    checkpoint.open.calls.length = checkpoint.openCalls
  }

  add(part: HashedPart): void {
    this.#bytes += part.bytes
    if (part.kind !== 'text' && part.kind !== 'call') this.#addItem(part)
    else if (this.#open === null) this.#open = openTurn(part)
    else if (part.kind === 'text') this.#open.texts.push(part.full)
    else this.#open.calls.push(part)
  }

  /** The conversation so far. The builder stays unchanged. */
  conversation(): BuiltConversation {
    const checkpoint = this.checkpoint()
    this.#closeTurn()
    const systems = this.#systems.slice()
    const built = {
      chain: new ConversationChain(this.#system, this.#talk, systems),
      talk: this.#talk,
      turns: this.#turns.map(asTurn),
      systems,
      besides: this.#besides.slice(),
      loose_results: this.#loose.slice(),
      text_bytes: this.#bytes,
      full: this.#full?.tip ?? combinedTip(this.#system, this.#talk),
    }
    this.rollback(checkpoint)
    return built
  }

  #addItem(part: HashedMessage | HashedResult): void {
    this.#closeTurn()
    if (part.kind === 'result') this.#addResult(part)
    else this.#addMessage(part)
  }

  #addMessage(part: HashedMessage): void {
    this.#append(part.kind, part.full, part.chain)
    if (part.chain === null) return
    const turn = this.#turns.at(-1)
    if (part.kind === 'system') this.#systems.push(this.#lastPosition)
    else if (part.kind === 'beside') this.#besides.push(this.#lastPosition)
    else if (part.kind === 'user' && turn !== undefined) {
      this.#users.push(turn)
      this.#invalidate(turn)
      turn.users++
    }
  }

  #append(kind: string, full: string, chain: string | null): void {
    if (this.#full === null && full !== chain) this.#full = HashChain.from(combinedTip(this.#system, this.#talk))
    if (this.#full !== null) this.#full = this.#full.with(kind + full)
    if (chain === null) return
    if (kind === 'system') this.#system = this.#system.with(`${this.#talk.length}:${chain}`)
    else this.#talk = this.#talk.with(kind + chain)
  }

  /** The position of the last item. */
  get #lastPosition(): number {
    return this.#system.length + this.#talk.length - 1
  }

  #closeTurn(): void {
    const open = this.#open
    if (open === null) return
    this.#open = null
    const hash = turnHash(open)
    this.#append('turn', hash, hash)
    const turn: ClosedTurn = { calls: open.calls, item: this.#lastPosition, results: [], users: 0, cached: null }
    this.#turns.push(turn)
  }

  #addResult(part: HashedResult): void {
    this.#append('result', part.full, part.full)
    const { id, result, error, passed, pending, notice, served } = part
    const location = this.#callOf(id)
    if (location !== undefined) {
      this.#invalidate(location.turn)
      const pairing = { call: location.call, result, error, passed, pending, notice, served }
      if (location.turn.results.length === 0) location.turn.results = [pairing]
      else location.turn.results.push(pairing)
      this.#results.push(location.turn)
    } else if (id !== null) this.#loose.push({ id, result, error, passed, pending, notice })
  }

  /** The call that a result belongs to: the call of its id, else the next call of the last turn. */
  #callOf(id: string | null): CallLocation | undefined {
    const named = id === null ? undefined : this.#calls.find(id)
    if (named !== undefined) return named
    const turn = this.#turns.at(-1)
    const call = turn?.results.length ?? 0
    const next = turn?.calls[call]
    if (turn === undefined || next === undefined || (id !== null && next.id !== null)) return undefined
    return { turn, call }
  }

  #invalidate(turn: ClosedTurn | undefined): ClosedTurn | undefined {
    if (turn !== undefined) turn.cached = null
    return turn
  }
}

/** An array literal with its only element takes a sixth of the memory of an array that the element is pushed to. */
const openTurn = (part: HashedText | HashedCall): OpenTurn =>
  part.kind === 'text' ? { texts: [part.full], calls: [] } : { texts: [], calls: [part] }

/** Setting the length of an array costs time, even if it does not change. */
const truncate = (list: unknown[], length: number): void => {
  if (list.length > length) list.length = length
}

/** The chain of all items of a conversation. System items have a chain of their own, so that their changes do not change the tips of the talk. */
class ConversationChain implements Chain {
  readonly length: number
  readonly #system: HashChain
  readonly #talk: HashChain
  readonly #systems: readonly number[]

  /** `systems`: the positions of the system items among all items. */
  constructor(system: HashChain, talk: HashChain, systems: readonly number[]) {
    this.length = system.length + talk.length
    this.#system = system
    this.#talk = talk
    this.#systems = systems
  }

  get tip(): string {
    return combinedTip(this.#system, this.#talk)
  }

  tipOf(items: number): string | undefined {
    if (items <= 0 || items > this.length) return
    let count = this.#systems.length
    while (count > 0 && (this.#systems[count - 1] ?? 0) >= items) count--
    const system = this.#system.prefix(count)
    const talk = this.#talk.prefix(items - count)
    return system && talk && combinedTip(system, talk)
  }

  longestIn(tips: ReadonlySet<string>): number {
    let system = this.#system
    let talk = this.#talk
    let length = this.length
    while (length > 0 && !tips.has(combinedTip(system, talk))) {
      length--
      if (this.#systems[system.length - 1] === length) system = system.before ?? system
      else talk = talk.before ?? talk
    }
    return length
  }
}

/** The tip of all items: of the system items and of the others. */
const combinedTip = (system: HashChain, talk: HashChain): string => system.tip + talk.tip
