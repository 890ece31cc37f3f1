import type { Call, Conversation, Row, Turn } from 'guard-gateway/core'
import { sha256 } from '#lib/ids'
import { isUserFirst } from './threads/new-turns.ts'
import { endOfTalk, historyEnd, isLonger, isSubagent, search } from './threads/prefixes.ts'
import {
  conversationThread,
  earlierTurns,
  isContinued,
  type KnownRequests,
  noteAnsweredTurn,
  ownTurns,
  referenceTip,
  sameTurn,
} from './threads/provider-stored.ts'

export { joinedTurns } from './threads/new-turns.ts'
export { historyEnd } from './threads/prefixes.ts'
export { answeredTurn, isContinued, type KnownRequests, type RepliedCall } from './threads/provider-stored.ts'

/** Where a request is among the requests of its session, and what of it counts. */
export interface ThreadPlacement {
  /** Id of the request or conversation that started the thread; a subagent's threads end in `~` and a hash of its id. */
  readonly thread: string
  /** Extends nothing known. */
  readonly root: boolean
  /** What later requests that hold this one's items are known by. */
  readonly chain_tip: string
  readonly talk_tip: string
  /** The forwarded row of which this request is another attempt. */
  readonly original: Row | undefined
  /** The row whose turns come before `new_turns`. */
  readonly parent: Row | undefined
  /** Assistant turns that rules may count, oldest first; `user_after` of the last one is final. */
  readonly turns: readonly Turn[]
  /** Call keys of the last turn, if they count for this request. */
  readonly keys: readonly string[]
  readonly new_turns: readonly Turn[]
  /** A user message that the extended row did not hold is before them, or after the last turn where there are none. */
  readonly user_first: boolean
}

const NONE: readonly never[] = Object.freeze([])

/** Places a request among its session's rows. */
export const placeInThread = (call: Call, known: KnownRequests): ThreadPlacement => {
  const original = call.retry_mark ? firstAttempt(call.conversation.fingerprint, known.rows) : undefined
  if (original !== undefined) {
    const { thread, root, chain_tip, talk_tip } = original
    const { turns } = call.conversation
    const nothingNew = { keys: NONE, new_turns: NONE, user_first: false }
    return { thread, root, chain_tip, talk_tip, original, parent: original, turns, ...nothingNew }
  }
  const { previous_response_id, conversation } = call.envelope
  return previous_response_id === null && conversation === null ? byChain(call, known) : byReference(call, known)
}

/**
 * Tips of the newest row of each thread, and of every blocked one, since conversations that started alike share a thread:
 * what a resume marks as seen. `rows` are newest first.
 */
export const threadHeads = (rows: readonly Row[]): string[] => {
  const threads = new Set<string>()
  const tips = new Set<string>()
  for (const row of rows) {
    if (threads.has(row.thread) && row.decision !== 'block') continue
    threads.add(row.thread)
    for (const tip of [row.chain_tip, row.talk_tip]) if (tip !== '') tips.add(tip)
  }
  return [...tips]
}

const byChain = (call: Call, known: KnownRequests): ThreadPlacement => {
  const { conversation } = call
  const suffix = subagentSuffix(call)
  const found = search(conversation, known, suffix)
  const parent = found.chained ?? found.talked
  const root = parent === undefined || (parent.root && !isLonger(conversation, parent))
  const turns = withUserTextAfterBlock(conversation, found.refused)
  const seen = countedFrom(conversation, known.seen)
  const last = turns.at(-1)
  const quiet =
    last === undefined ||
    last.item < seen ||
    found.held > last.item ||
    (found.continues && last.user_after) ||
    (!found.all && isRepeat(conversation, known.window))
  const extended = root ? undefined : parent
  const new_turns = newTurns(turns, extended, conversation, known)
  return {
    thread: parent?.thread ?? call.id + suffix,
    root,
    chain_tip: conversation.chain.tip,
    talk_tip: conversation.talk.tip,
    original: undefined,
    parent: extended,
    turns: turnsFrom(turns, seen),
    keys: quiet ? NONE : keysOf(last),
    new_turns,
    user_first: isUserFirst(turns, new_turns, extended, known.rows),
  }
}

/** Turns after the parent's end; of a new history as many as rules look back. */
const newTurns = (
  turns: readonly Turn[],
  parent: Row | undefined,
  conversation: Conversation,
  { limit }: KnownRequests,
): readonly Turn[] =>
  parent === undefined ? lastOf(turns, ROOT_TURNS) : lastOf(turnsFrom(turns, historyEnd(conversation, parent)), limit)

const lastOf = (turns: readonly Turn[], most: number): readonly Turn[] =>
  turns.length > most ? turns.slice(-most) : turns

const ROOT_TURNS = 16

/**
 * The turns; the last one counts as followed by a user message if a blocked request ended in it and this one has a text beside its
 * results that the blocked one had not: so clients send what their user typed after a refusal.
 */
