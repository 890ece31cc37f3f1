import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'

export const GATEWAY_KEY = 'guard_key-of-the-agents-test-0123456789'
export const PROVIDER_KEY = 'sk-provider-key-of-the-agents-test'
const bin = join(import.meta.dirname, '../../presets/default/bin.js')

/** Words that start the command line from its source. */
export const guard: readonly string[] = [process.execPath, '--conditions=guard-source', bin]

/** Requests of all sessions so far, and why some were blocked. */
export interface Counts {
  readonly requests: number
  readonly flagged: number
  readonly blocked: number
  /** Ids of sessions that had a block. */
  readonly sessions: ReadonlySet<string>
  /** How many sessions there are. */
  readonly count: number
}

/** A gateway as a process of its own, with the recommended rules in force. */
export interface RunningGateway {
  readonly address: string
  counts(): Promise<Counts>
  /** The rules that blocked in a session, in order. */
  reasons(session: string): Promise<readonly string[]>
  close(): Promise<void>
}

/** Starts a gateway whose configuration is in `folder`, with an upstream of these API styles. */
export const startGateway = async (
  folder: string,
  upstream: string,
  styles: readonly string[],
): Promise<RunningGateway> => {
  const port = await freePort()
  const address = `http://127.0.0.1:${port}`
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'guard-config.yml'), configuration(port, upstream, styles), { mode: 0o600 })
  const child = spawn(guard[0] ?? '', [...guard.slice(1), 'gateway', 'run', '--quiet'], {
    cwd: folder,
    env: { PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, HOME: folder },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  await new Promise<void>((resolve, reject) => {
    let said = ''
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString()
      if (/^Guard Gateway /m.test(said)) resolve()
    })
    child.once('exit', () => reject(new Error(`The gateway ended: ${said}`)))
  })
  const ask = async <Answer>(path: string): Promise<Answer> => {
    const answer = await fetch(`${address}${path}`)
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return (await answer.json()) as Answer
  }
  return {
    address,
    counts: async () => {
      const { sessions } = await ask<{ sessions: readonly Session[] }>('/api/sessions?limit=200')
      const sum = (name: 'requests' | 'flagged' | 'blocked') => sessions.reduce((all, one) => all + one[name], 0)
      return {
        requests: sum('requests'),
        flagged: sum('flagged'),
        blocked: sum('blocked'),
        count: sessions.length,
        sessions: new Set(sessions.filter(({ blocked }) => blocked > 0).map(({ id }) => id)),
      }
    },
    reasons: async (session) => {
      const { events } = await ask<{ events: readonly Event[] }>(`/api/sessions/${session}/events?limit=200`)
      const blocks = events.filter(({ attributes }) => attributes.decision === 'block')
      return blocks.map(({ attributes }) => attributes.rule_id ?? '?')
    },
    close: async () => {
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}

interface Session {
  readonly id: string
  readonly requests: number
  readonly flagged: number
  readonly blocked: number
}

interface Event {
  readonly attributes: { readonly decision?: string; readonly rule_id?: string }
}

const configuration = (
  port: number,
  upstream: string,
  styles: readonly string[],
): string => `gateway_key: ${GATEWAY_KEY}
preset: enforce-recommended
server:
  port: ${port}
  # agents that repeat a 429 for ever, or hide what it says
  block_status_override: { "codex*": 400 }
upstreams:
  - { name: provider, base_url: "${upstream}", api_key: ${PROVIDER_KEY}, styles: [${styles.join(', ')}] }
`

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
