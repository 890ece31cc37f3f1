import type { Change, Reader, Redactor, Row, SessionRow, Settled, Turn } from 'guard-gateway/core'
import { newId } from '#lib/ids'
import { pages } from '#lib/paging'
import { callFacts } from './call-facts.ts'
import { type CallSource, callSource, type Previews } from './call-source.ts'
import { columnsOf, type Flagged, flagged, literalOf, type Readers, type ValuesOf } from './fact.ts'
import { isUserFirstIn, turnsIn } from './turn-text.ts'

declare module 'guard-gateway/core' {
  interface Tables {
    calls: CallRecord
    session_events: SessionEvent
  }

  interface Recording {
    readonly settled: Settled
    readonly record: CallRecord
    /** 0, then 1, 2, … where an earlier write was refused because something had changed meanwhile. */
    readonly attempt: number
    /** Changes of the same write; more may be pushed. */
    readonly batch: Change[]
  }
}

/** One guarded request as recorded: a row of table `calls`. */
export interface CallRecord extends ValuesOf<typeof callFacts> {}

/** What table `calls` says of its columns. */
export const callColumns = {
  columns: columnsOf(callFacts),
  repeated: flagged(callFacts, 'repeated'),
  exact: flagged(callFacts, 'exact'),
}

const readCall = literalOf<CallSource, CallRecord>(callFacts)

/** The record of a settled call. `continues`: a later request may name its reply. */
export const newCallRecord = (settled: Settled, redact: Redactor, previews: Previews, continues: boolean): CallRecord =>
  readCall(callSource(settled, redact, previews, continues))

/** Turns that a record adds to what it goes on from. */
export const newTurnsOf = ({ turns }: Pick<CallRecord, 'turns'>): readonly Turn[] =>
  turns === null ? [] : turnsIn(turns)

type Remembered = Pick<CallRecord, Flagged<typeof callFacts, 'remembered'> & keyof Row>

const remembered = literalOf<CallRecord, Remembered>(
  Object.fromEntries(
    flagged(callFacts, 'remembered').map((name) => [name, { from: (record: CallRecord) => record[name] }]),
  ) as Readers<CallRecord, Remembered>,
)

/** What detection remembers of a recorded request: how a session's history is read back after a restart. */
export const rowOf = (record: CallRecord): Row => ({
  ...remembered(record),
  at: record.received_at,
  new_turns: newTurnsOf(record),
  user_first: record.turns === null ? null : isUserFirstIn(record.turns),
  measures: record.measures ?? {},
  matches: record.matches ?? [],
  cost_micro: record.cost_micro ?? 0,
  reserved: 0,
})

/**
 * What happened to a session beside its requests, which are in `calls`: a row of table `session_events`. `at` is milliseconds since 1970.
 */
export interface SessionEvent {
  readonly id: string
  readonly session_id: string
  readonly project_id: string
  readonly agent_id: string | null
  readonly name: string
  readonly at: number
  readonly severity: 'info' | 'warn' | 'error'
  readonly request_id: string | null
  readonly attributes: Readonly<Record<string, unknown>> | null
}

/** A history entry for something that happened to a session beside its requests, for example `session.paused`. */
export const sessionEvent = (
  session: SessionRow,
  name: string,
  at: number,
  attributes: Readonly<Record<string, unknown>> = {},
): SessionEvent => ({
  id: newId('evt_', at),
  session_id: session.id,
  project_id: session.project_id,
  agent_id: session.agent_id,
  name,
  at,
  severity: 'info',
  request_id: null,
  attributes,
})

/** What is on record of a session's requests, oldest first, at most about so many; `truncated`: there are more. */
export const recordedCalls = async (
  storage: Reader,
  session_id: string,
  most: number,
): Promise<{ readonly records: readonly CallRecord[]; readonly truncated: boolean }> => {
  const records: CallRecord[] = []
  let truncated = false
  for await (const page of pages(storage, 'calls', { where: { session_id }, order: ['recorded', 'asc'] })) {
    truncated = records.length >= most
    if (truncated) break
    records.push(...page)
  }
  return { records: records.sort((a, b) => a.received_at - b.received_at || (a.id < b.id ? -1 : 1)), truncated }
}
