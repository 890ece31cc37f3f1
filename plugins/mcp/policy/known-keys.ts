import type { Gateway } from 'guard-gateway/core'
import { pages } from '#lib/paging'
import { everyProject } from '#lib/principal'

/** What policies call the gateway key. */
export const GATEWAY_KEY = 'gateway'

const LIVE = { where: { revoked_at: null } } as const

/** Ids and names of all live keys, as policies may call them. */
export const knownKeys = async (gateway: Gateway): Promise<ReadonlySet<string>> =>
  new Set([GATEWAY_KEY, ...(await everyProject(() => keyNames(gateway)))])

const keyNames = async ({ storage }: Gateway): Promise<readonly string[]> => {
  const names: string[] = []
  if (!storage.has('access_keys') || !storage.has('agent_keys')) return names
  for await (const page of pages(storage, 'access_keys', LIVE))
    names.push(...page.flatMap(({ id, name }) => [id, name]))
  for await (const page of pages(storage, 'agent_keys', LIVE)) names.push(...page.map(({ id }) => id))
  return names
}
