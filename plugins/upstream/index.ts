import type { Gateway, Plugin } from 'guard-gateway/core'
import { upstreamClientKind } from '#lib/upstream-client'
import { clientOf } from './connections.ts'
import { upstreamErrors } from './error-codes.ts'
import { forwardHandler } from './forward.ts'
import { healthOf } from './health.ts'
import { LiveUpstreams, type UpstreamsOptions } from './live-upstreams.ts'
import type { UpstreamOptions } from './options.ts'
import { passthroughHandler } from './passthrough.ts'
import { projectOf } from './routing.ts'
import { LiveSocketUpstreams } from './socket-upstreams.ts'

export type { UpstreamsOptions } from './live-upstreams.ts'
export type { Auth, Timeouts, UpstreamOptions } from './options.ts'

/** Before the session is resolved, so that all who look at a call find its upstream. */
const ROUTE_STAGE = -100
/** A plugin that answers instead of an upstream taps before this stage. */
const FORWARD_STAGE = 100

/** Routes requests to the configured upstreams by style and model, and forwards them byte for byte. */
export const upstream = (options: UpstreamsOptions = { upstreams: [] }): Plugin => ({
  name: 'upstream',
  apply(gateway: Gateway) {
    gateway.errorCodes.add(...Object.values(upstreamErrors))
    for (const secret of options.upstreams.flatMap(secretsOf)) gateway.secrets.add(secret)
    const upstreams = new LiveUpstreams(options, gateway.registry(upstreamClientKind))
    gateway.service('socketUpstreams').provide(new LiveSocketUpstreams(gateway, upstreams))
    gateway.hooks.open.tap('upstream', () => {
      for (const { client } of options.upstreams) clientOf(gateway.registry(upstreamClientKind), client)
    })
    gateway.hooks.request.tapPromise({ name: 'upstream', stage: ROUTE_STAGE }, (call) => {
      const { current } = upstreams
      const choose = (project: string): void => {
        // what names no upstream of the project, as one that is gone by now, goes where others go
        if (call.upstream === null || (current.areDivided && current.named(call.upstream, project) === undefined))
          call.upstream = current.find([call.style], call.envelope.model, project)?.name ?? null
      }
      return current.areDivided ? projectOf(gateway, current, call).then(choose) : choose('')
    })
    gateway.hooks.forward.tapPromise({ name: 'upstream', stage: FORWARD_STAGE }, forwardHandler(gateway, upstreams))
    gateway.hooks.proxy.tapPromise({ name: 'upstream', stage: FORWARD_STAGE }, passthroughHandler(gateway, upstreams))
    gateway.health.set('upstreams', () => upstreams.current.all.map((each) => healthOf(each, gateway.clock.tick())))
    gateway.hooks.close.tap('upstream', () => upstreams.close())
  },
})

const CREDENTIAL_HEADER = /authorization|cookie|key|token|secret|password/i

/** What must never be seen elsewhere: the key, and the values of headers that carry one by their name. */
const secretsOf = ({ api_key = '', api_keys = [], headers = {} }: UpstreamOptions): readonly string[] => [
  api_key,
  ...api_keys,
  ...Object.entries(headers).flatMap(([name, value]) =>
    CREDENTIAL_HEADER.test(name) ? [value.replace(/^\S+ (?=\S+$)/, '')] : [],
  ),
]
