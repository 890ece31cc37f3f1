import { describe } from 'node:test'
import type { UpstreamClient } from '#lib/upstream-client'
import { keepsConnections } from './upstream-client/connections.ts'
import { endsExchanges } from './upstream-client/endings.ts'
import { refusesFaults } from './upstream-client/faults.ts'
import { readsFraming } from './upstream-client/framing.ts'

/** What every way to speak to upstreams promises. */
export const upstreamClientConforms = (client: UpstreamClient): void => {
  describe(`upstream client ${client.id}`, () => {
    readsFraming(client)
    refusesFaults(client)
    keepsConnections(client)
    endsExchanges(client)
  })
}
