import type { Call, Conversation, Row, ToolCall, Turn } from 'guard-gateway/core'
import { sha256 } from '#lib/ids'
import { resultOfCall, whilePending } from '#lib/tools'
import { joinedTurns } from './new-turns.ts'

/** What is known of a session's requests when a new one is placed. Rows are newest first. */
export interface KnownRequests {
  /** Forwarded rows, retries among them, and the last blocked ones. */
  readonly rows: readonly Row[]
  /** Number of the newest rows after the last resume. */
  readonly fresh: number
  /** Rows that loop rules count: forwarded, no retries, after the last resume. */
  readonly window: readonly Row[]
  /** Tips that a resume marked as seen. */
  readonly seen: ReadonlySet<string>
  /** Tool calls of replies, by call id. */
  readonly replied: ReadonlyMap<string, RepliedCall>
  /** Each row continues from the one before it, so that what continues from the newest does so from all. */
  readonly linear?: boolean
  /** The most rows, and turns of one row, that are remembered. */
  readonly limit: number
}

/** A tool call of a reply. */
export type RepliedCall = Pick<ToolCall, 'key' | 'tool' | 'effect'>

/** Position of a turn that a body answers without holding it. */
const NOT_IN_BODY = -1

/**
 * The turns of a body that leaves its history out. Before them is the turn that it answers, with those of its calls that are known
 * from replies; `continues` says that there is one even if none are, for example a turn of words.
 */
export const ownTurns = (
  conversation: Conversation,
  { replied }: Pick<KnownRequests, 'replied'>,
  continues: boolean,
): readonly Turn[] => {
  const { loose_results, turns } = conversation
  const calls = new Map<string, ToolCall>()
  for (const loose of loose_results) {
    const { id, error, passed, pending } = loose
    const call = replied.get(id)
    if (call !== undefined)
      calls.set(call.key, {
        ...call,
        id,
        result: resultOfCall(call.key, loose),
        error,
        passed,
        effect: pending ? whilePending(call.effect) : call.effect,
      })
  }
  if (calls.size === 0 && (turns.length > 0 || !continues)) return turns
  // Beside system items and results such a body holds user messages only, unless it has turns of its own.
  const user_after = turns.length === 0 && conversation.talk.length > loose_results.length
  const sorted = [...calls.values()].sort((a, b) => (a.key < b.key ? -1 : 1))
  return [{ calls: sorted, item: NOT_IN_BODY, user_after }, ...turns]
}

const answered = new WeakMap<Call, Turn>()

/** Keeps what is known of the turn that a body answers without holding it, for whoever looks at turns one by one. */
export const noteAnsweredTurn = (call: Call, [first]: readonly Turn[]): void => {
  if (first?.item === NOT_IN_BODY) answered.set(call, first)
}

/** The turn that a body answers without holding it, with its calls as far as replies have told them; undefined where none is known. */
export const answeredTurn = (call: Call): Turn | undefined => answered.get(call)

/** Whether later requests continue from this one: what the provider was to keep of a request that failed is not kept. */
export const isContinued = ({ outcome, new_turns }: Pick<Row, 'outcome' | 'new_turns'>): boolean =>
  outcome === null || outcome === 'ok' || new_turns[0]?.item !== NOT_IN_BODY

/** The turns of the rows that lead up to `parent`, it included, oldest first; only what came after the last resume. */
export const earlierTurns = (parent: Row, { rows, fresh, limit }: KnownRequests): readonly Turn[] => {
  const earlier: Row[] = []
  let expectedId: string | null = parent.id
  let count = 0
  for (let index = 0; index < fresh && count < limit; index++) {
    const row = rows[index]
    if (row === undefined || row.id !== expectedId) continue
    earlier.push(row)
    count += row.new_turns.length
    expectedId = row.parent
  }
  return joinedTurns(earlier.reverse())
}

/** The same turn, sent again: equal calls with equal ids. */
export const sameTurn = (one: Turn | undefined, other: Turn): boolean =>
  one !== undefined &&
  one.calls.length === other.calls.length &&
  one.calls.every(
    (call, index) => call.id !== null && call.id === other.calls[index]?.id && call.key === other.calls[index]?.key,
  )

/** The thread of a conversation that the provider keeps. Ids of an unusual form are hashed, since threads are recorded. */
export const conversationThread = (id: string): string => (/^[\w.-]{1,96}$/.test(id) ? id : sha256(id))

/** The tip of a body that refers to its history: its items are part of one only together with what they refer to. */
export const referenceTip = ({ envelope, conversation }: Call): string => {
  const answered = conversation.loose_results.map((one) => one.id)
  return sha256(
    [envelope.previous_response_id ?? envelope.conversation, ...answered, conversation.chain.tip].join('\0'),
  )
}
