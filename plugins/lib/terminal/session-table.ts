import { GuardError } from 'guard-gateway/core'
import type { Input, Io } from '#lib/command'
import { costText, countText, groupedText } from '#lib/format'
import { type Html, html } from '#lib/html'
import { elideProcessPart, shortId } from '#lib/ids'
import { terminalLine } from '#lib/text'
import { columnLines, terminalWidth } from './columns.ts'
import { painter } from './painter.ts'

/** The fields of a session in a list on a terminal. */
export interface ListedSession {
  readonly id: string
  readonly name?: string | null
  /** The client's own id of it. */
  readonly external_id?: string | null
  /** The program that it comes from. */
  readonly client?: string
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

const head = [
  'session',
  'agent',
  'project',
  'state',
  'last seen',
  'requests',
  'flagged',
  'blocked',
  'tokens',
  'cost',
  'id',
]
const figures: ReadonlySet<number> = new Set([5, 6, 7, 8, 9])
/** Project, tokens, requests, agent, last seen. */
const spare = [2, 8, 5, 1, 4]
const free = new Map([
  [0, 16],
  [1, 10],
  [2, 10],
])

/** Sessions as lines for a terminal, one each below a head; none for none. `now`: milliseconds since 1970. */
export const sessionLines = (
  sessions: readonly ListedSession[],
  now: number,
  { input, io }: { readonly input: Pick<Input, 'options'>; readonly io: Pick<Io, 'out' | 'env'> },
): readonly string[] => {
  if (sessions.length === 0) return []
  const width = terminalWidth(io.out)
  const colour = painter(input, io)
  const paint = (cell: string, column: number): string =>
    Number(cell) > 0 && column === 7 ? colour(cell, 'red') : column === 3 ? colour(cell, 'yellow') : cell
  const rows = sessions.map((session) => rowOf(session, now, width !== undefined))
  return columnLines([head, ...rows], figures, { width, spare, free, paint })
}

const rowOf = (session: ListedSession, now: number, isTerminal: boolean): readonly string[] => [
  terminalLine(session.name ?? session.external_id ?? session.client ?? ''),
  terminalLine(session.agent_id ?? ''),
  terminalLine(session.project_id),
  stateOf(session),
  listedTime(Date.parse(session.last_seen_at), now, isTerminal),
  groupedText(session.requests),
  groupedText(session.flagged),
  groupedText(session.blocked),
  countText(session.total_tokens),
  costText(session.cost_micro),
  listedId(session.id, isTerminal),
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

/** An id in a list: for people at a terminal as much as tells it from others, elsewhere whole. */
export const listedId = (id: string, isTerminal: boolean): string => (isTerminal ? shortId(id) : id)

/** The id that is meant by what a list shows of it, or by how it begins; what is typed itself where nothing is known. Throws USAGE if several are meant. */
export const wholeId = async (typed: string, known: () => Promise<readonly string[]>): Promise<string> => {
  if (!isPart(typed)) return typed
  const ids = await known()
  if (ids.includes(typed)) return typed
  const meant = [...new Set(ids.filter((id) => isMeant(id, typed)))]
  if (meant.length <= 1) return meant[0] ?? typed
  throw new GuardError(
    'USAGE',
    `"${typed}" is the beginning of ${meant.length} ids: ${meant.slice(0, MAX_LISTED).join(', ')}${meant.length > MAX_LISTED ? ', …' : ''}. Type more of it.`,
  )
}

const MAX_LISTED = 4
/** The beginning of a trace id, or of an id that the gateway made. */
const BEGINNING = /^(?:[0-9a-f]{4,31}|[a-z]{2,5}_[0-9a-z]{4,25})$/

const isPart = (typed: string): boolean => typed.includes('…') || BEGINNING.test(typed)

const isMeant = (id: string, typed: string): boolean => {
  const [begin = '', end = ''] = typed.split('…')
  if (end === '') return id.startsWith(begin)
  return id.startsWith(begin) && elideProcessPart(id).replace(/…$/, '').endsWith(end)
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** How long ago an instant was, as people say it: `now`, `12 s ago`, `3 min ago`, `2 h ago`, `5 d ago`; a date where that is longer than a month, or to come. Both in milliseconds since 1970. */
export const agoText = (at: number, now: number): string => {
  const age = now - at
  if (age < -MINUTE || age >= 31 * DAY) return new Date(at).toISOString().slice(0, 10)
  if (age < 1_000) return 'now'
  if (age < MINUTE) return `${Math.floor(age / 1_000)} s ago`
  if (age < HOUR) return `${Math.floor(age / MINUTE)} min ago`
  return age < 2 * DAY ? `${Math.floor(age / HOUR)} h ago` : `${Math.floor(age / DAY)} d ago`
}

/** An instant in a list: for people at a terminal how long ago it was, elsewhere to the second in UTC. */
export const listedTime = (at: number, now: number, isTerminal: boolean): string =>
  isTerminal ? agoText(at, now) : `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')}`
