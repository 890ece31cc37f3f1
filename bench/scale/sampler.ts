import type { Routing } from '../load/client.ts'
import { KEY } from '../load/gateway-process.ts'
import type { RunResult } from '../load/generator.ts'
import type { Shape } from '../load/shapes.ts'
import type { Fleet, ScaleSetup } from './fleets.ts'

/** What one run of requests cost. CPU in microseconds a request. */
export interface ScaleSample extends RunResult {
  readonly gateway_us: number
  /** Of all processes of PostgreSQL; null for a server that the bench did not start. */
  readonly postgres_us: number | null
  readonly provider_us: number
  /** Transactions of PostgreSQL that wrote, a request, also those that were rolled back. */
  readonly transactions: number
  readonly wal_bytes: number
  /** CPU by thread name of the gateways. */
  readonly threads_us: Readonly<Record<string, number>>
}

export interface Load {
  readonly shape: Shape
  readonly routing: Routing
  readonly clients: number
  readonly requests: number
  readonly headers: Readonly<Record<string, string>>
}

/** Sends requests to one fleet at a time and measures every process. No two runs send equal conversations. */
export class Sampler {
  readonly #setup: ScaleSetup
  #set = 0

  constructor(setup: ScaleSetup) {
    this.#setup = setup
  }

  async sample(fleet: Fleet, { shape, routing, clients, requests, headers }: Load): Promise<ScaleSample> {
    const { provider, generator } = this.#setup
    const { ports } = fleet
    const set = this.#set++
    await provider.request('plan', { reply: shape.reply })
    const connect = { routing, headers, connections: clients }
    await generator.request('open', { shape: shape.id, reply: shape.reply, ports, key: KEY, set, ...connect })
    const before = await this.#usage(fleet)
    const result = await generator.request('run', { set, requests })
    const after = await this.#usage(fleet)
    await generator.request('close', { set })
    const each = (later: number, earlier: number): number => (later - earlier) / requests
    const { cpu_us } = after.server
    return {
      ...result,
      gateway_us: each(after.gateway_us, before.gateway_us),
      postgres_us: cpu_us === null ? null : each(cpu_us, before.server.cpu_us ?? 0),
      provider_us: each(after.provider_us, before.provider_us),
      transactions: each(after.server.transactions, before.server.transactions),
      wal_bytes: each(after.server.wal_bytes, before.server.wal_bytes),
      threads_us: Object.fromEntries(
        Object.entries(after.threads_us).map(([name, us]) => [name, each(us, before.threads_us[name] ?? 0)]),
      ),
    }
  }

  async #usage({ children }: Fleet) {
    const { provider, server } = this.#setup
    const usages = await Promise.all(children.map((child) => child.request('usage', null)))
    const threads_us: Record<string, number> = {}
    for (const [name, us] of usages.flatMap((one) => Object.entries(one.threads_us)))
      threads_us[name] = (threads_us[name] ?? 0) + us
    return {
      gateway_us: usages.reduce((sum, { cpu_us }) => sum + cpu_us, 0),
      threads_us,
      provider_us: (await provider.request('usage', null)).cpu_us,
      server: await server.work(),
    }
  }
}
