import type { ImportSource } from 'guard-gateway/lib/export-format'
import type { JsonObject } from 'guard-gateway/lib/json'
import {
  located,
  type OnCut,
  objectOf,
  objectsOf,
  type Recorded,
  type SessionEntry,
  type SessionHead,
  type SessionLine,
  sessionLines,
  textOf,
} from 'guard-gateway/lib/otlp'
import { hasSeveralValues, memberLocation, parseImport, recordAt } from 'guard-gateway/lib/trace-file'
import { ChatParser } from './parser.ts'

const MAX_DEPTH = 128

/** What Gemini CLI recorded. Throws GuardError with line and pointer. */
export function* geminiEntries(file: ImportSource, cut: OnCut): Generator<Recorded> {
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
