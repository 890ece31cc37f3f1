import type { Gateway } from 'guard-gateway/core'
import type { BudgetLeft } from 'guard-gateway/lib/budget'
import { type LeftParts, leftOfProject } from './left.ts'

const MOST_POLICIES = 200
const SESSIONS_LOOKED_AT = 200

/** The projects with a policy of their own, and those of the newest sessions. */
export const knownProjects = async ({ storage }: Gateway): Promise<readonly string[]> => {
  const [stored, sessions] = await Promise.all([
    storage.find('policies', { limit: MOST_POLICIES }),
    storage.has('sessions') ? storage.find('sessions', { limit: SESSIONS_LOOKED_AT }) : { rows: [] },
  ])
  return [...new Set([...stored.rows, ...sessions.rows].map(({ project_id }) => project_id))].sort()
}

/** What is left of the budgets of all known projects and their agents, or of one agent in each. */
export const leftOfAll = async (parts: LeftParts, agent_id?: string): Promise<readonly BudgetLeft[]> => {
  const projects = await knownProjects(parts.gateway)
  return (await Promise.all(projects.map((project) => leftOfProject(parts, project, agent_id)))).flat()
}
