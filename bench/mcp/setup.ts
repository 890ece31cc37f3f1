import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Child } from '../load/child.ts'
import { ownGateway, programFile } from '../programs.ts'
import { BenchClient } from './client.ts'
import { type BenchCall, calls, policy } from './policy.ts'

/** The route from clients to the server: direct, through a proxy that only forwards bytes, through a gateway with this storage, or through its bundle of two servers. */
export type Route = 'direct' | 'raw' | 'memory' | 'sqlite' | 'bundle'

/** The implementation of clients and server: minimal, or the official SDK. SDK servers respond with event streams or JSON. */
export type Peers = 'lean' | 'official' | 'official_json'

/** An MCP client of the bench. */
export interface CallingClient {
  /** Opens a session and lists the tools, which makes the gateway validate calls by their schemas. */
  open(): Promise<unknown>
  /** Calls a tool. Rejects unless the result is that of the bench server. */
  call(call: BenchCall): Promise<unknown>
  close(): unknown
}

/** The open clients of one route. */
export interface McpTarget {
  readonly route: Route
  /** Undefined for the direct route. */
  readonly proxy: Child | undefined
  readonly clients: readonly CallingClient[]
  /** An allowed call, by the name that the tool has on this route. */
  readonly call: BenchCall
}

/** A server process and all routes to it, the direct route first. */
export interface McpSetup {
  readonly server: Child
  readonly targets: readonly McpTarget[]
  close(): Promise<void>
}

const KEY = 'bench-gateway-key-0123456789'

const servers: Readonly<Record<Peers, readonly [program: string, ...args: string[]]>> = {
  lean: ['bench/mcp/upstream'],
  official: ['bench/mcp/sdk-server'],
  official_json: ['bench/mcp/sdk-server', 'json'],
}

/** Starts the server and the proxies as processes, and opens `count` clients per route. */
export const startMcpSetup = async (peers: Peers, count: number): Promise<McpSetup> => {
  const opened = new Opened()
  try {
    return await openAll(opened, peers, count)
  } catch (error) {
    await opened.close()
    throw error
  }
}

const openAll = async (opened: Opened, peers: Peers, count: number): Promise<McpSetup> => {
  const [program, ...args] = servers[peers]
  const server = opened.adopt(new Child('MCP server', programFile(program), args), (child) => child.stop())
  const address = await server.line()
  const newClient = await clientFactory(peers)
  const targets: McpTarget[] = []
  const routes: readonly RouteAddress[] = [
    { route: 'direct', proxy: undefined, url: address },
    await startRaw(opened, address),
    await startGateway(opened, 'memory', address),
    await startGateway(opened, 'sqlite', address),
    await startGateway(opened, 'bundle', address),
  ]
  for (const { route, proxy, url } of routes) {
    const clients = Array.from({ length: count }, () => opened.adopt(newClient(url), (client) => client.close()))
    for (const client of clients) await client.open()
    const call = route === 'bundle' ? { ...calls.path, name: `bench_${calls.path.name}` } : calls.path
    targets.push({ route, proxy, clients, call })
  }
  return { server, targets, close: () => opened.close() }
}

/** What is open, closed in the reverse order. The package runs on Node 22, which has no AsyncDisposableStack. */
class Opened {
  readonly #closers: (() => unknown)[] = []

  adopt<T>(thing: T, close: (thing: T) => unknown): T {
    this.defer(() => close(thing))
    return thing
  }

  defer(close: () => unknown): void {
    this.#closers.push(close)
  }

  async close(): Promise<void> {
    for (const close of this.#closers.splice(0).reverse()) await close()
  }
}

const clientFactory = async (peers: Peers): Promise<(url: string) => CallingClient> => {
  if (peers === 'lean') return (url) => new BenchClient(url, KEY)
  // the SDK is a development dependency, absent from an installed package
  const { SdkBenchClient } = await import('./sdk-client.ts')
  return (url) => new SdkBenchClient(url, KEY)
}

/** A route without clients. */
interface RouteAddress extends Pick<McpTarget, 'route' | 'proxy'> {
  readonly url: string
}

/** The raw pass-through of the load bench. */
const startRaw = async (opened: Opened, target: string): Promise<RouteAddress> => {
  const { port: upstream, pathname } = new URL(target)
  const proxy = opened.adopt(new Child('raw', programFile('bench/load/passthrough')), (child) => child.stop())
  const port = await proxy.request('listen', { upstream: Number(upstream) })
  return { route: 'raw', proxy, url: `http://127.0.0.1:${port}${pathname}` }
}

/** `guard mcp serve` as users start it. */
const startGateway = async (
  opened: Opened,
  route: 'memory' | 'sqlite' | 'bundle',
  target: string,
): Promise<RouteAddress> => {
  const folder = await mkdtemp(join(tmpdir(), 'guard-bench-mcp-'))
  opened.defer(() => rm(folder, { recursive: true, force: true }))
  const config = join(folder, 'guard-config.yml')
  const bench = { transport: 'http', target }
  const mcp = { policy: 'policy.yml', servers: { bench, other: bench } }
  const storage = { backend: route === 'memory' ? 'memory' : 'sqlite', file: 'guard.db' }
  const sections = { gateway_key: KEY, server: { port: 0 }, storage, mcp }
  // JSON is valid YAML
  await writeFile(config, JSON.stringify(sections), { mode: 0o600 })
  await writeFile(join(folder, 'policy.yml'), JSON.stringify(policy))
  await writeFile(join(folder, 'package.json'), '{}')
  const proxy = new Child('gateway', ownGateway, ['mcp', 'serve', '--json', '--config', config], folder)
  opened.defer(() => proxy.stop())
  const { url } = JSON.parse(await proxy.line()) as { readonly url: string }
  return { route, proxy, url: `${url}/mcp/${route === 'bundle' ? 'all' : 'bench'}` }
}
