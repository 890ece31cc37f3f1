import { describe } from 'node:test'
import type { Plugin } from 'guard-gateway/core'
import type { UpstreamClient } from 'guard-gateway/lib/upstream-client'
import type { UpstreamOptions } from 'guard-gateway/plugins/upstream'
import { net } from 'guard-gateway/plugins/upstream-clients/net'
import { nodeHttp } from 'guard-gateway/plugins/upstream-clients/node-http'
import type { UpstreamHealth } from '../../../plugins/upstream/health.ts'
import { type Started, type StartOptions, start as startGateway } from '../http/kit.ts'

/** An upstream of every style, and what is different about it. */
export const anUpstream = (name: string, base_url: string, more: Partial<UpstreamOptions> = {}): UpstreamOptions => ({
  name,
  base_url,
  styles: ['chat_completions', 'messages', 'responses'],
  ...more,
})

/** What health says of the upstreams. */
export const healthIn = ({ gateway }: Started): readonly UpstreamHealth[] =>
  (gateway.health.get('upstreams')?.() ?? []) as readonly UpstreamHealth[]

/** The ways to speak to upstreams that come with the gateway. */
export const clients: readonly (UpstreamClient & Plugin)[] = [net, nodeHttp]

export type Start = (options?: StartOptions) => Promise<Started>

/** Runs a set of tests over each of them; `start` starts a gateway that uses it. */
export const overEachClient = (tests: (start: Start, client: UpstreamClient & Plugin) => void): void => {
  for (const client of clients)
    describe(`over ${client.id}`, () => tests((options = {}) => startGateway({ ...options, client }), client))
}
