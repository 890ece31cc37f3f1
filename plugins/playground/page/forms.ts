import { GuardError, type Mode } from 'guard-gateway/core'
import type { Form, Posted } from 'guard-gateway/lib/page'
import type { RunRequest } from '../run-request.ts'
import type { PageParts } from './index.ts'

/** The steps wait so long for one another where a run is to be watched. */
const WATCHED_MS = 700

/** The form that starts a run, and leads to it. */
export const startForm = ({ runs, administration }: PageParts): Form => ({
  id: 'playground/start',
  path: '/ui/playground/runs',
  page: '/playground',
  notices: {},
  submit: async ({ fields }: Posted) => {
    const { id } = await runs.start(orderIn(fields), administration)
    return { location: `/playground/runs/${id}` }
  },
})

/** Reads a form. Throws INVALID_REQUEST. */
const orderIn = (fields: URLSearchParams): RunRequest => {
  const style = fields.get('style') ?? ''
  return {
    scenario: fields.get('scenario') ?? '',
    mode: modeIn(fields.get('mode') ?? ''),
    pace_ms: fields.has('watch') ? WATCHED_MS : 0,
    ...(style === '' ? {} : { style }),
  }
}

const modeIn = (text: string): Mode => {
  if (text === '' || text === 'shadow') return 'shadow'
  if (text === 'enforce') return text
  throw new GuardError('INVALID_REQUEST', 'The mode of a run is shadow or enforce.', { path: '/mode' })
}

/** The form that ends a run. */
export const cancelForm = ({ runs }: PageParts): Form => ({
  id: 'playground/cancel',
  path: '/ui/playground/runs/:id/cancel',
  page: '/playground/runs/:id',
  notices: { 'run-cancelled': 'Cancelled. What was under way is not told any more.' },
  submit: async ({ params }: Posted) => {
    await runs.cancel(params.id ?? '')
    return { notice: 'run-cancelled' }
  },
})
