import { existsSync, readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { extname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { writeConfiguration } from '../load/gateway-process.ts'
import type { Shape } from '../load/shapes.ts'
import type { BenchOptions } from '../options.ts'
import { type GatewayProgram, gatewayOf, ownGateway, programEnv, programFile, programFlags } from '../programs.ts'

export type TargetName = 'raw' | 'reference' | 'sources' | 'package' | 'portkey'

/** How a target starts. */
export interface Launch {
  /** Absent: the Node of this process. */
  readonly node?: string
  /** Arguments of `node`. */
  readonly args: readonly string[]
  /** The port that it was told. Absent: its first line is JSON with its `url`. */
  readonly port?: number
  readonly env?: NodeJS.ProcessEnv
}

/** A program that runs for long between clients and a provider. */
export interface DaemonProgram {
  readonly name: TargetName
  /** Prepares a start in `folder`, with the provider at the port `upstream`. */
  launch(upstream: number, folder: string): Promise<Launch>
  /** Headers that it needs with the requests of a shape. */
  headers(shape: Shape, upstream: number): Readonly<Record<string, string>>
  /** Whether it keeps each request in `guard.db` in its folder. */
  readonly keepsRecords: boolean
}

const PORTKEY = '@portkey-ai/gateway'
/** What to say where Portkey is not measured. */
export const PORTKEY_MISSING = `portkey is left out: name the folder of an installed one with --portkey or GUARD_BENCH_PORTKEY; to install: npm init -y && npm pkg set overrides.hono=4.9.7 'overrides[@hono/node-server]=1.13.8' && npm install --ignore-scripts ${PORTKEY}@1.15.2`

/** The targets of a run, the baseline first. `portkey`: folder of an installed Portkey gateway, `against`: of another checkout. Throws a TypeError if there is none. */
export const daemonPrograms = async ({
  portkey,
  against,
}: Pick<BenchOptions, 'portkey' | 'against'>): Promise<readonly DaemonProgram[]> => {
  const manifest = fileURLToPath(import.meta.resolve('guard-gateway/package.json'))
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { bin: { guard: string } }
  const built = join(manifest, '..', bin.guard)
  const fromSources = extname(import.meta.filename) === '.ts'
  return [
    raw,
    ...(against === undefined ? [] : [{ ...gateway('reference', await gatewayOf(against)), keepsRecords: false }]),
    ...(existsSync(built) ? [gateway('package', { ...ownGateway, file: built, flags: [] })] : []),
    ...(fromSources ? [gateway('sources', ownGateway)] : []),
    ...(portkey === undefined ? [] : [portkeyIn(portkey)]),
  ]
}

const raw: DaemonProgram = {
  name: 'raw',
  keepsRecords: false,
  launch: async (upstream) => ({
    args: [...programFlags, '--disable-warning=ExperimentalWarning', passthrough, String(upstream)],
    env: programEnv,
  }),
  headers: () => ({}),
}
const passthrough = programFile('bench/daemon/passthrough')

/** It starts itself anew with its start flags, as for users. */
const gateway = (name: TargetName, { node, flags, file }: GatewayProgram): DaemonProgram => ({
  name,
  keepsRecords: true,
  async launch(upstream, folder) {
    const config = await writeConfiguration(folder, { upstream, storage: 'file: guard.db' })
    return { node, args: [...flags, file, 'gateway', 'run', '--json', '--config', config] }
  },
  headers: () => ({}),
})

const portkeyIn = (folder: string): DaemonProgram => {
  const program = resolve(folder, 'node_modules', PORTKEY, 'build/start-server.js')
  if (!existsSync(program))
    throw new TypeError(`There is no Portkey gateway in ${folder}: ${program} is missing. Install ${PORTKEY} there.`)
  return {
    name: 'portkey',
    keepsRecords: false,
    async launch() {
      const port = await freePort()
      return { args: [program, '--headless', `--port=${port}`], port }
    },
    headers: ({ reply }, upstream) => ({
      'x-portkey-provider': reply.style === 'messages' ? 'anthropic' : 'openai',
      'x-portkey-custom-host': `http://127.0.0.1:${upstream}/v1`,
    }),
  }
}

const freePort = (): Promise<number> =>
  new Promise((found, reject) => {
    const server = createServer().once('error', reject)
    server.listen({ host: '127.0.0.1', port: 0 }, () => {
      const { port } = server.address() as AddressInfo
      server.close(() => found(port))
    })
  })
