import type { Gateway } from 'guard-gateway/core'
import type { BudgetLeft } from '#lib/budget'
import { type RemainingContext, remainingOfProject } from './remaining.ts'

const MAX_POLICIES = 200
const MAX_SESSIONS = 200

/** The projects with a policy of their own, and those of the newest sessions. */
export const knownProjects = async ({ storage }: Gateway): Promise<readonly string[]> => {
  const [stored, sessions] = await Promise.all([
    storage.find('policies', { limit: MAX_POLICIES }),
    storage.has('sessions') ? storage.find('sessions', { limit: MAX_SESSIONS }) : { rows: [] },
  ])
  return [...new Set([...stored.rows, ...sessions.rows].map(({ project_id }) => project_id))].sort()
}

/** What is left of the budgets of all known projects and their agents, or of one agent in each. */
export const remainingOfAll = async (parts: RemainingContext, agent_id?: string): Promise<readonly BudgetLeft[]> => {
  const projects = await knownProjects(parts.gateway)
  return (await Promise.all(projects.map((project) => remainingOfProject(parts, project, agent_id)))).flat()
}
