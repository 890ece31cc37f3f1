import type { Conversation, Ended, Row, Session, Turn } from 'guard-gateway/core'
import { historyEnd, type KnownRequests, type RepliedCall, threadHeads } from '#lib/threads'
import { DetectorMemory } from './detector-memory.ts'
import { noUsage, type Usage } from './usage.ts'

/** Blocked requests that a history holds. */
export const BLOCKED_ROWS = 16
const REPLIED_CALLS = 512
/** Conversations of a session whose totals are kept. */
const THREADS = 64

/** Estimated bytes of an empty history, of each row, and of each turn and call of a row, from measurements. */
const ESTIMATED_BYTES = { history: 1_500, row: 900, call: 150 }

/** A turn without its calls; shared by all rows. */
const prunedTurn = (user_after: boolean): Turn => Object.freeze({ calls: Object.freeze([]), item: 0, user_after })
const PRUNED_BEFORE_USER = prunedTurn(true)
const PRUNED = prunedTurn(false)

const isPruned = (turn: Turn | undefined): boolean => turn === PRUNED_BEFORE_USER || turn === PRUNED

const bytesOf = ({ new_turns }: Row): number => {
  let calls = 0
  for (const turn of new_turns) if (!isPruned(turn)) calls += 1 + turn.calls.length
  return ESTIMATED_BYTES.row + calls * ESTIMATED_BYTES.call
}

/** The past of a session as its rules see it: hashes, counts and outcomes of its last requests. */
export class History implements KnownRequests {
  readonly rows: Row[] = []
  readonly window: Row[] = []
  readonly replied = new Map<string, RepliedCall>()
  /** In completion order, oldest first, since the last resume. */
  readonly outcomes: Ended[] = []
  fresh = 0
  linear = true
  limit = 64
  /** Tokens reserved by requests in flight. */
  reserved = 0
  /** Requests that used tokens without a price; after a restart counted from the loaded rows. */
  unpriced = 0
  /** Id of the request that probes the upstream. */
  probe: string | null = null
  /** Estimated size in memory. */
  bytes = ESTIMATED_BYTES.history
  /** The part of `bytes` that the sum of all sessions includes. */
  counted = 0
  /** Position of its last move to the end of the LRU list, counted in moves. */
  touched_at = 0
  readonly #session: Session
  /** The conversation used last, and its usage: most requests continue it. */
  #thread = ''
  #usage = noUsage()
  /** Usage of the others, least recently used first. */
  readonly #others = new Map<string, Usage>()
  readonly #memories: DetectorMemory
  /** Some row may be pruned. */
  #hasPruned = false
  #tips: readonly string[] = []
  #seen: ReadonlySet<string> = new Set()

  readonly #isShared: boolean

  /** `memories` is shared by all sessions and bounds all of them together. `isShared`: other processes have requests in flight. */
  constructor(session: Session, memories: DetectorMemory = new DetectorMemory(), isShared = false) {
    this.#session = session
    this.#memories = memories
    this.#isShared = isShared
    session.tips = () => threadHeads(this.rows)
    session.cleared = () => this.clear()
  }

  get seen(): ReadonlySet<string> {
    const tips = this.#session.row.seen_tips
    if (tips !== this.#tips) {
      this.#tips = tips
      this.#seen = new Set(tips)
    }
    return this.#seen
  }

  /** The newest row. */
  append(row: Row): void {
    this.linear = this.#continues(row)
    this.rows.unshift(row)
    this.bytes += bytesOf(row)
    this.fresh++
    const blocked = row.decision === 'block'
    if (!blocked && !row.retry && !row.uncounted) this.window.unshift(row)
    if (this.window.length > this.limit) this.window.length = this.limit
    this.#trim(blocked, blocked ? BLOCKED_ROWS : this.limit)
  }

  /** Takes back a row that was appended. */
  withdraw(row: Row): void {
    const index = this.rows.indexOf(row)
    if (index === -1) return
    this.rows.splice(index, 1)
    this.bytes -= bytesOf(row)
    if (index < this.fresh) this.fresh--
    const place = this.window.indexOf(row)
    if (place !== -1) this.window.splice(place, 1)
    if (this.probe === row.id) this.probe = null
    this.reserved = Math.max(0, this.reserved - row.reserved)
  }

