import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Child } from '../load/child.ts'
import { KEY, startGateway } from '../load/gateway-process.ts'
import { programFile } from '../programs.ts'
import { Postgres } from './postgres.ts'

export type Store = 'sqlite' | 'postgres'

/** Gateways on one database, each in a process of its own. */
export interface Fleet {
  readonly store: Store
  readonly children: readonly Child[]
  readonly ports: readonly number[]
  /** The URL of the database; empty for SQLite. */
  readonly url: string
}

/** The processes of the suite. */
export interface ScaleSetup {
  readonly provider: Child
  readonly generator: Child
  readonly server: Postgres
  /** The port of the provider. */
  readonly upstream: number
  /** Starts gateways: one on SQLite, or `size` on a PostgreSQL database of their own. */
  fleet(store: Store, size: number): Promise<Fleet>
  /** Ends the gateways first. */
  close(): Promise<void>
}

/** Starts PostgreSQL, provider and generator. `settings`: of the server, beside those of a bench. */
export const startScaleSetup = async (settings: readonly string[] = []): Promise<ScaleSetup> => {
  const folder = await mkdtemp(join(tmpdir(), 'guard-bench-scale-'))
  const server = await Postgres.start(settings)
  const others: Child[] = []
  const gateways: Child[] = []
  const start = (kept: Child[], ...args: ConstructorParameters<typeof Child>): Child => {
    const child = new Child(...args)
    kept.push(child)
    return child
  }
  const close = async () => {
    await Promise.all(gateways.map((child) => child.stop()))
    await Promise.all(others.map((child) => child.stop()))
    await server.remove()
    await rm(folder, { recursive: true, force: true })
  }
  try {
    const provider = start(others, 'provider', programFile('bench/load/provider'))
    const generator = start(others, 'generator', programFile('bench/load/generator'))
    const upstream = await provider.request('listen', { upstream: 0 })
    await provider.request('plan', { reply: { style: 'chat_completions' } })
    const member = async (name: string, storage: string) =>
      startGateway((...args) => start(gateways, ...args), name, await mkdtemp(join(folder, 'gateway-')), {
        upstream,
        storage,
      })
    return {
      ...{ provider, generator, server, upstream, close },
      async fleet(store, size) {
        const url = store === 'sqlite' ? '' : await server.database()
        const storage = store === 'sqlite' ? 'file: guard.db' : `backend: postgres, url: "${url}"`
        const names = Array.from({ length: size }, (_, at) => `${store} ${at + 1} of ${size}`)
        const members = await Promise.all(names.map((name) => member(name, storage)))
        return { store, url, children: members.map(({ child }) => child), ports: members.map(({ port }) => port) }
      },
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Sets the policy of a project on a fleet, through its first gateway. */
export const setPolicy = async ({ ports }: Fleet, project: string, mode: string, rules: readonly object[]) => {
  const answer = await fetch(`http://127.0.0.1:${ports[0]}/api/policies/${project}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json', 'x-guard-key': KEY },
    body: JSON.stringify({ mode, rules }),
  })
  if (!answer.ok) throw new Error(`the policy of ${project} was not taken: ${answer.status} ${await answer.text()}`)
  await answer.arrayBuffer()
}
