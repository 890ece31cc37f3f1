import { GuardError } from 'guard-gateway/core'
import { httpErrors } from '../error-codes.ts'

const HEADER = 'x-guard-project-id'

/**
 * The headers of a request whose key is bound to projects: the one project that it is bound to stands in for a missing header.
 * Throws PROJECT_NOT_ALLOWED where the header names another, PROJECT_REQUIRED where none is named and there are several.
 */
export const bindProject = (
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  projects: readonly string[] | null | undefined,
): void => {
  if (projects === null || projects === undefined) return
  const named = headers[HEADER]
  const [only] = projects
  if (named !== undefined && named !== '') {
    if (projects.includes(String(named))) return
    throw new GuardError(
      httpErrors.PROJECT_NOT_ALLOWED,
      `The key is bound to ${projects.join(', ') || 'no project'}, and the header ${HEADER} names another project.`,
    )
  }
  if (only === undefined || projects.length > 1)
    throw new GuardError(
      httpErrors.PROJECT_REQUIRED,
      `The key is bound to ${projects.join(', ') || 'no project'}. Name the project in the header ${HEADER}.`,
    )
  Reflect.set(headers, HEADER, only)
}
