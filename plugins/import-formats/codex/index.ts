import { totalled, type Usage } from 'guard-gateway/core'
import { type ImportSource, importFormat } from 'guard-gateway/lib/export-format'
import { type JsonObject, jsonObjectOf, listOf, readJson } from 'guard-gateway/lib/json'
import { ImportFault, type ImportLocation, memberLocation, traceFileErrors } from 'guard-gateway/lib/trace-file'
import {
  located,
  MAIN,
  type OnCut,
  objectOf,
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

/** Rollouts of Codex: `~/.codex/sessions/<year>/<month>/<day>/rollout-….jsonl`. */
export const codex = importFormat({
  id: 'codex',
  title: 'Codex',
  module: import.meta.url,
  accepts: ({ members }) => members.has('timestamp') && members.has('type') && members.has('payload'),
  read: (file, context) => readSessionFile(codexEntries, file, context),
  requests: (file) => sessionRequests(codexEntries, responses, file),
})

const responses = { id: 'responses', member: 'input', joined: (items: readonly JsonObject[]) => items }

interface Rollout {
  readonly head: SessionHead
  /** A fork holds the lines of the session that it was made from, its first one too. */
  readonly forked_from: string | undefined
  readonly parser: RolloutParser
}

/** What Codex recorded. Throws GuardError with line and pointer. */
function* codexEntries(file: ImportSource, cut: OnCut): Generator<Recorded> {
  let rollout: Rollout | undefined
  for (const line of sessionLines(file, cut)) {
    const next = located(() => rolloutAt(line, rollout))
    if (next !== rollout) yield* endOf(rollout)
    rollout = next
    const { head, parser } = rollout
    for (const entry of located(() => parser.read(line))) yield { head, entry }
  }
  yield* endOf(rollout)
}

function* endOf(rollout: Rollout | undefined): Generator<Recorded> {
  if (rollout !== undefined) for (const entry of rollout.parser.end()) yield { head: rollout.head, entry }
}

/** The rollout that a line belongs to. Throws ImportFault for lines before the first one. */
const rolloutAt = ({ record, place }: SessionLine, rollout: Rollout | undefined): Rollout => {
  const isHead = record.type === 'session_meta'
  if (!isHead && rollout !== undefined) return rollout
  if (!isHead)
    throw new ImportFault(
      traceFileErrors.INVALID_IMPORT,
      'A rollout begins with a line of type "session_meta"; this is another version, or a part of one.',
      place,
    )
  const meta = objectOf(record, 'payload', place) ?? {}
  const at = memberLocation(place, 'payload')
  const id = textOf(meta, 'id', at)
  if (id === undefined || id === '')
    throw new ImportFault(traceFileErrors.INVALID_IMPORT, 'The session has no "id".', at)
  if (rollout !== undefined && (id === rollout.forked_from || id === rollout.head.run)) return rollout
  const head: SessionHead = {
    session_id: textOf(meta, 'session_id', at) ?? id,
    run: id,
    agent: 'codex',
    provider: textOf(meta, 'model_provider', at),
    version: textOf(meta, 'cli_version', at),
    folder: textOf(meta, 'cwd', at),
  }
  return { head, forked_from: textOf(meta, 'forked_from_id', at) ?? parentIn(meta), parser: new RolloutParser() }
}

/** Of a subagent, the thread that started it. */
const parentIn = ({ source }: JsonObject): string | undefined => {
  const { thread_spawn } = jsonObjectOf(jsonObjectOf(source).subagent)
  const { parent_thread_id } = jsonObjectOf(thread_spawn)
  return typeof parent_thread_id === 'string' ? parent_thread_id : undefined
}

type OpenReply = { -readonly [K in keyof SessionReply]: SessionReply[K] } & {
  calls: SessionCall[]
  items: JsonObject[]
  /** Something was told to the model since: what it says next is another reply. */
  sealed: boolean
}

interface At {
  readonly thread: string
  readonly at_ns: bigint
  readonly line: number
}

/** Items that a model makes; of messages those of the role assistant. */
const REPLIED =
  /^(?:reasoning|function_call|custom_tool_call|local_shell_call|web_search_call|tool_search_call|image_generation_call)$/
const TOOL_OUTPUT = /^(?:function_call_output|custom_tool_call_output|tool_search_output)$/

/** Reads the lines of one rollout. */
class RolloutParser {
  #model: string | undefined
  #replies = 0
  /** Items of the conversation so far, and where each turn of the person began. */
  #count = 0
  #turns: number[] = []
  #last_ns: bigint | undefined
  #reply: OpenReply | undefined
  readonly #behind: SessionEntry[] = []
  readonly #failed = new Map<string, boolean>()
  #used = ''

  /** What a line completes. Throws ImportFault. */
  read({ record, place }: SessionLine): readonly SessionEntry[] {
    const at_ns = timeOf(record, 'timestamp', place)
    const payload = objectOf(record, 'payload', place)
    if (at_ns === undefined || payload === undefined) return []
    this.#last_ns ??= at_ns
    const at = { thread: MAIN, at_ns, line: place.line }
    const inside = memberLocation(place, 'payload')
    switch (record.type) {
      case 'turn_context':
        this.#model = textOf(payload, 'model', inside) ?? this.#model
        return []
      case 'response_item':
        return this.#item(payload, inside, at)
      case 'token_usage_record':
        return this.#usage(payload, inside)
      case 'event_msg':
        return this.#event(payload, inside, at)
      case 'compacted':
        return this.#compacted(payload, inside, at)
      default:
        return []
    }
  }

  /** The reply that is still open. */
  end(): readonly SessionEntry[] {
    const reply = this.#reply
    this.#reply = undefined
    return reply === undefined ? [] : [reply, ...this.#behind.splice(0)]
  }

  #item(item: JsonObject, place: ImportLocation, at: At): readonly SessionEntry[] {
    const type = textOf(item, 'type', place) ?? ''
    const role = textOf(item, 'role', place)
    if (REPLIED.test(type) || (type === 'message' && role === 'assistant')) return this.#replied(item, place, at)
    if (!TOOL_OUTPUT.test(type) && type !== 'message') return []
    if (type === 'message' && role === 'user') this.#turns.push(this.#count)
    const call_id = TOOL_OUTPUT.test(type) ? textOf(item, 'call_id', place) : undefined
    const entries: SessionEntry[] = call_id === undefined ? [] : [this.#result(call_id, item, at)]
    entries.push({ type: 'input', items: [plain(item)], ...at })
    this.#count++
    this.#last_ns = at.at_ns
    if (this.#reply === undefined) return entries
    this.#reply.sealed = true
    this.#behind.push(...entries)
    return this.#reply.usage === undefined ? [] : this.end()
  }

  #result(call_id: string, { output }: JsonObject, at: At): SessionEntry {
    const failed = this.#failed.get(call_id) ?? hasFailed(output)
    this.#failed.delete(call_id)
    return { type: 'result', call_id, failed, ...at }
  }

  #replied(item: JsonObject, place: ImportLocation, at: At): readonly SessionEntry[] {
    const entries = this.#reply?.sealed === true ? this.end() : []
    this.#reply ??= {
      type: 'reply',
      ...at,
      id: String(++this.#replies),
      started_ns: this.#last_ns ?? at.at_ns,
      requested_model: this.#model,
      model: this.#model,
      usage: undefined,
      calls: [],
      text: '',
      items: [],
      sealed: false,
    }
    const reply = this.#reply
    reply.at_ns = at.at_ns
    reply.items.push(plain(item))
    reply.text += wordsIn(item)
    const call = callIn(item, place, at.at_ns)
    if (call !== undefined) reply.calls.push(call)
    this.#count++
    return entries
  }

  #usage(payload: JsonObject, place: ImportLocation): readonly SessionEntry[] {
    const usage = usageIn(payload, 'usage', place)
    this.#used = 'records'
    if (usage === undefined || this.#reply === undefined) return []
    this.#reply.usage = usage
    this.#reply.response_id = textOf(payload, 'response_id', place)
    return this.#reply.sealed ? this.end() : []
  }

  #event(payload: JsonObject, place: ImportLocation, at: At): readonly SessionEntry[] {
    const type = textOf(payload, 'type', place)
    if (type === 'token_count') return this.#counted(payload, place)
    if (type === 'thread_rolled_back') return this.#rolledBack(Number(payload.num_turns), at)
    if (type === 'error') return this.#failure(payload, place, at)
    const outcome = outcomeOf(payload)
    if (outcome !== undefined) this.#failed.set(outcome.call_id, outcome.failed)
    return []
  }

  /** Usage of versions before records of it; told again without a new request when limits change. */
  #counted(payload: JsonObject, place: ImportLocation): readonly SessionEntry[] {
    const info = objectOf(payload, 'info', place)
    if (info === undefined || this.#used === 'records') return []
    const total = JSON.stringify(info.total_token_usage ?? null)
    if (total === this.#used || this.#reply === undefined) return []
    this.#used = total
    this.#reply.usage = usageIn(info, 'last_token_usage', memberLocation(place, 'info'))
    return this.#reply.sealed ? this.end() : []
  }

  #rolledBack(turns: number, at: At): readonly SessionEntry[] {
    const keep = Number.isSafeInteger(turns) && turns > 0 ? this.#turns.at(-turns) : undefined
    if (keep === undefined) return []
    this.#turns = this.#turns.slice(0, -turns)
    this.#count = keep
    return [...this.end(), { type: 'rewind', keep, ...at }]
  }

  #failure(payload: JsonObject, place: ImportLocation, at: At): readonly SessionEntry[] {
    const status = /\bstatus (\d{3})\b/.exec(textOf(payload, 'message', place) ?? '')?.[1]
    const { codex_error_info: info } = payload
    const error = {
      type: typeof info === 'string' && /^[a-z_]{1,64}$/.test(info) ? info : 'error',
      ...(status === undefined ? {} : { status: Number(status) }),
    }
    const id = String(++this.#replies)
    const started_ns = this.#last_ns ?? at.at_ns
    const failed = { type: 'reply', id, started_ns, requested_model: this.#model, usage: undefined } as const
    return [...this.end(), { ...failed, calls: [], text: '', items: [], error, ...at }]
  }

  #compacted(payload: JsonObject, place: ImportLocation, at: At): readonly SessionEntry[] {
    const text = textOf(payload, 'message', place) ?? ''
    const history = listOf(payload.replacement_history).filter((item) => typeof item === 'object' && item !== null)
    const summary = { type: 'message', role: 'user', content: [{ type: 'input_text', text }] }
    const items = history.length > 0 ? (history as readonly JsonObject[]).map(plain) : [summary]
    this.#count = items.length
    this.#turns = []
    return [...this.end(), { type: 'rewind', keep: 0, ...at }, { type: 'input', items, ...at }]
  }
}

