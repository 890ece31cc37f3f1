/**
 * What a call does, as far as its name and its arguments tell: `edit` changes something and does the same when it is made again, `act`
 * does something that may differ each time, `look` only reads, `wait` asks how far something is. Null where nothing tells.
 */
export type ToolEffect = 'edit' | 'act' | 'look' | 'wait'

/** A tool call of the history as rules see it: hashes, names and flags, no text. */
export interface ToolCall {
  /** The first 128 bits of the SHA-256 of name and canonical arguments, hex. */
  readonly key: string
  readonly tool: string
  readonly id: string | null
  /** What the normalised result is known by: 128 bits, hex; null if there is none or it is empty. */
  readonly result: string | null
  readonly error: boolean
  /** It did not fail: the client says so, or the result is short and no failure. */
  readonly passed: boolean
  /** What it does, as far as name, arguments and result tell. */
  readonly effect: ToolEffect | null
}

/** One assistant turn of a request's history. */
export interface Turn {
  /** Distinct by key, sorted by key. */
  readonly calls: readonly ToolCall[]
  /** Position among the items of the conversation. */
  readonly item: number
  /** A user message follows this turn before the next one. */
  readonly user_after: boolean
  /** Its tools ran at the provider, and the next turn may be of the same reply; not kept in records. */
  readonly served?: true
}

/** What one assistant turn said in plain text, and what it was answered. Nothing of it is kept. */
export interface TurnContent {
  readonly text: string
  /** Arguments as they came: JSON text or a value. */
  readonly calls: readonly { readonly tool: string; readonly args: unknown }[]
  /** Texts of tool results as rules compare them: without reminders, run lines and the client's frame. */
  readonly results: readonly string[]
  /** What a user or a harness said behind the turn, without reminders; empty if nobody did. */
  readonly heard: string
  /** Its results came with it: the tools ran at the provider, and the reply may go on in the next turn. */
  readonly served: boolean
}

/** Items in order, of which every beginning is known by a tip: conversations that begin alike have equal tips there. */
export interface Chain {
  readonly length: number
  /** What all items together are known by; empty if there are none. */
  readonly tip: string
  /** What the first so many are known by; undefined for none, and for more than there are. */
  tipOf(items: number): string | undefined
  /** How many items the longest beginning has that is known by one of these. */
  longestIn(tips: ReadonlySet<string>): number
}

/** A result whose call is not in the body. */
export type LooseResult = { readonly id: string; readonly pending: boolean; readonly notice: boolean } & Pick<
  ToolCall,
  'result' | 'error' | 'passed'
>

/** What the rules need to know of a request's history: hashes by position, no text. */
export interface Conversation {
  /** All items. */
  readonly chain: Chain
  /** The items without those of the system. */
  readonly talk: Chain
  readonly turns: readonly Turn[]
  /** Positions of system items. */
  readonly systems: readonly number[]
  /** Positions of `beside` items that hold text outside reminders. */
  readonly besides: readonly number[]
  /** SHA-256 of model, tools, tool choice, stateful ids and every item, hex. */
  readonly fingerprint: string
  /** SHA-256 of the masked system text and of the first user text: what an unnamed session is known by. */
  readonly opening: string
  /** UTF-8 bytes of all text, arguments and results. */
  readonly text_bytes: number
  /** Results whose calls are not in the body, in order: stateful requests send these. */
  readonly loose_results: readonly LooseResult[]
  /**
   * What the last so many turns said, oldest turn first; results before the first turn are one more turn.
   * Read from the body when it is asked for; absent where no body is at hand.
   */
  turnContents?(turns: number): readonly TurnContent[]
  /** Of `turnContents` the tool results alone. */
  resultTexts?(turns: number): readonly (readonly string[])[]
}

const none: readonly never[] = Object.freeze([])
const noItems: Chain = Object.freeze({ length: 0, tip: '', tipOf: () => undefined, longestIn: () => 0 })

/**
 * What is left of a conversation whose request is settled. A record that waits for its commit holds the call, and so would have each
 * collection of young garbage copy all turns of hundreds of conversations.
 */
export const settledConversation = ({ fingerprint, text_bytes }: Conversation): Conversation => ({
  chain: noItems,
  talk: noItems,
  turns: none,
  systems: none,
  besides: none,
  fingerprint,
  opening: '',
  text_bytes,
  loose_results: none,
})
