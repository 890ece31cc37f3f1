import type { ImportSource } from 'guard-gateway/lib/export-format'
import { located, type OnCut, type Recorded, type SessionLine, sessionLines, textOf } from 'guard-gateway/lib/otlp'
import { headsIn, isMessage } from './heads.ts'
import { SessionParser } from './parser.ts'

/** What Claude Code recorded. Throws GuardError with line and pointer. */
export function* claudeCodeEntries(file: ImportSource, cut: OnCut): Generator<Recorded> {
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
