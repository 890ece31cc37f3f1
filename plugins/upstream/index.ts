import type { Gateway, Plugin } from 'guard-gateway/core'
import { upstreamOf } from './destination.ts'
import { forwarder } from './forward.ts'
import type { UpstreamOptions } from './options.ts'
import { proxier } from './proxy.ts'
import { Upstreams } from './routing.ts'

export type { Auth, Timeouts, UpstreamOptions } from './options.ts'

/** Taken before anybody asks who sends a request: what nobody serves makes no session. */
const ROUTE_STAGE = -100
/** Whoever answers in the upstreams' place, answers before. */
const FORWARD_STAGE = 100

/** Routes requests to the configured upstreams by style and model, and forwards them byte for byte. */
export const upstream = (options: readonly UpstreamOptions[] = []): Plugin => ({
  name: 'upstream',
  apply(gateway: Gateway) {
    for (const { api_key, headers = {} } of options)
      for (const secret of secretsOf(api_key, headers)) gateway.secrets.add(secret)
    const upstreams = new Upstreams(options.map(upstreamOf))
    // a name that leads nowhere is found now and not when it is needed
    for (const each of upstreams.all) upstreams.fallbacks(each)
    gateway.hooks.request.tap({ name: 'upstream', stage: ROUTE_STAGE }, (call) => {
      call.upstream ??= upstreams.route([call.style], call.envelope.model).name
    })
    gateway.hooks.forward.tapPromise({ name: 'upstream', stage: FORWARD_STAGE }, forwarder(gateway, upstreams))
    gateway.hooks.proxy.tapPromise({ name: 'upstream', stage: FORWARD_STAGE }, proxier(gateway, upstreams))
    gateway.health.set('upstreams', () => upstreams.all.map(({ name, styles, models }) => ({ name, styles, models })))
    gateway.hooks.close.tap('upstream', () => {
      for (const { agent } of upstreams.all) agent.destroy()
    })
  },
})

const CREDENTIAL_HEADER = /authorization|cookie|key|token|secret|password/i

/** What must never be seen elsewhere: the key, and the values of headers that look like one by their name. */
const secretsOf = (api_key: string | undefined, headers: Readonly<Record<string, string>>): readonly string[] => [
  ...(api_key === undefined ? [] : [api_key]),
  ...Object.entries(headers).flatMap(([name, value]) =>
    CREDENTIAL_HEADER.test(name) ? [value.replace(/^\S+ (?=\S+$)/, '')] : [],
  ),
]
