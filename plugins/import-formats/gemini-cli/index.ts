import { totalled, type Usage } from 'guard-gateway/core'
import { type ImportSource, importFormat } from 'guard-gateway/lib/export-format'
import { type JsonObject, listOf } from 'guard-gateway/lib/json'
import { hasSeveralValues, memberLocation, parseImport, recordAt } from 'guard-gateway/lib/trace-file'
import {
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
  sessionLines,
  sessionRequests,
  textOf,
  timeOf,
  tokensOf,
} from '#lib/otlp'

/** Chats of Gemini CLI: `~/.gemini/tmp/<project>/chats/session-….jsonl`, and those in JSON of earlier versions. */
export const geminiCli = importFormat({
  id: 'gemini_cli',
  title: 'Gemini CLI',
  module: import.meta.url,
  accepts: ({ members }) => members.has('sessionId') && members.has('projectHash'),
  read: (file, context) => readSessionFile(geminiEntries, file, context),
  requests: (file) => sessionRequests(geminiEntries, contents, file),
})

const contents = { id: 'gemini', member: 'contents', joined: (items: readonly JsonObject[]) => items }

const MAX_DEPTH = 128

/** What Gemini CLI recorded. Throws GuardError with line and pointer. */
function* geminiEntries(file: ImportSource, cut: OnCut): Generator<Recorded> {
  let chat: { readonly head: SessionHead; readonly parser: ChatParser } | undefined
  const ended = function* (): Generator<Recorded> {
    if (chat === undefined) return
    const { head, parser } = chat
    for (const entry of located(() => parser.end())) yield { head, entry }
  }
  for (const line of recordsOf(file, cut)) {
    const head = located(() => headOf(line))
    if (head !== undefined && head.run !== chat?.head.run) {
      yield* ended()
      chat = { head, parser: new ChatParser() }
    }
    if (chat === undefined) continue
    const { head: of, parser } = chat
    for (const entry of located(() => entriesOf(line, parser))) yield { head: of, entry }
  }
  yield* ended()
}

/** Lines; a file of earlier versions is one object, over many lines. */
function* recordsOf(file: ImportSource, cut: OnCut): Generator<SessionLine> {
  if (!file.members.has('messages') || hasSeveralValues(file)) return yield* sessionLines(file, cut)
  const place = { path: [], line: 1 }
  yield { record: located(() => recordAt(parseImport(file.text(), MAX_DEPTH), place)), place }
}

const headOf = ({ record, place }: SessionLine): SessionHead | undefined => {
  const session_id = record.projectHash === undefined ? undefined : textOf(record, 'sessionId', place)
  return session_id === undefined
    ? undefined
    : { session_id, run: session_id, agent: 'gemini-cli', provider: 'gcp.gemini' }
}

const entriesOf = ({ record, place }: SessionLine, parser: ChatParser): readonly SessionEntry[] => {
  const { $rewindTo: rewind } = record
  if (typeof rewind === 'string') return parser.rewindTo(rewind, place)
  const set = objectOf(record, '$set', place)
  if (set !== undefined) return set.messages === undefined ? [] : parser.replace(messagesOf(set, place, '$set'))
  if (record.messages !== undefined) return parser.replace(messagesOf(record, place))
  return parser.message({ record, place })
}

const messagesOf = (record: JsonObject, place: SessionLine['place'], ...above: readonly string[]) =>
  objectsOf(record, 'messages', memberLocation(place, ...above)).map((message, at) => ({
    record: message,
    place: { ...place, path: [...above, 'messages', at] },
  }))

interface At {
  readonly thread: string
  readonly at_ns: bigint
  readonly line: number
}

/** Reads the messages of one chat. A message is written again as more of it is known; the last counts. */
class ChatParser {
  /** Items of the conversation before each message, by its id. */
  #starts = new Map<string, number>()
  readonly #replied = new Set<string>()
  #count = 0
  #last_ns: bigint | undefined
  #open: SessionLine | undefined
  /** Results of the last calls, where no message of their own holds them. */
  #results: readonly JsonObject[] = []

