import type { ImportSource } from 'guard-gateway/lib/export-format'
import { type JsonObject, jsonObjectOf } from 'guard-gateway/lib/json'
import {
  located,
  type OnCut,
  objectOf,
  type Recorded,
  type SessionHead,
  type SessionLine,
  sessionLines,
  textOf,
} from 'guard-gateway/lib/otlp'
import { ImportFault, memberLocation, traceFileErrors } from 'guard-gateway/lib/trace-file'
import { RolloutParser } from './parser.ts'

interface Rollout {
  readonly head: SessionHead
  /** A fork holds the lines of the session that it was made from, its first one too. */
  readonly forked_from: string | undefined
  readonly parser: RolloutParser
}

/** What Codex recorded. Throws GuardError with line and pointer. */
export function* codexEntries(file: ImportSource, cut: OnCut): Generator<Recorded> {
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
