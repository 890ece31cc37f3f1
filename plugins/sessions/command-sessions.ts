import type { Static } from 'typebox'
import type { CommandContext } from '#lib/command'
import { costText, countText, groupedText } from '#lib/format'
import { writeJson } from '#lib/json'
import { agoText, columnLines, sessionLines, terminalWidth, wholeId } from '#lib/terminal'
import { terminalLine } from '#lib/text'
import { filtered, printPage } from './command-context.ts'
import type { oneSession, sessionSchema, sessionsPage } from './schemas.ts'

type Session = Static<typeof sessionSchema>

const filters = { project: 'project_id', agent: 'agent_id', paused: 'paused', limit: 'limit', cursor: 'cursor' }

/** Prints a page of sessions, one a line. */
export const listSessions = async (context: CommandContext): Promise<void> => {
  const page = (await context.ask('GET', filtered('/api/sessions', context.input, filters))) as Static<
    typeof sessionsPage
  >
  printPage(
    page,
    context,
    ({ sessions }) => sessionLines(sessions, context.now, context),
    'There are no such sessions.',
  )
}

/** Prints what is known of one session. */
export const showSession = async (context: CommandContext): Promise<void> => {
  const answer = (await context.ask('GET', await pathOf(context))) as Static<typeof oneSession>
  const { input, io, now } = context
  if (input.options.json === true) return void io.out.write(`${writeJson(answer)}\n`)
  const timeOf = (time: string): string =>
    terminalWidth(io.out) === undefined ? exactTime(time) : `${agoText(Date.parse(time), now)}, ${exactTime(time)}`
  const { name, client, metadata, pause_reason, external_id, external_source, created_at, ...rest } = answer.session
  const rows: [string, string][] = [
    ['name', name ?? ''],
    ['session', rest.id],
    ['state', stateOf(rest)],
    ['pause reason', pause_reason ?? ''],
    ['project', rest.project_id],
    ['agent', rest.agent_id ?? ''],
    ['client', client],
    ['client id', external_id === null ? '' : `${external_id} (from ${external_source})`],
    ['first seen', timeOf(created_at)],
    ['last seen', timeOf(rest.last_seen_at)],
    [
      'requests',
      `${groupedText(rest.requests)}, ${rest.flagged} flagged, ${rest.blocked} blocked, ${rest.errors} errors`,
    ],
    [
      'tokens',
      `${countText(rest.total_input_tokens)} in${rest.cached_input_tokens > 0 ? ` (${countText(rest.cached_input_tokens)} cached)` : ''}, ${countText(rest.output_tokens)} out`,
    ],
    ['cost', costText(rest.cost_micro)],
    ['metadata', Object.keys(metadata).length === 0 ? '' : JSON.stringify(metadata)],
  ]
  const filled = rows.filter(([, value]) => value !== '')
  for (const line of columnLines(filled.map(([key, value]) => [key, terminalLine(value)]))) io.out.write(`${line}\n`)
}

/** Pauses, resumes or ends a session and prints what it is then. */
export const changeSession = async (context: CommandContext, change: 'pause' | 'resume' | 'end'): Promise<void> => {
  const { input, io } = context
  const { reason } = input.options
  const body = reason === undefined ? undefined : { reason: String(reason) }
  const answer = (await context.ask('POST', `${await pathOf(context)}/${change}`, body)) as Static<typeof oneSession>
  if (input.options.json === true) io.out.write(`${writeJson(answer)}\n`)
  else io.out.write(`${answer.session.id}  ${stateOf(answer.session)}\n`)
}

const pathOf = (context: CommandContext): Promise<string> => sessionPath('/api/sessions', context)

/** Path of the session that is named, below `base`. */
export const sessionPath = async (base: string, context: Pick<CommandContext, 'ask' | 'input'>): Promise<string> =>
  `${base}/${encodeURIComponent(await sessionId(context))}`

/** The session that is meant by what a list shows of its id. */
const sessionId = ({ ask, input }: Pick<CommandContext, 'ask' | 'input'>): Promise<string> =>
  wholeId(input.args[0] ?? '', async () => {
    const { sessions } = (await ask('GET', '/api/sessions?limit=200')) as Static<typeof sessionsPage>
    return sessions.map(({ id }) => id)
  })

const stateOf = ({ paused, ended_at }: Pick<Session, 'paused' | 'ended_at'>): string => {
  if (!paused) return 'active'
  return ended_at === null ? 'paused' : 'ended'
}

/** RFC 3339 in UTC, to the second. */
const exactTime = (time: string): string => `${time.slice(0, 19).replace('T', ' ')} UTC`
