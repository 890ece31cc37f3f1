import { type Gateway, GuardError } from 'guard-gateway/core'
import { suggestion } from 'guard-gateway/plugins/cli'
import { dotted } from './faults.ts'
import type { Config } from './schema.ts'

/** Those that come with the gateway. */
const shipped = ['net', 'node_http']

/** Refuses an upstream whose client no plugin of the gateway is. Throws INVALID_CONFIG. */
export const checkClients = ({ upstreamClients }: Gateway, { upstreams }: Config): void => {
  const known = [...new Set([...shipped, ...upstreamClients.ids()])]
  for (const [index, { client }] of upstreams.entries()) {
    if (known.includes(client)) continue
    const path = dotted(['upstreams', index, 'client'])
    const told = `${path}: there is no client "${client}"; there is ${known.join(', ')}.${suggestion(client, known)}`
    throw new GuardError('INVALID_CONFIG', told, { path, known })
  }
}
