import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import type { Agent } from './agents.ts'
import { AgentProvider } from './provider.ts'

export const PROVIDER_KEY = 'sk-provider-key-of-the-agents-test'
const LIMIT_MS = 120_000
const bin = join(import.meta.dirname, '../../presets/default/bin.js')

/** Words that start the command line from its source. */
export const guard: readonly string[] = [process.execPath, '--conditions=guard-source', bin]

/** What a process printed, and how it ended. */
export interface Ended {
  readonly code: number | null
  readonly text: string
}

/** A provider, a gateway in front of it that blocks, and an empty home. */
export interface Stage {
  readonly provider: AgentProvider
  readonly address: string
  readonly home: string
  readonly work: string
  /** Runs a command in the work folder with the empty home; `PATH` finds the agents. */
  run(words: readonly string[], agent?: Agent): Promise<Ended>
  sessions(): Promise<readonly { readonly requests: number; readonly flagged: number; readonly blocked: number }[]>
  close(): Promise<void>
}

/** Sets everything up in a temporary folder; `installed` is where the agents are. */
export const setStage = async (installed: string): Promise<Stage> => {
  const root = await mkdtemp(join(tmpdir(), 'guard-agents-'))
  const [home, work] = [join(root, 'home'), join(root, 'work')]
  await Promise.all([mkdir(home), mkdir(work)])
  const provider = new AgentProvider()
  const upstream = await provider.listen()
  const port = await freePort()
  const address = `http://127.0.0.1:${port}`
  await writeFile(join(work, 'guard-config.yml'), configuration(port, upstream), { mode: 0o600 })
  await writeFile(join(work, 'package.json'), '{"name":"agents-test"}')
  const env = {
    PATH: [join(installed, 'node_modules/.bin'), dirname(process.execPath), '/usr/bin', '/bin'].join(':'),
    HOME: home,
    TERM: 'dumb',
    LANG: 'C.UTF-8',
  }
  const gateway = spawn(guard[0] ?? '', [...guard.slice(1), 'gateway', 'run', '--quiet'], {
    cwd: work,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  await serving(gateway)
  return {
    provider,
    address,
    home,
    work,
    run: (words, agent) => run(words, work, { ...env, ...agent?.env }),
    sessions: async () => {
      const answer = await fetch(`${address}/api/sessions?limit=200`)
      return ((await answer.json()) as { readonly sessions: Awaited<ReturnType<Stage['sessions']>> }).sessions
    },
    close: async () => {
      gateway.kill('SIGTERM')
      await once(gateway, 'exit')
      provider.close()
      await rm(root, { recursive: true, force: true })
    },
  }
}

/** Resolves when a gateway says that it serves; rejects with what it said instead. */
const serving = (gateway: ChildProcessByStdio<null, null, Readable>): Promise<void> =>
  new Promise((resolve, reject) => {
    let said = ''
    gateway.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString()
      if (/^Guard Gateway /m.test(said)) resolve()
    })
    gateway.once('exit', () => reject(new Error(`The gateway ended: ${said}`)))
  })

const configuration = (port: number, upstream: string): string => `gateway_key: guard_key-of-the-agents-test-0123456789
default_mode: enforce
server:
  port: ${port}
  block_status_override: { "codex*": 400, "opencode*": 403 }
upstreams:
  - { name: provider, base_url: "${upstream}", api_key: ${PROVIDER_KEY}, styles: [messages, responses, chat_completions] }
`

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

const run = async (words: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<Ended> => {
  const [command = '', ...args] = words
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()))
  const timer = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS)
  const [code] = (await once(child, 'close')) as [number | null]
  clearTimeout(timer)
  return { code, text }
}
