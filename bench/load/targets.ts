import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { guardProgram, programFile } from '../programs.ts'
import { Child } from './child.ts'

/** The gateway key of bench clients. */
export const KEY = 'bench-gateway-key-0123456789'

/** A measured process and its port. */
export interface Target {
  readonly name: 'raw' | 'gateway'
  readonly child: Child
  readonly port: number
}

/** The four processes of a load run, and the folder with the configuration and database of the gateway. */
export interface LoadSetup {
  readonly provider: Child
  readonly generator: Child
  readonly targets: readonly Target[]
  readonly database: string
  /** Ends the gateway first, so that its database is complete, then the others. */
  stop(): Promise<void>
  /** Removes the folder. */
  remove(): Promise<void>
}

/** Starts provider, baseline, gateway and generator. */
export const startLoadSetup = async (): Promise<LoadSetup> => {
  const folder = await mkdtemp(join(tmpdir(), 'guard-bench-'))
  const children: Child[] = []
  const start = (name: string, path: string, args: readonly string[] = [], cwd?: string): Child => {
    const child = new Child(name, path, args, cwd)
    children.push(child)
    return child
  }
  const stop = async () => {
    // the gateway starts last and ends first, so that it settles all its requests
    await children.at(-1)?.stop()
    await Promise.all(children.map((child) => child.stop()))
  }
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    const provider = start('provider', programFile('bench/load/provider'))
    const raw = start('raw', programFile('bench/load/passthrough'))
    const generator = start('generator', programFile('bench/load/generator'))
    const upstream = await provider.request('listen', { upstream: 0 })
    const gateway = await startGateway(start, folder, upstream)
    const targets: Target[] = [
      { name: 'raw', child: raw, port: await raw.request('listen', { upstream }) },
      { name: 'gateway', ...gateway },
    ]
    return { provider, generator, targets, database: join(folder, 'guard.db'), stop, remove }
  } catch (error) {
    await stop()
    await remove()
    throw error
  }
}

type Start = (name: string, path: string, args?: readonly string[], cwd?: string) => Child

/** A gateway as users start it: command line, default preset, configuration file and SQLite. */
const startGateway = async (start: Start, folder: string, upstream: number) => {
  const config = join(folder, 'guard-config.yml')
  await writeFile(config, configuration(upstream), { mode: 0o600 })
  const child = start('gateway', guardProgram, ['gateway', 'run', '--json', '--config', config], folder)
  const { url } = JSON.parse(await child.line()) as { readonly url: string }
  return { child, port: Number(new URL(url).port) }
}

const configuration = (upstream: number): string => `gateway_key: ${KEY}
server:
  port: 0
storage:
  file: guard.db
upstreams:
  - name: bench
    base_url: http://127.0.0.1:${upstream}
    api_key: sk-bench-provider-key-0123456789
    styles: [chat_completions, messages]
    models: ['*']
`
