import type { Gateway } from 'guard-gateway/core'
import { pages } from '#lib/paging'
import { DEFAULT_PROJECT } from '#lib/session'

/** The projects that a policy would hold for. */
export interface Projects {
  /** What to search for; `has` leaves out of it what belongs to others. */
  readonly where: { readonly project_id?: string }
  readonly has: (of: { readonly project_id: string }) => boolean
}

/** The project alone, or with `default` every project that has no policy of its own. */
export const projectsUnder = async ({ storage }: Gateway, project: string): Promise<Projects> => {
  if (project !== DEFAULT_PROJECT) return { where: { project_id: project }, has: () => true }
  const others = new Set<string>()
  for await (const page of pages(storage, 'policies', {})) for (const { project_id } of page) others.add(project_id)
  others.delete(DEFAULT_PROJECT)
  return { where: {}, has: ({ project_id }) => !others.has(project_id) }
}