  /** What a message completes. Throws ImportFault. */
  message(line: SessionLine): readonly SessionEntry[] {
    const id = textOf(line.record, 'id', line.place)
    const { type } = line.record
    if (id === undefined || (type !== 'user' && type !== 'gemini')) return []
    const before = this.#open !== undefined && this.#open.record.id !== id ? this.end() : []
    if (type === 'user') return [...before, ...this.#userEntries(line, id)]
    this.#open = line
    return before
  }

  /** The conversation is now these messages; what they reply may be known already. */
  replace(messages: readonly SessionLine[]): readonly SessionEntry[] {
    const entries = [...this.end()]
    this.#results = []
    if (this.#count > 0) entries.push({ type: 'rewind', keep: 0, ...this.#now(messages[0]) })
    this.#count = 0
    this.#starts = new Map()
    for (const message of messages) entries.push(...this.message(message))
    return entries
  }

  /** The conversation goes on from before a message, or anew where it is not known. */
  rewindTo(id: string, place: SessionLine['place']): readonly SessionEntry[] {
    const entries = [...this.end()]
    const keep = this.#starts.get(id) ?? 0
    this.#count = keep
    this.#results = []
    return [...entries, { type: 'rewind', keep, ...this.#now({ record: {}, place }) }]
  }

  /** The reply that is still open. */
  end(): readonly SessionEntry[] {
    const line = this.#open
    this.#open = undefined
    return line === undefined ? [] : this.#reply(line)
  }

  #now(line: SessionLine | undefined): At {
    return { thread: MAIN, at_ns: this.#last_ns ?? 0n, line: line?.place.line ?? 1 }
  }

  #userEntries({ record, place }: SessionLine, id: string): readonly SessionEntry[] {
    const at = { thread: MAIN, at_ns: timeOf(record, 'timestamp', place) ?? this.#last_ns ?? 0n, line: place.line }
    const parts = partsOf(record.content)
    const isAnswer = parts.some((part) => part.functionResponse !== undefined)
    const results = isAnswer ? [] : this.#toolResults(at)
    this.#results = []
    this.#starts.set(id, this.#count)
    this.#count++
    this.#last_ns = at.at_ns
    return [...results, { type: 'input', items: [{ role: 'user', parts }], ...at }]
  }

  /** Results that no message holds. */
  #toolResults(at: At): readonly SessionEntry[] {
    if (this.#results.length === 0) return []
    const parts = this.#results
    this.#results = []
    this.#count++
    return [{ type: 'input', items: [{ role: 'user', parts }], ...at }]
  }

  #reply({ record, place }: SessionLine): readonly SessionEntry[] {
    const id = textOf(record, 'id', place) ?? ''
    const at = { thread: MAIN, at_ns: timeOf(record, 'timestamp', place) ?? this.#last_ns ?? 0n, line: place.line }
    const results = this.#toolResults(at)
    const model = textOf(record, 'model', place)
    const calls = objectsOf(record, 'toolCalls', place).flatMap((call) => callOf(call, at.at_ns) ?? [])
    const parts = [...partsOf(record.content), ...calls.map(({ id: of, tool, args }) => callPart(of, tool, args))]
    const items = [{ role: 'model', parts }]
    this.#starts.set(id, this.#count)
    this.#count++
    const started_ns = this.#last_ns ?? at.at_ns
    this.#last_ns = at.at_ns
    const ended = objectsOf(record, 'toolCalls', place).flatMap((call, index) => {
      const call_id = textOf(call, 'id', memberLocation(place, 'toolCalls', index))
      const at_ns = timeOf(call, 'timestamp', memberLocation(place, 'toolCalls', index)) ?? at.at_ns
      return call_id === undefined ? [] : [{ type: 'result' as const, call_id, failed: hasFailed(call), ...at, at_ns }]
    })
    this.#results = objectsOf(record, 'toolCalls', place).flatMap(({ result }) => partsOf(result))
    if (this.#replied.has(id)) return [...results, { type: 'input', items, ...at }]
    this.#replied.add(id)
    const text = parts.map((part) => (typeof part.text === 'string' ? part.text : '')).join('')
    const about = { id, started_ns, requested_model: model, model, usage: usageOf(record, place) }
    return [...results, { type: 'reply', ...about, calls, text, items, ...at }, ...ended]
  }
}

const partsOf = (content: unknown): readonly JsonObject[] => {
  if (typeof content === 'string') return content === '' ? [] : [{ text: content }]
  return listOf(content).filter((part): part is JsonObject => typeof part === 'object' && part !== null)
}

const callPart = (id: string, name: string, args: unknown): JsonObject => ({ functionCall: { id, name, args } })

const callOf = ({ id, name, args }: JsonObject, at_ns: bigint): SessionCall | undefined =>
  typeof id === 'string' && id !== '' && typeof name === 'string' && name !== ''
    ? { id, tool: name, args, at_ns }
    : undefined

const EXIT_CODE = /\nExit Code: (?!0\b)-?\d+/

const hasFailed = ({ status, result }: JsonObject): boolean =>
  (status !== 'success' && status !== undefined) || EXIT_CODE.test(outputOf(result))

const outputOf = (result: unknown): string =>
  partsOf(result)
    .map(
      ({ functionResponse }) => (functionResponse as { response?: { output?: unknown } } | undefined)?.response?.output,
    )
    .filter((output) => typeof output === 'string')
    .join('\n')

/** Input holds what was cached; thoughts stand beside the output. */
const usageOf = (record: JsonObject, place: SessionLine['place']): Usage | undefined => {
  const tokens = objectOf(record, 'tokens', place)
  if (tokens === undefined) return undefined
  const at = memberLocation(place, 'tokens')
  const cache_read_tokens = tokensOf(tokens, 'cached', at)
  const reasoning_tokens = tokensOf(tokens, 'thoughts', at)
  return totalled({
    input_tokens: Math.max(0, tokensOf(tokens, 'input', at) + tokensOf(tokens, 'tool', at) - cache_read_tokens),
    cache_read_tokens,
    output_tokens: tokensOf(tokens, 'output', at) + reasoning_tokens,
    reasoning_tokens,
  })
}
