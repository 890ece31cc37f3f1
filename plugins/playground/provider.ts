import { type Call, type Client, type Gateway, handle, type Reply, type Settled } from 'guard-gateway/core'

/** A request of a scenario on its way through the gateway. */
interface Exchange {
  readonly reply: Reply
  settled: Settled | undefined
}

/** Takes a call through the whole pipeline; a forwarded one gets `reply`. Resolves to its record; undefined if none was made. */
export type Send = (call: Call, reply: Reply, client: Client) => Promise<Settled | undefined>

/**
 * Puts a provider of scripted replies before the real upstreams. It answers the calls that were sent through the function returned,
 * known by their identity, and no others: nothing that a client can say leads here.
 */
export const scriptedProvider = (gateway: Gateway): Send => {
  const exchanges = new WeakMap<Call, Exchange>()
  gateway.hooks.forward.tap({ name: 'playground', stage: -100 }, (call) => exchanges.get(call)?.reply)
  gateway.hooks.settle.tap('playground', (settled) => {
    const exchange = exchanges.get(settled.call)
    if (exchange !== undefined) exchange.settled = settled
  })
  return async (call, reply, client) => {
    const exchange: Exchange = { reply, settled: undefined }
    exchanges.set(call, exchange)
    await handle(gateway, call, client)
    return exchange.settled
  }
}