/** An item as a request has it. */
const plain = ({ internal_chat_message_metadata_passthrough: _internal, ...item }: JsonObject): JsonObject => item

const wordsIn = ({ type, content }: JsonObject): string =>
  type !== 'message'
    ? ''
    : listOf(content)
        .map((part) => (part as JsonObject | null)?.text)
        .filter((text) => typeof text === 'string')
        .join('')

const callIn = (item: JsonObject, place: ImportLocation, at_ns: bigint): SessionCall | undefined => {
  const { type, arguments: text, input, action } = item
  if (type !== 'function_call' && type !== 'custom_tool_call' && type !== 'local_shell_call') return undefined
  const id = textOf(item, 'call_id', place)
  const tool = type === 'local_shell_call' ? 'local_shell' : textOf(item, 'name', place)
  if (id === undefined || id === '' || tool === undefined || tool === '') return undefined
  return { id, tool, args: text ?? input ?? action, at_ns }
}

/** Usage as Codex has it, whose input counts hold what was cached. Throws ImportFault. */
const usageIn = (record: JsonObject, key: string, place: ImportLocation): Usage | undefined => {
  const usage = objectOf(record, key, place)
  if (usage === undefined) return undefined
  const at = memberLocation(place, key)
  const cache_read_tokens = tokensOf(usage, 'cached_input_tokens', at)
  const cache_write_tokens = tokensOf(usage, 'cache_write_input_tokens', at)
  return totalled({
    input_tokens: Math.max(0, tokensOf(usage, 'input_tokens', at) - cache_read_tokens - cache_write_tokens),
    cache_read_tokens,
    cache_write_tokens,
    output_tokens: tokensOf(usage, 'output_tokens', at),
    reasoning_tokens: tokensOf(usage, 'reasoning_output_tokens', at),
  })
}

