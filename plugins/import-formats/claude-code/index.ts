import { totalled, type Usage } from 'guard-gateway/core'
import { type ImportSource, importFormat } from 'guard-gateway/lib/export-format'
import type { JsonObject } from 'guard-gateway/lib/json'
import { type ImportLocation, memberLocation } from 'guard-gateway/lib/trace-file'
import { sha256 } from '#lib/ids'
import {
  joinedMessages,
  located,
  MAIN,
  type OnCut,
  objectOf,
  objectsOf,
  type Recorded,
  readSessionFile,
  type SessionCall,
  type SessionEntry,
  type SessionHead,
  type SessionLine,
  type SessionReply,
  sessionLines,
  sessionRequests,
  textOf,
  timeOf,
  tokensOf,
} from '#lib/otlp'

/** Session files of Claude Code: `~/.claude/projects/<folder>/<session>.jsonl`, and those of its subagents beside it. */
export const claudeCode = importFormat({
  id: 'claude_code',
  title: 'Claude Code',
  module: import.meta.url,
  accepts: ({ members }) => members.has('type') && known.some((name) => members.has(name)),
  read: (file, context) => readSessionFile(claudeCodeEntries, file, context),
  requests: (file) => sessionRequests(claudeCodeEntries, messages, file),
})

const messages = { id: 'messages', member: 'messages', joined: joinedMessages }

/** Members of lines that a file may begin with: of messages and states, of summaries, of snapshots. */
const known = ['sessionId', 'leafUuid', 'isSnapshotUpdate']

/** What Claude Code recorded. Throws GuardError with line and pointer. */
function* claudeCodeEntries(file: ImportSource, cut: OnCut): Generator<Recorded> {
  const sessions = new Map(
    [...located(() => headsIn(file))].map(([id, head]) => [id, { head, parser: new SessionParser() }]),
  )
  for (const line of sessionLines(file, cut)) {
    const session = sessions.get(located(() => sessionIdOf(line)) ?? '')
    if (session === undefined) continue
    for (const entry of located(() => session.parser.read(line))) yield { head: session.head, entry }
  }
  for (const { head, parser } of sessions.values()) for (const entry of parser.end()) yield { head, entry }
}

const sessionIdOf = ({ record, place }: SessionLine): string | undefined =>
  isMessage(record.type) ? textOf(record, 'sessionId', place) : undefined

interface Seen {
  folder: string | undefined
  version: string | undefined
  /** Of the subagent whose lines are all there is; undefined where the session's own are there as well. */
  alone: string | undefined
  hasMain: boolean
}

/** The sessions of a file by id. A subagent's file without its session gets a run of its own. */
const headsIn = (file: ImportSource): ReadonlyMap<string, SessionHead> => {
  const sessions = new Map<string, Seen>()
  for (const { record, place } of sessionLines(file, () => {})) {
    const id = isMessage(record.type) ? textOf(record, 'sessionId', place) : undefined
    if (id === undefined) continue
    const seen = sessions.get(id) ?? { folder: undefined, version: undefined, alone: undefined, hasMain: false }
    sessions.set(id, seen)
    seen.folder ??= textOf(record, 'cwd', place)
    seen.version ??= textOf(record, 'version', place)
    if (record.isSidechain === true) seen.alone ??= textOf(record, 'agentId', place)
    else seen.hasMain = true
  }
  return new Map([...sessions].map(([id, seen]) => [id, headOf(id, seen)]))
}

const isMessage = (type: unknown): boolean => type === 'user' || type === 'assistant' || type === 'system'

