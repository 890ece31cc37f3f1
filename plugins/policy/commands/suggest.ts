import type { AskJson, Suggestion } from '#lib/command'
import { DEFAULT_PROJECT } from '#lib/session'

interface Listed {
  readonly sessions: readonly { readonly project_id: string }[]
}

/** Projects of the newest sessions, and the one that requests belong to which name none. */
export const suggestProjects = async (ask: AskJson): Promise<readonly Suggestion[]> => {
  const { sessions } = (await ask('GET', '/api/sessions?limit=100')) as Listed
  const projects = new Set([...sessions.map(({ project_id }) => project_id), DEFAULT_PROJECT])
  return [...projects].map((value) => ({ value }))
}
