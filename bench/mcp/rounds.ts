import { median } from '../kit/table.ts'
import type { Usage } from '../load/measure.ts'
import type { McpSetup, McpTarget, Route } from './setup.ts'

/** The measurement of one route in one round. CPU of all threads, in microseconds per call. */
export interface McpSample {
  readonly way: Route
  readonly calls_per_s: number
  readonly p50_ms: number
  readonly client_us: number
  readonly server_us: number
  /** 0 for the direct route. */
  readonly proxy_us: number
  /** CPU of the proxy by thread. */
  readonly threads_us: Readonly<Record<string, number>>
}

/** Makes `count` calls on every route. Each client calls sequentially. `turn` rotates the order of the routes. */
export const mcpRound = async (setup: McpSetup, count: number, turn: number): Promise<readonly McpSample[]> => {
  const { targets, server } = setup
  const samples: McpSample[] = []
  for (let index = 0; index < targets.length; index++) {
    const target = targets[(index + turn) % targets.length]
    if (target === undefined) continue
    const before = await used(target, server)
    const began = performance.now()
    const waits = await callAll(target, count)
    const wall_ms = performance.now() - began
    const after = await used(target, server)
    samples.push({
      way: target.route,
      calls_per_s: (count / wall_ms) * 1000,
      p50_ms: median(waits),
      client_us: (after.own_us - before.own_us) / count,
      server_us: (after.server.cpu_us - before.server.cpu_us) / count,
      proxy_us: ((after.proxy?.cpu_us ?? 0) - (before.proxy?.cpu_us ?? 0)) / count,
      threads_us: threads(before.proxy, after.proxy, count),
    })
  }
  return samples
}

/** Closed loop: every client calls again after its response. Returns the latency of each call in milliseconds. */
const callAll = async ({ clients, call }: McpTarget, count: number): Promise<readonly number[]> => {
  const waits: number[] = []
  let left = count
  const keepCalling = async (client: McpTarget['clients'][number]): Promise<void> => {
    while (left > 0) {
      left--
      const began = performance.now()
      await client.call(call)
      waits.push(performance.now() - began)
    }
  }
  await Promise.all(clients.map(keepCalling))
  return waits
}

const used = async (target: McpTarget, server: McpSetup['server']) => {
  const proxy = await target.proxy?.request('usage', null)
  const { user, system } = process.cpuUsage()
  return { proxy, server: await server.request('usage', null), own_us: user + system }
}

const threads = (before: Usage | undefined, after: Usage | undefined, count: number): Record<string, number> =>
  Object.fromEntries(
    Object.entries(after?.threads_us ?? {}).map(([name, us]) => [name, (us - (before?.threads_us[name] ?? 0)) / count]),
  )
