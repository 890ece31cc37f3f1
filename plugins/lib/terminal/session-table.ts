import { costText, countText } from 'guard-gateway/lib/format'
import { type Html, html } from 'guard-gateway/lib/html'
import { terminalLine } from 'guard-gateway/lib/text'
import { columnLines } from './columns.ts'

/** The fields of a session in a list on a terminal. */
export interface ListedSession {
  readonly id: string
  readonly project_id: string
  readonly agent_id: string | null
  readonly paused: boolean
  /** RFC 3339; null or absent: not ended. */
  readonly ended_at?: string | null
  readonly pause_reason?: string | null
  readonly requests: number
  readonly flagged: number
  readonly blocked: number
  readonly total_tokens: number
  /** Millionths of the billing currency. */
  readonly cost_micro: number
  /** RFC 3339. */
  readonly last_seen_at: string
}

const head = ['last seen (UTC)', 'session', 'project', 'agent', 'requests', 'flagged', 'blocked', 'tokens', 'cost', '']
const figures: ReadonlySet<number> = new Set([4, 5, 6, 7, 8])
/** Agent, project, last seen, tokens. */
const spare = [3, 2, 0, 7]

/** Sessions as lines for a terminal of that many columns, one each below a head; none for none. */
export const sessionLines = (sessions: readonly ListedSession[], width: number | undefined): readonly string[] =>
  sessions.length === 0 ? [] : columnLines([head, ...sessions.map(rowOf)], figures, { width, spare })

const rowOf = (session: ListedSession): readonly string[] => [
  session.last_seen_at.slice(0, 19).replace('T', ' '),
  session.id,
  terminalLine(session.project_id),
  terminalLine(session.agent_id ?? ''),
  String(session.requests),
  String(session.flagged),
  String(session.blocked),
  countText(session.total_tokens),
  costText(session.cost_micro),
  stateOf(session),
]

const stateOf = ({ paused, ended_at = null }: ListedSession): string => {
  if (!paused) return ''
  return ended_at === null ? 'paused' : 'ended'
}

/** The state of a session or agent that a form was rendered with; two pauses are two states. */
export const stateToken = ({
  paused,
  paused_at,
  ended_at,
}: {
  readonly paused: boolean
  readonly paused_at: number | null
  readonly ended_at?: number | null
}): string => {
  if (!paused) return 'open'
  return (ended_at ?? null) === null ? `paused ${paused_at ?? ''}`.trim() : `ended ${ended_at}`
}

/** The field that a form names it with. */
export const stateField = (row: Parameters<typeof stateToken>[0]): Html =>
  html`<input type="hidden" name="shown" value="${stateToken(row)}">`
