import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Child } from '../load/child.ts'
import { guardProgram, programFile } from '../programs.ts'
import { BenchClient } from './client.ts'
import { type BenchCall, policy } from './policy.ts'

/** How clients get to the server: straight, through a proxy that does nothing but pass on, or through a gateway with this storage. */
export type Way = 'direct' | 'raw' | 'memory' | 'sqlite'

/** What clients and server are made of: as little as may be, or the official SDK, whose servers answer in event streams or, if told so, in JSON. */
export type Peers = 'lean' | 'official' | 'official_json'

/** An MCP client of the bench. */
export interface CallingClient {
  /** Opens a session and lists the tools, so that calls are validated by their schemas. */
  open(): Promise<unknown>
  /** Calls a tool; rejects if what comes is no result of the server. */
  call(call: BenchCall): Promise<unknown>
  close(): unknown
}

/** Open clients on one way. */
export interface McpTarget {
  readonly way: Way
  /** What is on the way. */
  readonly proxy: Child | undefined
  readonly clients: readonly CallingClient[]
}

/** A server in another process, and all ways to it, the direct one first. */
export interface McpStage {
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

/** Starts the server and the proxies in processes of their own; opens so many clients on each way. */
export const mcpStage = async (peers: Peers, count: number): Promise<McpStage> => {
  await using opened = new AsyncDisposableStack()
  const [program, ...args] = servers[peers]
  const server = opened.adopt(new Child('MCP server', programFile(program), args), (child) => child.stop())
  const address = await server.line()
  const clientAt = await makerOf(peers)
  const targets: McpTarget[] = []
  const ways: readonly WayIn[] = [
    { way: 'direct', proxy: undefined, url: address },
    await startRaw(opened, address),
    await start(opened, 'memory', address),
    await start(opened, 'sqlite', address),
  ]
  for (const { way, proxy, url } of ways) {
    const clients = Array.from({ length: count }, () =>
      opened.adopt(clientAt(url), async (client) => void (await client.close())),
    )
    for (const client of clients) await client.open()
    targets.push({ way, proxy, clients })
  }
  const kept = opened.move()
  return { server, targets, close: () => kept.disposeAsync() }
}

const makerOf = async (peers: Peers): Promise<(url: string) => CallingClient> => {
  if (peers === 'lean') return (url) => new BenchClient(url, KEY)
  // the SDK is there where this package is developed, not where it is installed
  const { SdkBenchClient } = await import('./sdk-client.ts')
  return (url) => new SdkBenchClient(url, KEY)
}

/** A way before clients take it. */
interface WayIn extends Omit<McpTarget, 'clients'> {
  readonly url: string
}

/** The load bench's reference. */
const startRaw = async (opened: AsyncDisposableStack, target: string): Promise<WayIn> => {
  const { port: upstream, pathname } = new URL(target)
  const proxy = opened.adopt(new Child('raw', programFile('bench/load/passthrough')), (child) => child.stop())
  const port = await proxy.ask('listen', { upstream: Number(upstream) })
  return { way: 'raw', proxy, url: `http://127.0.0.1:${port}${pathname}` }
}

/** `guard mcp serve` as users start it. */
const start = async (opened: AsyncDisposableStack, backend: 'memory' | 'sqlite', target: string): Promise<WayIn> => {
  const folder = await mkdtemp(join(tmpdir(), 'guard-bench-mcp-'))
  opened.defer(() => rm(folder, { recursive: true, force: true }))
  const config = join(folder, 'guard-config.yml')
  const mcp = { policy: 'policy.yml', servers: { bench: { transport: 'http', target } } }
  const sections = { gateway_key: KEY, server: { port: 0 }, storage: { backend, file: 'guard.db' }, mcp }
  // JSON is YAML, too.
  await writeFile(config, JSON.stringify(sections), { mode: 0o600 })
  await writeFile(join(folder, 'policy.yml'), JSON.stringify(policy))
  await writeFile(join(folder, 'package.json'), '{}')
  const proxy = new Child('gateway', guardProgram, ['mcp', 'serve', '--json', '--config', config], folder)
  opened.defer(() => proxy.stop())
  const { url } = JSON.parse(await proxy.line()) as { readonly url: string }
  return { way: backend, proxy, url: `${url}/mcp/bench` }
}