const withUserTextAfterBlock = ({ turns, besides }: Conversation, refused: readonly number[]): readonly Turn[] => {
  const last = turns.at(-1)
  const beside = besides.at(-1)
  if (refused.length === 0 || beside === undefined || last === undefined || last.user_after || beside < last.item)
    return turns
  if (!refused.some((end) => end > last.item && end <= beside)) return turns
  return [...turns.slice(0, -1), { ...last, user_after: true }]
}

/** Length of the longest beginning that a resume marked as seen. */
const countedFrom = (conversation: Conversation, seen: ReadonlySet<string>): number => {
  if (seen.size === 0) return 0
  const { chain, talk } = conversation
  return Math.max(chain.longestIn(seen), endOfTalk(conversation, talk.longestIn(seen)))
}

/** Turns that stand at `item` or after it: the last few of many, usually. */
const turnsFrom = (turns: readonly Turn[], item: number): readonly Turn[] => {
  let first = item === 0 ? 0 : turns.length
  while (first > 0 && isAt(turns[first - 1], item)) first--
  if (first === 0) return turns
  return first === turns.length ? NONE : turns.slice(first)
}

const isAt = (turn: Turn | undefined, item: number): boolean => turn !== undefined && turn.item >= item

const keysOf = (turn: Turn): readonly string[] => (turn.calls.length === 0 ? NONE : turn.calls.map((call) => call.key))

const isRepeat = ({ fingerprint }: Conversation, window: readonly Row[]): boolean => {
  for (const row of window) if (row.fingerprint === fingerprint) return true
  return false
}

/** A request that refers to its history instead of sending it. */
const byReference = (call: Call, known: KnownRequests): ThreadPlacement => {
  const { conversation } = call
  const suffix = subagentSuffix(call)
  const parent = referencedRow(call, known.rows, suffix)
  const thread = parent?.thread ?? ownThread(call) + suffix
  const tip = referenceTip(call)
  const own = ownTurns(conversation, known, parent !== undefined)
  noteAnsweredTurn(call, own)
  const counted = known.seen.has(tip) ? NONE : own
  const last = counted.at(-1)
  const quiet =
    last === undefined ||
    (parent !== undefined && last.user_after) ||
    isRepeat(conversation, known.window) ||
    known.window.some((row) => row.thread === thread && sameTurn(row.new_turns.at(-1), last))
  return {
    thread,
    root: parent === undefined,
    chain_tip: tip,
    talk_tip: tip,
    original: undefined,
    parent,
    turns: parent === undefined ? counted : [...earlierTurns(parent, known), ...counted],
    keys: quiet ? NONE : keysOf(last),
    new_turns: counted.slice(-known.limit),
    user_first: false,
  }
}

const referencedRow = ({ envelope }: Call, rows: readonly Row[], suffix: string): Row | undefined => {
  const { previous_response_id, conversation } = envelope
  if (previous_response_id !== null) {
    return rows.find((row) => row.response_id === previous_response_id && isSubagent(row.thread, suffix))
  }
  if (conversation === null) return undefined
  const thread = conversationThread(conversation) + suffix
  return rows.find((row) => row.thread === thread && row.decision !== 'block' && isContinued(row))
}

const ownThread = ({ id, envelope }: Call): string =>
  envelope.conversation === null ? id : conversationThread(envelope.conversation)

/** Agents of one session that are told apart: by their ids, or as threads of which one bears the session's id. */
const subagentSuffix = ({ headers, transport, envelope: { hints } }: Call): string => {
  const thread = transport === 'websocket' ? hints['client_metadata.thread_id'] : undefined
  const id = headers['x-claude-code-agent-id'] ?? (thread === hints['client_metadata.session_id'] ? undefined : thread)
  return id === undefined ? '' : `~${sha256(id).slice(0, 16)}`
}

/** Attempts that are one request: official clients make three unless told otherwise, patient ones ten. A mark alone is no way around a rule. */
const MOST_ATTEMPTS = 10

/**
 * The forwarded row of which a request that bears the mark of a retry is another attempt; rows are newest first. None if a request
 * like it was refused since, or if that row has had its attempts: then it is a request of its own.
 */
export const firstAttempt = (fingerprint: string, rows: readonly Row[]): Row | undefined => {
  const alike = rows.filter((row) => row.fingerprint === fingerprint)
  const attempts = alike.filter((row) => row.decision !== 'block')
  const original = attempts.find((row) => !row.retry) ?? attempts[0]
  if (original === undefined) return undefined
  const made = original.retry ? attempts.length : attempts.indexOf(original) + 1
  return made < MOST_ATTEMPTS && !isRefusedSince(original, alike) ? original : undefined
}

const isRefusedSince = (original: Row, alike: readonly Row[]): boolean => {
  const newer = alike.indexOf(original)
  return alike.some(
    ({ decision, last_at }, index) =>
      decision === 'block' && (index < newer || (last_at !== null && last_at > original.at)),
  )
}