/** How a call went, by an event. */
interface CallOutcome {
  readonly call_id: string
  readonly failed: boolean
}

/** What an event tells of the end of a call; undefined for other events. */
const outcomeOf = (payload: JsonObject): CallOutcome | undefined => {
  const { type, call_id, exit_code, success, result } = payload
  if (type === 'item_completed') return ofItem(jsonObjectOf(payload.item))
  if (typeof call_id !== 'string') return undefined
  if (type === 'exec_command_end') return { call_id, failed: exit_code !== 0 }
  if (type === 'patch_apply_end') return { call_id, failed: success === false }
  if (type === 'mcp_tool_call_end') return { call_id, failed: Object.hasOwn(jsonObjectOf(result), 'Err') }
  return undefined
}

const ofItem = ({ id, status }: JsonObject): CallOutcome | undefined =>
  typeof id === 'string' && (status === 'completed' || status === 'failed')
    ? { call_id: id, failed: status === 'failed' }
    : undefined

/** Stands at the beginning of what a command printed. */
const EXIT_CODE = /^(?:[A-Z][^\n]*\n){0,4}(?:Process exited with code|Exit code:) (-?\d+)/

/** Whether a result itself says that its call failed. */
const hasFailed = (output: unknown): boolean => {
  if (typeof output !== 'string') return jsonObjectOf(output).success === false
  const code = EXIT_CODE.exec(output.slice(0, 1_000))?.[1]
  if (code !== undefined) return code !== '0'
  return output.startsWith('{') && exitCodeIn(output) > 0
}

/** Versions of 2025 put output and metadata into JSON. */
const exitCodeIn = (output: string): number => {
  try {
    return Number(jsonObjectOf(jsonObjectOf(readJson(output)).metadata).exit_code ?? 0)
  } catch {
    return 0
  }
}
