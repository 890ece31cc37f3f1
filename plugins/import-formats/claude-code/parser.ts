import { sha256 } from 'guard-gateway/lib/ids'
import type { JsonObject } from 'guard-gateway/lib/json'
import { MAIN, objectOf, objectsOf, type SessionEntry, type SessionLine, textOf, timeOf } from 'guard-gateway/lib/otlp'
import { memberLocation } from 'guard-gateway/lib/trace-file'
import { extend, type OpenReply, openReply } from './reply.ts'

interface Thread {
  readonly name: string
  /** Items of its conversation so far. */
  count: number
  reply: OpenReply | undefined
  /** What came while the reply was open: results of its first calls may come before its last blocks. */
  readonly behind: SessionEntry[]
  last_ns: bigint
}

/** Reads the lines of one session. */
export class SessionParser {
  readonly #threads = new Map<string, Thread>()
  /** Thread, and length of its conversation after the line, by the line's id. */
  readonly #lines = new Map<string, { readonly thread: Thread; readonly count: number }>()
  /** Calls that start subagents: names by call, calls by what the subagent is told. */
  readonly #agents = new Map<string, string>()
  readonly #tasks = new Map<string, string>()

  /** What a line completes. Throws ImportFault. */
  read(line: SessionLine): readonly SessionEntry[] {
    const { record, place } = line
    const uuid = textOf(record, 'uuid', place)
    // a file may hold a copy of what another one holds
    if (uuid !== undefined && this.#lines.has(uuid)) return []
    const at_ns = timeOf(record, 'timestamp', place)
    if (at_ns === undefined) return []
    const entries: SessionEntry[] = []
    const thread = this.#threadOf(record, line, at_ns, entries)
    if (record.type === 'assistant') this.#assistant(line, thread, at_ns, entries)
    else if (record.type === 'user') this.#user(line, thread, at_ns, entries)
    else this.#system(line, thread, at_ns, entries)
    if (uuid !== undefined) this.#lines.set(uuid, { thread, count: thread.count })
    return entries
  }

  /** What is still open. */
  end(): readonly SessionEntry[] {
    return [...this.#threads.values()].flatMap((thread) => closed(thread))
  }

  #threadOf(record: JsonObject, { place }: SessionLine, at_ns: bigint, entries: SessionEntry[]): Thread {
    if (record.isSidechain !== true) return this.#thread(MAIN, at_ns)
    const agent = textOf(record, 'agentId', place)
    if (agent === undefined) {
      const parent = this.#lines.get(textOf(record, 'parentUuid', place) ?? '')?.thread
      if (parent !== undefined && parent.name !== MAIN) return parent
    }
    const name = agent ?? textOf(record, 'uuid', place) ?? `line ${place.line}`
    const isNew = !this.#threads.has(name)
    const thread = this.#thread(name, at_ns)
    const call_id = isNew ? this.#tasks.get(taskOf(record)) : undefined
    if (call_id !== undefined) entries.push({ ...this.#spawn(call_id, name), thread: MAIN, at_ns, line: place.line })
    return thread
  }

  #thread(name: string, at_ns: bigint): Thread {
    const thread = this.#threads.get(name) ?? { name, count: 0, reply: undefined, behind: [], last_ns: at_ns }
    this.#threads.set(name, thread)
    return thread
  }

  #spawn(call_id: string, spawned: string) {
    return { type: 'spawn' as const, call_id, spawned, agent_name: this.#agents.get(call_id) }
  }

  #assistant(line: SessionLine, thread: Thread, at_ns: bigint, entries: SessionEntry[]): void {
    const next = openReply(line, thread.name, at_ns, thread.last_ns)
    let reply = thread.reply
    if (reply?.message_id !== next.message_id) {
      entries.push(...closed(thread))
      reply = next
      thread.reply = reply
      if (reply.error === undefined) thread.count++
    }
    const before = reply.calls.length
    extend(reply, line, at_ns)
    for (const { id, args } of reply.calls.slice(before)) this.#noteAgent(id, args)
  }

  #noteAgent(id: string, args: unknown): void {
    const { prompt, subagent_type } = (typeof args === 'object' && args !== null ? args : {}) as JsonObject
    if (typeof prompt !== 'string') return
    this.#tasks.set(sha256(prompt), id)
    if (typeof subagent_type === 'string') this.#agents.set(id, subagent_type)
  }

