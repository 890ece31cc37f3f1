import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { guardProgram, programFile } from '../lib/programs.ts'
import { Child } from '../load/child.ts'
import { BenchClient } from './client.ts'
import { policy } from './policy.ts'

/** How a client gets to the server: straight, or through a gateway with this storage. */
export type Way = 'direct' | 'memory' | 'sqlite'

/** Open clients of a server in another process. */
export interface McpStage {
  readonly clients: readonly BenchClient[]
  close(): Promise<void>
}

const KEY = 'bench-gateway-key-0123456789'
const UPSTREAM = programFile('bench/mcp/upstream')

/** Starts the server, and the gateway if there is one, in processes of their own; opens so many clients. */
export const mcpStage = async (way: Way, count: number): Promise<McpStage> => {
  await using opened = new AsyncDisposableStack()
  const upstream = opened.adopt(new Child('MCP server', UPSTREAM), (child) => child.stop())
  const target = await upstream.line()
  const url = way === 'direct' ? target : await startGateway(opened, way, target)
  const clients = Array.from({ length: count }, () =>
    opened.adopt(new BenchClient(url, KEY), (client) => client.close()),
  )
  for (const client of clients) await client.open()
  const kept = opened.move()
  return { clients, close: () => kept.disposeAsync() }
}

/** `guard mcp serve` as users start it. */
const startGateway = async (opened: AsyncDisposableStack, backend: string, target: string): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'guard-bench-mcp-'))
  opened.defer(() => rm(folder, { recursive: true, force: true }))
  const config = join(folder, 'guard-config.yml')
  const mcp = { policy: 'policy.yml', servers: { bench: { transport: 'http', target } } }
  const sections = { gateway_key: KEY, server: { port: 0 }, storage: { backend, file: 'guard.db' }, mcp }
  // JSON is YAML, too.
  await writeFile(config, JSON.stringify(sections), { mode: 0o600 })
  await writeFile(join(folder, 'policy.yml'), JSON.stringify(policy))
  await writeFile(join(folder, 'package.json'), '{}')
  const gateway = new Child('gateway', guardProgram, ['mcp', 'serve', '--json', '--config', config], folder)
  opened.defer(() => gateway.stop())
  const { url } = JSON.parse(await gateway.line()) as { readonly url: string }
  return `${url}/mcp/bench`
}
