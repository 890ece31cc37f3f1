import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ChildGateway, startChildGateway } from '../../kit/child-gateway.ts'

/** Longer than any answer may take. */
const LIMIT_MS = 60_000

/** What a gateway answered. */
export interface Answered {
  readonly status: number
  readonly request_id: string
  readonly decision: string
  readonly reason: string | null
  readonly session_id: string
}

/** Gateways in processes of their own, on one database. */
export class Fleet {
  readonly #upstream: string
  readonly #url: string
  readonly #members: { readonly folder: string; gateway: ChildGateway }[] = []

  constructor(upstream: string, url: string) {
    this.#upstream = upstream
    this.#url = url
  }

  get size(): number {
    return this.#members.length
  }

  async start(count: number): Promise<this> {
    const folders = await Promise.all(Array.from({ length: count }, () => mkdtemp(join(tmpdir(), 'guard-fleet-'))))
    const gateways = await Promise.all(folders.map((folder) => this.#begin(folder)))
    for (const [at, gateway] of gateways.entries()) this.#members.push({ folder: folders[at] ?? '', gateway })
    return this
  }

  async end(): Promise<void> {
    for (const { folder, gateway } of this.#members) {
      await gateway.end('SIGKILL')
      await rm(folder, { recursive: true, force: true })
    }
  }

  /** Kills one and starts another one in its place. */
  async replace(at: number): Promise<void> {
    const member = this.#members[at % this.#members.length]
    if (member === undefined) throw new Error('no gateway there')
    await member.gateway.end('SIGKILL')
    member.gateway = await this.#begin(member.folder)
  }

  /** Everything that they wrote. */
  said(): string {
    return this.#members.map(({ gateway }) => gateway.said()).join('\n')
  }

  async request(at: number, method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const { gateway } = this.#members[at % this.#members.length] ?? {}
    if (gateway === undefined) throw new Error('no gateway there')
    return fetch(gateway.url + path, {
      method,
      signal: AbortSignal.timeout(LIMIT_MS),
      headers: {
        'x-guard-key': gateway.key,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  }

  /** Undefined: the connection was cut, as that of a gateway that was killed. A request that hangs rejects. */
  async chat(at: number, project: string, session: string, text: string): Promise<Answered | undefined> {
    const body = { model: 'm-1', messages: [{ role: 'user', content: text }] }
    const headers = { 'x-guard-project-id': project, 'x-guard-session-id': session }
    try {
      const answer = await this.request(at, 'POST', '/v1/chat/completions', body, headers)
      await answer.text()
      return {
        status: answer.status,
        request_id: answer.headers.get('x-guard-request-id') ?? '',
        decision: answer.headers.get('x-guard-decision') ?? '',
        reason: answer.headers.get('x-guard-reason'),
        session_id: answer.headers.get('x-guard-session-id') ?? '',
      }
    } catch (error) {
      if (error instanceof DOMException && error.name === 'TimeoutError') throw error
      return undefined
    }
  }

  #begin(folder: string): Promise<ChildGateway> {
    const config = `default_mode: enforce\nstorage: { backend: postgres, url: "${this.#url}", pool: 4 }`
    return startChildGateway(folder, this.#upstream, config)
  }
}

/** Numbers from 0 to below 1 that are the same in each run. */
export const seeded = (seed: number): (() => number) => {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
