import { type Gateway, GuardError } from 'guard-gateway/core'
import { pages } from '#lib/paging'
import { everyProject, visibleProjects } from '#lib/principal'
import { accessErrors } from '../error-codes.ts'
import type { AccessKeyRow } from './tables.ts'

/** The live keys, newest first; to whoever is bound to projects those that are bound to no others. */
export const liveKeys = async ({ storage, clock }: Gateway): Promise<readonly AccessKeyRow[]> => {
  const found: AccessKeyRow[] = []
  await everyProject(async () => {
    for await (const page of pages(storage, 'access_keys', { where: { revoked_at: null } })) found.push(...page)
  })
  const now = clock.now()
  return found.filter((row) => isManaged(row) && (row.expires_at === null || row.expires_at > now))
}

/** A key that is not revoked. Throws ACCESS_KEY_NOT_FOUND. */
export const needKey = async ({ storage }: Gateway, id: string): Promise<AccessKeyRow> => {
  const row = await everyProject(() => storage.get('access_keys', id))
  if (row === undefined || row.revoked_at !== null || !isManaged(row))
    throw new GuardError(accessErrors.ACCESS_KEY_NOT_FOUND)
  return row
}

const isManaged = ({ projects }: AccessKeyRow): boolean => {
  const own = visibleProjects()
  return own === null || projects?.every((project) => own.includes(project)) === true
}
