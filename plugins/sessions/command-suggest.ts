import type { Static } from 'typebox'
import type { AskJson, Suggestion } from '#lib/command'
import { agoText } from '#lib/terminal'
import type { agentsPage, oneAgent, sessionsPage } from './schemas.ts'

/** What is stored, newest first; `now` is milliseconds since 1970, `args` what stands in front. */
export type Suggest = (ask: AskJson, now: number, args: readonly string[]) => Promise<readonly Suggestion[]>

type Session = Static<typeof sessionsPage>['sessions'][number]
type Agent = Static<typeof agentsPage>['agents'][number]

const LIMIT = 100

const sessionsOf = async (ask: AskJson): Promise<readonly Session[]> =>
  ((await ask('GET', `/api/sessions?limit=${LIMIT}`)) as Static<typeof sessionsPage>).sessions

const agentsOf = async (ask: AskJson): Promise<readonly Agent[]> =>
  ((await ask('GET', `/api/agents?limit=${LIMIT}`)) as Static<typeof agentsPage>).agents

export const suggestSessions: Suggest = async (ask, now) =>
  (await sessionsOf(ask)).flatMap((session) => ofSession(session, now))

export const suggestOpenSessions: Suggest = async (ask, now) =>
  (await sessionsOf(ask)).filter(({ paused }) => !paused).flatMap((session) => ofSession(session, now))

export const suggestPausedSessions: Suggest = async (ask, now) =>
  (await sessionsOf(ask)).filter(({ paused }) => paused).flatMap((session) => ofSession(session, now))

/** A session by its id, and by that of its client. */
const ofSession = (session: Session, now: number): readonly Suggestion[] => {
  const { id, external_id, name, agent_id, project_id, client, paused } = session
  const who = [name ?? external_id ?? client, agent_id, project_id].filter((word) => word !== null && word !== '')
  const meaning = [...who, paused ? 'paused' : '', agoText(Date.parse(session.last_seen_at), now)]
    .filter((word) => word !== '')
    .join(', ')
  return [{ value: id, meaning }, ...(external_id === null ? [] : [{ value: external_id, meaning }])]
}

export const suggestAgents: Suggest = async (ask) => (await agentsOf(ask)).map(ofAgent)

export const suggestActiveAgents: Suggest = async (ask) =>
  (await agentsOf(ask)).filter(({ paused }) => !paused).map(ofAgent)

export const suggestPausedAgents: Suggest = async (ask) =>
  (await agentsOf(ask)).filter(({ paused }) => paused).map(ofAgent)

const ofAgent = ({ id, name, project_id, paused }: Agent): Suggestion => ({
  value: id,
  meaning: [name, project_id, paused ? 'paused' : null].filter((word) => word !== null && word !== id).join(', '),
})

/** Keys of the agent that stands in front. */
export const suggestKeys: Suggest = async (ask, now, [agent = '']) => {
  const { agent: found } = (await ask('GET', `/api/agents/${encodeURIComponent(agent)}`)) as Static<typeof oneAgent>
  return found.keys.map(({ id, prefix, last_used_at }) => ({
    value: id,
    meaning: `${prefix}…, ${last_used_at === null ? 'never used' : `used ${agoText(Date.parse(last_used_at), now)}`}`,
  }))
}

export const suggestProjects: Suggest = async (ask) => {
  const projects = new Map<string, number>()
  for (const { project_id } of await sessionsOf(ask)) projects.set(project_id, (projects.get(project_id) ?? 0) + 1)
  return [...projects].map(([value, count]) => ({ value, meaning: `${count} ${count === 1 ? 'session' : 'sessions'}` }))
}