  /** Usage of a conversation; kept for the last 64, after a restart counted from the loaded rows. */
  usageOf(thread: string): Usage {
    if (thread === this.#thread) return this.#usage
    if (this.#thread !== '') this.#others.set(this.#thread, this.#usage)
    const used = this.#others.get(thread)
    if (used !== undefined) this.#others.delete(thread)
    else if (this.#others.size === THREADS) this.#others.delete(this.#others.keys().next().value ?? '')
    this.#thread = thread
    this.#usage = used ?? noUsage()
    return this.#usage
  }

  /** Usage of all conversations that are kept. */
  used(): readonly Readonly<Usage>[] {
    return this.#thread === '' ? [] : [this.#usage, ...this.#others.values()]
  }

  /** Counts a request that used tokens without a known price. */
  noteUnpriced(thread: string): void {
    this.unpriced++
    this.usageOf(thread).unpriced++
  }

  /** The memory of a detector for a conversation. */
  memory(thread: string, detector: string): Map<string, unknown> {
    return this.#memories.of(this.#session.row.id, thread, detector)
  }

  /** Drops the calls of all turns of a row but its last. */
  prune(row: Row): void {
    if (row.new_turns.length < 2 || !this.rows.includes(row)) return
    this.bytes -= bytesOf(row)
    row.new_turns = [
      ...row.new_turns.slice(0, -1).map(({ user_after }) => (user_after ? PRUNED_BEFORE_USER : PRUNED)),
      ...row.new_turns.slice(-1),
    ]
    this.bytes += bytesOf(row)
    this.#hasPruned = true
  }

  /**
   * Restores pruned calls at the beginning of `row`'s conversation, from a request that holds this conversation: a later request may
   * continue its reply without them.
   */
  restore(row: Row, conversation: Conversation): void {
    if (!this.#hasPruned) return
    let root = row
    for (const earlier of this.rows) if (earlier.id === root.parent) root = earlier
    const { new_turns } = root
    if (!isPruned(new_turns[0])) return
    const end = historyEnd(conversation, root)
    const held = conversation.turns.filter(({ item }) => item < end)
    this.bytes -= bytesOf(root)
    root.new_turns = new_turns.map((turn, index) => {
      const whole = isPruned(turn) ? held.at(index - new_turns.length) : undefined
      return whole === undefined ? turn : { ...whole, user_after: turn.user_after }
    })
    this.bytes += bytesOf(root)
  }

  /** Resets the loop windows and the error streak; threads stay known. */
  clear(): void {
    this.fresh = 0
    this.window.length = 0
    this.outcomes.length = 0
  }

  /** Takes a request out of what rules count, since its provider did not run it. */
  uncount(row: Row): void {
    row.uncounted = 'not_run'
    const at = this.window.indexOf(row)
    if (at !== -1) this.window.splice(at, 1)
  }

  ended(ended: Ended): void {
    this.outcomes.push(ended)
    if (this.outcomes.length > this.limit) this.outcomes.shift()
  }

  replies(id: string, call: RepliedCall): void {
    this.replied.delete(id)
    this.replied.set(id, call)
    if (this.replied.size <= REPLIED_CALLS) return
    for (const oldest of this.replied.keys()) {
      this.replied.delete(oldest)
      return
    }
  }

  /** Detaches an evicted history from its session; the next request loads it again. */
  evicted(): void {
    delete this.#session.tips
    delete this.#session.cleared
  }

  /** Releases reservations of requests that never settle, for example after a failure that followed the decision. */
  release(): void {
    if (this.#isShared) return
    this.probe = null
    if (this.reserved === 0) return
    this.reserved = 0
    this.#usage.reserved = 0
    for (const used of this.#others.values()) used.reserved = 0
  }

  /** All rows are of one conversation, and this one repeats or extends the newest. */
  #continues({ parent, items, chain_tip, decision }: Row): boolean {
    const [newest] = this.rows
    if (newest === undefined || !this.linear || decision === 'block') return decision !== 'block' && this.linear
    const beginning = newest.retry ? newest.parent : newest.id
    return chain_tip === newest.chain_tip || (parent === beginning && items > newest.items)
  }

  #trim(blocked: boolean, keep: number): void {
    if (this.rows.length <= keep) return
    let count = 0
    for (let index = 0; index < this.rows.length; index++) {
      const row = this.rows[index]
      if (row === undefined || (row.decision === 'block') !== blocked || ++count <= keep) continue
      this.rows.splice(index, 1)
      this.bytes -= bytesOf(row)
      if (index < this.fresh) this.fresh--
      index--
    }
  }
}
