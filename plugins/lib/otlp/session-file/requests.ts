import type { ImportSource, RebuiltRequest } from 'guard-gateway/lib/export-format'
import type { JsonObject } from 'guard-gateway/lib/json'
import type { Recorded, SessionEntry, SessionHead, SessionReply } from './entries.ts'
import type { SessionReader } from './read.ts'

/** How an API style writes a conversation down. */
export interface ConversationStyle {
  /** Id of the API style. */
  readonly id: string
  /** Member of a request that holds the conversation. */
  readonly member: string
  /** Items as one request has them: several that stand together may be one message. */
  joined(items: readonly JsonObject[]): readonly JsonObject[]
}

/** The model requests of a session file, each with the conversation up to it. Throws GuardError with line and pointer. */
export function* sessionRequests(
  read: SessionReader,
  style: ConversationStyle,
  file: ImportSource,
): Generator<RebuiltRequest> {
  const conversations = new Map<SessionHead, Map<string, Conversation>>()
  for (const { head, entry } of inOrder(read(file, () => {}))) {
    const threads = conversations.get(head) ?? new Map<string, Conversation>()
    conversations.set(head, threads)
    const conversation = threads.get(entry.thread) ?? new Conversation(style)
    threads.set(entry.thread, conversation)
    if (entry.type === 'reply') yield requestOf(head, entry, style, conversation)
    conversation.add(entry)
  }
}

/** Entries in the order in which they happened: subagents work beside each other, and stand one after another in a file. */
const inOrder = (entries: Iterable<Recorded>): readonly Recorded[] => {
  const last = new Map<SessionHead, Map<string, bigint>>()
  const timed = Array.from(entries, (recorded) => {
    const { head, entry } = recorded
    const threads = last.get(head) ?? new Map<string, bigint>()
    last.set(head, threads)
    const before = threads.get(entry.thread) ?? 0n
    const at = entry.type === 'reply' ? entry.started_ns : entry.at_ns
    const ns = at > before ? at : before
    threads.set(entry.thread, ns)
    return { recorded, ns }
  })
  return timed.sort((a, b) => (a.ns < b.ns ? -1 : a.ns > b.ns ? 1 : 0)).map(({ recorded }) => recorded)
}

/** A conversation as it grows. What a reply has closed does not change any more. */
class Conversation {
  readonly #style: ConversationStyle
  #items: JsonObject[] = []
  #closed = 0
  #texts: string[] = []

  constructor(style: ConversationStyle) {
    this.#style = style
  }

  add(entry: SessionEntry): void {
    if (entry.type === 'rewind') {
      this.#items = this.#items.slice(0, entry.keep)
      this.#closed = 0
      this.#texts = []
    } else if (entry.type === 'input') this.#items.push(...entry.items)
    else if (entry.type === 'reply' && entry.items.length > 0) {
      this.#texts.push(...this.#open())
      this.#texts.push(...this.#style.joined(entry.items).map((item) => JSON.stringify(item)))
      this.#items.push(...entry.items)
      this.#closed = this.#items.length
    }
  }

  body(model: string): Buffer {
    const list = [...this.#texts, ...this.#open()].join(',')
    return Buffer.from(`{"model":${JSON.stringify(model)},"${this.#style.member}":[${list}]}`)
  }

  #open(): readonly string[] {
    return this.#style.joined(this.#items.slice(this.#closed)).map((item) => JSON.stringify(item))
  }
}

const NS_PER_MS = 1_000_000n

const requestOf = (
  { session_id, agent }: SessionHead,
  reply: SessionReply,
  { id: style }: ConversationStyle,
  conversation: Conversation,
): RebuiltRequest => {
  const { started_ns, at_ns, response_id, usage, cost, calls, text, error } = reply
  const model = reply.requested_model ?? reply.model ?? 'unknown'
  return {
    session_id,
    agent,
    style,
    body: conversation.body(model),
    at: Number((started_ns < at_ns ? started_ns : at_ns) / NS_PER_MS),
    ended_at: Number(at_ns / NS_PER_MS),
    model,
    usage,
    cost,
    response_id: response_id ?? null,
    calls,
    text,
    wordless: isWordless(reply),
    error: error === undefined ? undefined : { type: error.type, status: error.status },
  }
}

const REASONING: ReadonlySet<unknown> = new Set(['thinking', 'redacted_thinking', 'reasoning'])

const isWordless = ({ items, text, calls }: SessionReply): boolean => {
  const parts = items.flatMap((item) =>
    item.type === undefined && Array.isArray(item.content) ? item.content : [item],
  )
  return text === '' && calls.length === 0 && parts.length > 0 && parts.every(({ type }) => REASONING.has(type))
}

/** Messages, of which those of one role that stand together are one. */
export const joinedMessages = (items: readonly JsonObject[]): readonly JsonObject[] => {
  const messages: { role: unknown; content: unknown[] }[] = []
  for (const { role, content } of items) {
    const blocks = Array.isArray(content) ? content : [{ type: 'text', text: String(content ?? '') }]
    const last = messages.at(-1)
    if (last?.role === role) last?.content.push(...blocks)
    else messages.push({ role, content: [...blocks] })
  }
  return messages as unknown as readonly JsonObject[]
}
