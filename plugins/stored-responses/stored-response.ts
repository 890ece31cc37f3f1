import type { Gateway, Identity } from 'guard-gateway/core'
import { everyProject } from 'guard-gateway/lib/principal'
import type { CallRecord } from 'guard-gateway/lib/trace'

/** Records that bear the id of one response: the request that made it, and retrievals that brought its usage. */
export interface StoredResponse {
  readonly id: string
  /** The request that made it. */
  readonly made: CallRecord
  readonly records: readonly CallRecord[]
}

/** Retrievals record at most one row each time that they bring new usage. */
const MOST = 50

/** What is on record of a response, of whatever project; undefined if nothing is. */
export const storedResponse = async (gateway: Gateway, id: string): Promise<StoredResponse | undefined> => {
  const records = await everyProject(() => gateway.storage.find('calls', { where: { response_id: id }, limit: MOST }))
  const made = records.rows.findLast(({ uncounted }) => uncounted !== 'retrieval')
  return made === undefined ? undefined : { id, made, records: records.rows }
}

/** The key is bound to no project, or to that of the response. */
export const mayUse = ({ projects }: Identity, { made }: StoredResponse): boolean =>
  projects === null || projects === undefined || projects.includes(made.project_id)
