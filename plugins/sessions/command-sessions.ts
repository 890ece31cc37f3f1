import { costText, countText } from 'guard-gateway/lib/format'
import { writeJson } from 'guard-gateway/lib/json'
import { columnLines, sessionLines, terminalWidth } from 'guard-gateway/lib/terminal'
import { terminalLine } from 'guard-gateway/lib/text'
import type { Static } from 'typebox'
import { type CommandContext, filtered, printPage } from './command-context.ts'
import type { oneSession, sessionSchema, sessionsPage } from './schemas.ts'

type Session = Static<typeof sessionSchema>

const filters = { project: 'project_id', agent: 'agent_id', paused: 'paused', limit: 'limit', cursor: 'cursor' }

/** Prints a page of sessions, one a line. */
export const listSessions = async (context: CommandContext): Promise<void> => {
  const page = (await context.ask('GET', filtered('/api/sessions', context.input, filters))) as Static<
    typeof sessionsPage
  >
  const width = terminalWidth(context.io.out)
  printPage(page, context, ({ sessions }) => sessionLines(sessions, width), 'There are no such sessions.')
}

/** Prints what is known of one session. */
export const showSession = async (context: CommandContext): Promise<void> => {
  const answer = (await context.ask('GET', pathOf(context))) as Static<typeof oneSession>
  const { input, io } = context
  if (input.options.json === true) return void io.out.write(`${writeJson(answer)}\n`)
  const { name, client, metadata, pause_reason, external_id, external_source, created_at, ...rest } = answer.session
  const rows: [string, string][] = [
    ['session', rest.id],
    ['name', name ?? ''],
    ['state', stateOf(rest)],
    ['pause reason', pause_reason ?? ''],
    ['project', rest.project_id],
    ['agent', rest.agent_id ?? ''],
    ['client', client],
    ['client id', external_id === null ? '' : `${external_id} (from ${external_source})`],
    ['first seen', timeOf(created_at)],
    ['last seen', timeOf(rest.last_seen_at)],
    ['requests', `${rest.requests}, ${rest.flagged} flagged, ${rest.blocked} blocked, ${rest.errors} errors`],
    ['tokens', `${countText(rest.input_tokens)} in, ${countText(rest.output_tokens)} out`],
    ['cost', costText(rest.cost_micro)],
    ['metadata', Object.keys(metadata).length === 0 ? '' : JSON.stringify(metadata)],
  ]
  const told = rows.filter(([, value]) => value !== '')
  for (const line of columnLines(told.map(([key, value]) => [key, terminalLine(value)]))) io.out.write(`${line}\n`)
}

/** Pauses, resumes or ends a session and prints what it is then. */
export const changeSession = async (context: CommandContext, change: 'pause' | 'resume' | 'end'): Promise<void> => {
  const { input, io } = context
  const { reason } = input.options
  const body = reason === undefined ? undefined : { reason: String(reason) }
  const answer = (await context.ask('POST', `${pathOf(context)}/${change}`, body)) as Static<typeof oneSession>
  if (input.options.json === true) io.out.write(`${writeJson(answer)}\n`)
  else io.out.write(`${answer.session.id}  ${stateOf(answer.session)}\n`)
}

const pathOf = ({ input }: CommandContext): string => `/api/sessions/${encodeURIComponent(input.args[0] ?? '')}`

const stateOf = ({ paused, ended_at }: Pick<Session, 'paused' | 'ended_at'>): string => {
  if (!paused) return 'active'
  return ended_at === null ? 'paused' : 'ended'
}

/** RFC 3339 in UTC, to the second. */
const timeOf = (time: string): string => `${time.slice(0, 19).replace('T', ' ')} UTC`