const headOf = (session_id: string, { folder, version, alone, hasMain }: Seen): SessionHead => ({
  session_id,
  run: hasMain || alone === undefined ? session_id : `${session_id}:${alone}`,
  agent: 'claude-code',
  provider: 'anthropic',
  version,
  folder,
})

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
class SessionParser {
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

/** A reply whose blocks are still being read: each has a line of its own, with the usage so far. */
type OpenReply = { -readonly [K in keyof SessionReply]: SessionReply[K] } & {
  calls: SessionCall[]
  items: JsonObject[]
  /** Id of the message in the API, the same on all of its lines. */
  readonly message_id: string
}

/** Model of messages that Claude Code writes itself. */
const SYNTHETIC = '<synthetic>'

/** Starts a reply. Throws ImportFault. */
const openReply = ({ record, place }: SessionLine, thread: string, at_ns: bigint, started_ns: bigint): OpenReply => {
  const message = objectOf(record, 'message', place) ?? {}
  const at = memberLocation(place, 'message')
  const uuid = textOf(record, 'uuid', place) ?? `line ${place.line}`
  const model = textOf(message, 'model', at)
  const isOwn = model === SYNTHETIC
  const message_id = textOf(message, 'id', at)
  return {
    type: 'reply',
    thread,
    at_ns,
    line: place.line,
    id: uuid,
    message_id: message_id === undefined ? uuid : `${message_id} ${requestOf(record, place)}`,
    started_ns,
    response_id: isOwn ? undefined : message_id,
    requested_model: textOf(record, 'requestedModel', place),
    model: isOwn ? undefined : model,
    usage: undefined,
    cost: typeof record.costUSD === 'number' ? record.costUSD : undefined,
    calls: [],
    text: '',
    items: [{ role: 'assistant', content: [] }],
    ...(record.isApiErrorMessage === true ? { error: errorOf(record, message, place) } : {}),
  }
}

/** Messages of different requests have different ids; a proxy may have made up equal ones. */
const requestOf = (record: JsonObject, place: ImportLocation): string =>
  textOf(record, 'requestId', place) ?? textOf(record, 'requestRef', place) ?? ''

/** Adds what a line holds of a reply. Throws ImportFault. */
const extend = (reply: OpenReply, { record, place }: SessionLine, at_ns: bigint): void => {
  const message = objectOf(record, 'message', place) ?? {}
  const at = memberLocation(place, 'message')
  const blocks = objectsOf(message, 'content', at)
  reply.usage = usageOf(message, at) ?? reply.usage
  reply.finish = textOf(message, 'stop_reason', at) ?? reply.finish
  reply.service_tier = tierOf(message, at) ?? reply.service_tier
  if (at_ns > reply.at_ns) reply.at_ns = at_ns
  reply.text += wordsIn(blocks)
  for (const { id, name, input } of blocks.filter(isCall))
    reply.calls.push({ id: String(id), tool: String(name), args: input, at_ns })
  if (reply.error !== undefined) return
  const known = reply.items[0]?.content
  reply.items = [{ role: 'assistant', content: [...(Array.isArray(known) ? known : []), ...blocks] }]
}

const wordsIn = (blocks: readonly JsonObject[]): string =>
  blocks.map(({ type, text }) => (type === 'text' && typeof text === 'string' ? text : '')).join('')

const isCall = ({ type, id, name }: JsonObject): boolean =>
  type === 'tool_use' && typeof id === 'string' && id !== '' && typeof name === 'string' && name !== ''

const usageOf = (message: JsonObject, place: ImportLocation): Usage | undefined => {
  const usage = objectOf(message, 'usage', place)
  if (usage === undefined || message.model === SYNTHETIC) return undefined
  const at = memberLocation(place, 'usage')
  const written = objectOf(usage, 'cache_creation', at) ?? {}
  const inside = memberLocation(at, 'cache_creation')
  const thinking = objectOf(usage, 'output_tokens_details', at) ?? {}
  return totalled({
    input_tokens: tokensOf(usage, 'input_tokens', at),
    cache_read_tokens: tokensOf(usage, 'cache_read_input_tokens', at),
    cache_write_tokens: tokensOf(usage, 'cache_creation_input_tokens', at),
    cache_write_5m_tokens: tokensOf(written, 'ephemeral_5m_input_tokens', inside),
    cache_write_1h_tokens: tokensOf(written, 'ephemeral_1h_input_tokens', inside),
    output_tokens: tokensOf(usage, 'output_tokens', at),
    reasoning_tokens: tokensOf(thinking, 'thinking_tokens', memberLocation(at, 'output_tokens_details')),
  })
}

const tierOf = (message: JsonObject, place: ImportLocation): string | undefined => {
  const usage = objectOf(message, 'usage', place)
  return usage === undefined ? undefined : textOf(usage, 'service_tier', memberLocation(place, 'usage'))
}

const WORD = /^[a-z][a-z0-9_]{0,63}$/
const STATUS = /\bAPI Error:? (\d{3})\b/

/** Why a request failed: a word of the line, and the status in the words that were shown. */
const errorOf = (record: JsonObject, message: JsonObject, place: ImportLocation): SessionReply['error'] => {
  const status = STATUS.exec(wordsIn(objectsOf(message, 'content', memberLocation(place, 'message'))))?.[1]
  const { error } = record
  return {
    type: typeof error === 'string' && WORD.test(error) ? error : 'api_error',
    status: status === undefined ? undefined : Number(status),
  }
}
