import type { ImportSource } from 'guard-gateway/lib/export-format'
import { type SessionHead, sessionLines, textOf } from 'guard-gateway/lib/otlp'

interface Seen {
  folder: string | undefined
  version: string | undefined
  /** Of the subagent whose lines are all there is; undefined where the session's own are there as well. */
  alone: string | undefined
  hasMain: boolean
}

/** The sessions of a file by id. A subagent's file without its session gets a run of its own. */
export const headsIn = (file: ImportSource): ReadonlyMap<string, SessionHead> => {
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

export const isMessage = (type: unknown): boolean => type === 'user' || type === 'assistant' || type === 'system'

const headOf = (session_id: string, { folder, version, alone, hasMain }: Seen): SessionHead => ({
  session_id,
  run: hasMain || alone === undefined ? session_id : `${session_id}:${alone}`,
  agent: 'claude-code',
  provider: 'anthropic',
  version,
  folder,
})
