import { GuardError } from 'guard-gateway/core'
import { rejectUnknown } from '#lib/errors'
import { traceFileErrors } from '#lib/trace-file'
import type { ImportOptions, OnConflict } from './plan.ts'

const conflicts: readonly OnConflict[] = ['remap', 'skip', 'fail']
const known = ['on_conflict', 'project_id', 'dry_run']

/** Parses import options of a query or form; empty fields count as absent. Throws UNKNOWN_FILTER, INVALID_FILTER, INVALID_ID. */
export const readImportOptions = (parameters: Readonly<Record<string, unknown>>): ImportOptions => {
  rejectUnknown(parameters, known)
  const { on_conflict = 'remap', dry_run = 'false', project_id } = parameters
  const found = conflicts.find((one) => one === on_conflict)
  if (found === undefined)
    throw new GuardError('INVALID_FILTER', `"on_conflict" must be ${conflicts.join(', ')}.`, { path: '/on_conflict' })
  if (dry_run !== 'true' && dry_run !== 'false')
    throw new GuardError('INVALID_FILTER', '"dry_run" must be true or false.', { path: '/dry_run' })
  const project = projectIn(project_id)
  return { on_conflict: found, dry_run: dry_run === 'true', ...(project === undefined ? {} : { project_id: project }) }
}

const PROJECT = /^[A-Za-z0-9._:@/+=-]{1,128}$/

const projectIn = (project_id: unknown): string | undefined => {
  if (project_id === undefined || project_id === '') return undefined
  if (typeof project_id === 'string' && PROJECT.test(project_id)) return project_id
  throw new GuardError(traceFileErrors.INVALID_ID, '"project_id" must be 1 to 128 letters, digits or . _ : @ / + = -', {
    path: '/project_id',
  })
}