  #user({ record, place }: SessionLine, thread: Thread, at_ns: bigint, entries: SessionEntry[]): void {
    const message = objectOf(record, 'message', place) ?? {}
    const at = { thread: thread.name, at_ns, line: place.line }
    const results = Array.isArray(message.content)
      ? objectsOf(message, 'content', memberLocation(place, 'message')).filter(({ type }) => type === 'tool_result')
      : []
    if (results.length === 0) this.#stepBack(textOf(record, 'parentUuid', place), thread, at, entries)
    for (const { tool_use_id, is_error } of results) {
      if (typeof tool_use_id !== 'string') continue
      const agent = agentIn(record.toolUseResult)
      if (agent !== undefined) put(thread, { ...this.#spawn(tool_use_id, agent), ...at }, entries)
      put(thread, { type: 'result', call_id: tool_use_id, failed: is_error === true, ...at }, entries)
    }
    put(thread, { type: 'input', items: [{ role: 'user', content: message.content ?? '' }], ...at }, entries)
    thread.count++
    thread.last_ns = at_ns
  }

  /** A prompt that follows an earlier line than the last: the person went back there. */
  #stepBack(
    parent: string | undefined,
    thread: Thread,
    at: { readonly thread: string; readonly at_ns: bigint; readonly line: number },
    entries: SessionEntry[],
  ): void {
    const from = parent === undefined ? undefined : this.#lines.get(parent)
    if (from === undefined || from.thread !== thread || from.count >= thread.count) return
    entries.push(...closed(thread), { type: 'rewind', keep: from.count, ...at })
    thread.count = from.count
  }

  #system({ record, place }: SessionLine, thread: Thread, at_ns: bigint, entries: SessionEntry[]): void {
    const at = { thread: thread.name, at_ns, line: place.line }
    if (record.subtype === 'compact_boundary') {
      entries.push(...closed(thread), { type: 'rewind', keep: 0, ...at })
      thread.count = 0
    } else if (record.subtype === 'api_error') {
      const { status } = objectOf(record, 'error', place) ?? {}
      const error = { type: 'api_error', ...(typeof status === 'number' ? { status } : {}) }
      const id = textOf(record, 'uuid', place) ?? `line ${place.line}`
      entries.push(...closed(thread))
      const failed = { type: 'reply', id, started_ns: thread.last_ns, usage: undefined, calls: [], text: '' } as const
      entries.push({ ...failed, items: [], error, ...at })
    }
  }
}

/** A prompt of a subagent, as its call has it. */
const taskOf = ({ message }: JsonObject): string => {
  const content = typeof message === 'object' && message !== null ? Reflect.get(message, 'content') : undefined
  return typeof content === 'string' ? sha256(content) : ''
}

/** The subagent that a result tells of. */
const agentIn = (result: unknown): string | undefined => {
  const agent = typeof result === 'object' && result !== null ? Reflect.get(result, 'agentId') : undefined
  return typeof agent === 'string' && agent !== '' ? agent : undefined
}

/** Hands an entry out, after the reply that is open. */
const put = (thread: Thread, entry: SessionEntry, entries: SessionEntry[]): void => {
  if (thread.reply === undefined) entries.push(entry)
  else thread.behind.push(entry)
}

/** The reply that was open, and what came behind it. */
const closed = (thread: Thread): readonly SessionEntry[] => {
  const { reply } = thread
  thread.reply = undefined
  return reply === undefined ? [] : [reply, ...thread.behind.splice(0)]
}
