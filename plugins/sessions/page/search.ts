import type { SessionRow } from 'guard-gateway/core'
import type { SearchHit, SearchSource } from 'guard-gateway/lib/page'
import type { AgentRow } from '../tables.ts'
import type { PageParts } from './index.ts'

const MAX_HITS = 10

/** Finds sessions by id, client's id and name, agents by id, name and the id of a key, and projects. */
export const sessionSource = ({ gateway, live, agents, keys }: PageParts): SearchSource => ({
  id: 'sessions',
  order: 20,
  takes: 'ids and names of sessions, also those of clients, and of agents, ids of keys and projects',
  find: async (text) => {
    const { storage } = gateway
    const find = (where: Partial<Record<'external_id' | 'name' | 'project_id', string>>, limit = MAX_HITS) =>
      storage.find('sessions', { where, limit })
    const [session, byExternal, byName, agent, agentsByName, key, ofProject] = await Promise.all([
      live.find(text),
      find({ external_id: text }),
      find({ name: text }),
      agents.row(text),
      storage.find('agents', { where: { name: text }, limit: MAX_HITS }),
      storage.get('agent_keys', text),
      find({ project_id: text }, 1),
    ])
    const begun = live.known({ external_id: text }).map(({ row }) => row)
    const rows = [...(session === undefined ? [] : [session.row]), ...byExternal.rows, ...begun, ...byName.rows]
    return [
      ...rows.map(sessionHit),
      ...[...(agent === undefined ? [] : [agent]), ...agentsByName.rows].map(agentHit),
      ...(key === undefined
        ? []
        : [
            keyHit(
              key.id,
              key.agent_id,
              keys.of(key.agent_id).some(({ id }) => id === text),
            ),
          ]),
      ...ofProject.rows.map(({ project_id }) => projectHit(project_id)),
    ]
  },
})

const sessionHit = ({ id, name, external_id, project_id }: SessionRow): SearchHit => ({
  kind: 'session',
  title: name ?? external_id ?? id,
  url: `/sessions/${encodeURIComponent(id)}`,
  note: `${id} in ${project_id}`,
})

const agentHit = ({ id, name }: AgentRow): SearchHit => ({
  kind: 'agent',
  title: id,
  url: `/agents/${encodeURIComponent(id)}`,
  ...(name === null ? {} : { note: name }),
})

const keyHit = (id: string, agent_id: string, isLive: boolean): SearchHit => ({
  kind: 'key of an agent',
  title: id,
  url: `/agents/${encodeURIComponent(agent_id)}#key-${id}`,
  note: isLive ? `of ${agent_id}` : `of ${agent_id}, revoked`,
})

const projectHit = (project_id: string): SearchHit => ({
  kind: 'project',
  title: project_id,
  url: `/sessions?project_id=${encodeURIComponent(project_id)}`,
  note: 'its sessions',
})
