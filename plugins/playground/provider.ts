import { type Call, type Client, type Gateway, handle, type Reply, type Settled, stages } from 'guard-gateway/core'

/** A request of a scenario on its way through the gateway. */
interface Exchange {
  readonly reply: Reply
  readonly cost_micro: number | undefined
  settled: Settled | undefined
}

/** Takes a call through the whole pipeline; a forwarded one gets `reply`, which costs `cost_micro` if that is said. Resolves to its record; undefined if none was made. */
export type Send = (call: Call, reply: Reply, client: Client, cost_micro?: number) => Promise<Settled | undefined>

/**
 * Puts a provider of scripted replies before the real upstreams. It answers the calls that were sent through the function returned,
 * known by their identity, and no others: nothing that a client can say leads here.
 */
export const scriptedProvider = (gateway: Gateway): Send => {
  const exchanges = new WeakMap<Call, Exchange>()
  gateway.hooks.forward.tap(
    { name: 'playground', stage: stages.forward.scenario },
    (call) => exchanges.get(call)?.reply,
  )
  // after the price file, before the taps that count or store the cost of a call
  gateway.hooks.settle.tap({ name: 'playground', stage: stages.settle.scenario }, (settled) => {
    const exchange = exchanges.get(settled.call)
    if (exchange === undefined) return
    exchange.settled = settled
    if (exchange.cost_micro !== undefined && settled.decision.decision !== 'block') charge(settled, exchange.cost_micro)
  })
  return async (call, reply, client, cost_micro) => {
    const exchange: Exchange = { reply, cost_micro, settled: undefined }
    exchanges.set(call, exchange)
    await handle(gateway, call, client)
    return exchange.settled
  }
}

const charge = (settled: Settled, cost_micro: number): void => {
  const row = settled.call.session?.row
  if (row !== undefined) row.cost_micro += cost_micro - (settled.cost?.cost_micro ?? 0)
  settled.cost = { cost_micro, cost_source: 'priced', price_version: null }
}
