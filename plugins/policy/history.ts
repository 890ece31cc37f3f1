import type { Conversation, Ended, Row, Session, Turn } from 'guard-gateway/core'
import { endIn, type Known, type RepliedCall, tipsOf } from 'guard-gateway/lib/threads'
import { Memories } from './memories.ts'
import { nothingUsed, type Used } from './used.ts'

/** Refused requests that a session remembers. */
export const BLOCKED_ROWS = 16
const REPLIED_CALLS = 512
/** Conversations of a session of which totals are kept. */
const THREADS = 64

/** Bytes that a history takes by itself, with each row, and with each turn and each call of a row; as measured, about. */
const BYTES = { history: 1_500, row: 900, call: 150 }

/** What is left of a turn whose calls nobody looks at any more; shared by all rows. */
const husk = (user_after: boolean): Turn => Object.freeze({ calls: Object.freeze([]), item: 0, user_after })
const SPOKEN = husk(true)
const SILENT = husk(false)

const isHusk = (turn: Turn | undefined): boolean => turn === SPOKEN || turn === SILENT

const bytesOf = ({ new_turns }: Row): number => {
  let calls = 0
  for (const turn of new_turns) if (!isHusk(turn)) calls += 1 + turn.calls.length
  return BYTES.row + calls * BYTES.call
}

/** What a session's past means to its rules: hashes, counts and outcomes of its last requests. */
export class History implements Known {
  readonly rows: Row[] = []
  readonly window: Row[] = []
  readonly replied = new Map<string, RepliedCall>()
  /** In completion order, oldest first, since the last resume. */
  readonly outcomes: Ended[] = []
  fresh = 0
  straight = true
  limit = 64
  /** Tokens held by requests under way. */
  reserved = 0
  /** Requests that used tokens without a price; after a restart counted from the rows that are remembered. */
  unpriced = 0
  /** Id of the request that probes the upstream. */
  probe: string | null = null
  /** Of memory, about. */
  bytes = BYTES.history
  /** How many of these are in the sum of all sessions. */
  counted = 0
  /** When it was last moved to the end of all histories, counted in such moves. */
  placed = 0
  readonly #session: Session
  /** The conversation used last, and what it has used: most requests go on with it. */
  #thread = ''
  #used = nothingUsed()
  /** Of the others, least recently used first. */
  readonly #others = new Map<string, Used>()
  readonly #memories: Memories
  /** Some row may be without calls. */
  #isThin = false
  #tips: readonly string[] = []
  #seen: ReadonlySet<string> = new Set()

  /** `memories` is shared by all sessions, so that all of them together are bounded. */
  constructor(session: Session, memories: Memories = new Memories()) {
    this.#session = session
    this.#memories = memories
    session.tips = () => tipsOf(this.rows)
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
    this.straight = this.#goesOn(row)
    this.rows.unshift(row)
    this.bytes += bytesOf(row)
    this.fresh++
    const blocked = row.decision === 'block'
    if (!blocked && !row.retry) this.window.unshift(row)
    if (this.window.length > this.limit) this.window.length = this.limit
    this.#trim(blocked, blocked ? BLOCKED_ROWS : this.limit)
  }

  /** What a conversation has used so far; kept of the last 64, after a restart counted from the rows that are remembered. */
  usedBy(thread: string): Used {
    if (thread === this.#thread) return this.#used
    if (this.#thread !== '') this.#others.set(this.#thread, this.#used)
    const used = this.#others.get(thread)
    if (used !== undefined) this.#others.delete(thread)
    else if (this.#others.size === THREADS) this.#others.delete(this.#others.keys().next().value ?? '')
    this.#thread = thread
    this.#used = used ?? nothingUsed()
    return this.#used
  }

  /** What the conversations have used of which that is known. */
  used(): readonly Readonly<Used>[] {
    return this.#thread === '' ? [] : [this.#used, ...this.#others.values()]
  }

  /** A request of this conversation used tokens that nobody knows a price of. */
  noteUnpriced(thread: string): void {
    this.unpriced++
    this.usedBy(thread).unpriced++
  }

  /** What a detector remembers of a conversation. */
  memory(thread: string, detector: string): Map<string, unknown> {
    return this.#memories.of(this.#session.row.id, thread, detector)
  }

  /** Lets go of the calls of a row's turns before its last one. */
  thin(row: Row): void {
    if (row.new_turns.length < 2 || !this.rows.includes(row)) return
    this.bytes -= bytesOf(row)
    row.new_turns = [
      ...row.new_turns.slice(0, -1).map(({ user_after }) => (user_after ? SPOKEN : SILENT)),
      ...row.new_turns.slice(-1),
    ]
    this.bytes += bytesOf(row)
    this.#isThin = true
  }

  /**
   * Takes the calls back that the beginning of `row`'s conversation has let go of, from a request that holds this conversation: a
   * later one may go on from its reply and leave them out.
   */
  regain(row: Row, conversation: Conversation): void {
    if (!this.#isThin) return
    let root = row
    for (const earlier of this.rows) if (earlier.id === root.parent) root = earlier
    const { new_turns } = root
    if (!isHusk(new_turns[0])) return
    const end = endIn(conversation, root)
    const held = conversation.turns.filter(({ item }) => item < end)
    this.bytes -= bytesOf(root)
    root.new_turns = new_turns.map((turn, index) => {
      const whole = isHusk(turn) ? held.at(index - new_turns.length) : undefined
      return whole === undefined ? turn : { ...whole, user_after: turn.user_after }
    })
    this.bytes += bytesOf(root)
  }

  /** Begins the loop windows and the error streak anew; what is known of threads stays. */
  clear(): void {
    this.fresh = 0
    this.window.length = 0
    this.outcomes.length = 0
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

  /** The session can do without it: what it needs later is read anew. */
  leave(): void {
    delete this.#session.tips
    delete this.#session.cleared
  }

  /** Lets go of what is held for requests that nobody will settle, for example after a failure behind the decision. */
  release(): void {
    this.probe = null
    if (this.reserved === 0) return
    this.reserved = 0
    this.#used.reserved = 0
    for (const used of this.#others.values()) used.reserved = 0
  }

  /** All rows are of one conversation, and this one is the newest again or makes it longer. */
  #goesOn({ parent, items, chain_tip, decision }: Row): boolean {
    const [newest] = this.rows
    if (newest === undefined || !this.straight || decision === 'block') return decision !== 'block' && this.straight
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
