import { Gateway, type Outcome, type Plugin } from 'guard-gateway/core'
import { responses } from 'guard-gateway/plugins/api-styles/responses'
import { exactRepeat } from 'guard-gateway/plugins/detectors/exact-repeat'
import { http, serve } from 'guard-gateway/plugins/http'
import { policy } from 'guard-gateway/plugins/policy'
import { recorder } from 'guard-gateway/plugins/recorder'
import { type ResponsesSocketOptions, responsesSocket } from 'guard-gateway/plugins/responses-socket'
import { sessions } from 'guard-gateway/plugins/sessions'
import { memory } from 'guard-gateway/plugins/storage/memory'
import { type UpstreamOptions, upstream } from 'guard-gateway/plugins/upstream'
import { undici } from 'guard-gateway/plugins/upstream-clients/undici'
import { ws } from 'guard-gateway/plugins/upstream-sockets/ws'
import { foundation } from 'guard-gateway/presets/foundation'

const KEY = 'guard_test_key_that_is_long_enough'

/** A gateway of few plugins whose upstreams may be replaced while it runs. */
export const startEmbedded = async (
  upstreams: readonly UpstreamOptions[],
  socket: ResponsesSocketOptions = {},
  plugins: readonly Plugin[] = [],
) => {
  const options = { upstreams }
  const gateway = new Gateway().use(
    ...foundation({ store: { backend: 'memory' } }),
    memory(),
    responses,
    exactRepeat,
    undici,
    ws,
    http({ gateway_key: KEY }),
    upstream(options),
    responsesSocket(socket),
    sessions(),
    policy({ default_mode: 'shadow' }),
    recorder(),
    ...plugins,
  )
  const { url, close } = await serve(gateway, { port: 0, log: { write: () => true } })
  return { gateway, options, url, key: KEY, [Symbol.asyncDispose]: close }
}

/** How calls ended. */
export class SettledCalls {
  readonly outcomes: Outcome[] = []
  readonly plugin: Plugin = {
    name: 'settled-calls',
    apply: ({ hooks }) => hooks.settle.tap('settled-calls', ({ outcome }) => void this.outcomes.push(outcome)),
  }
}
