import type { SessionEvent } from '#lib/trace'
import type { Dialect, Step } from './dialogue.ts'
import { type Answer, type Started, type StartOptions, startGateway } from './gateway.ts'
import { type FakeProvider, fakeProvider } from './provider.ts'

/** An event of a session's history as the administration API gives it. */
export interface EventView {
  readonly id: string
  readonly name: string
  readonly request_id: string | null
  readonly severity: SessionEvent['severity']
  readonly attributes: Readonly<Record<string, unknown>>
}

/** A session as the administration API gives it, as far as tests read it. */
export interface SessionView {
  readonly id: string
  readonly project_id: string
  readonly agent_id: string | null
  readonly external_id: string | null
  readonly external_source: string
  readonly name: string | null
  readonly metadata: Readonly<Record<string, unknown>>
  readonly paused: boolean
  readonly pause_reason: string | null
  readonly requests: number
  readonly flagged: number
  readonly blocked: number
  readonly errors: number
  readonly total_tokens: number
}

type Headers = Readonly<Record<string, string>>

/** A gateway of the default preset in front of a provider of its own. */
export class Service {
  readonly gateway: Started
  readonly provider: FakeProvider

  constructor(gateway: Started, provider: FakeProvider) {
    this.gateway = gateway
    this.provider = provider
  }

  /** Sends a session in a dialect. */
  send(dialect: Dialect<string>, steps: readonly Step[], headers: Headers = {}, more: object = {}): Promise<Answer> {
    const path = 'stream' in more && more.stream === true ? (dialect.stream_path ?? dialect.path) : dialect.path
    return this.gateway.request('POST', path, dialect.body(steps, more), headers)
  }
  request(method: string, path: string, body?: unknown, headers?: Headers): Promise<Answer> {
    return this.gateway.request(method, path, body, headers)
  }
  /** The session of an id or external id. */
  async session(id: string): Promise<SessionView> {
    const { status, text, json } = await this.request('GET', `/api/sessions/${encodeURIComponent(id)}`)
    if (status !== 200) throw new Error(text)
    return (json as { session: SessionView }).session
  }
  /** A session's history, oldest first. */
  async events(id: string): Promise<readonly EventView[]> {
    const path = `/api/sessions/${encodeURIComponent(id)}/events?order=asc&limit=200`
    const { status, text, json } = await this.request('GET', path)
    if (status !== 200) throw new Error(text)
    return (json as { events: readonly EventView[] }).events
  }
  /** Replaces the policy of a project. */
  async policy(document: unknown, project = 'default'): Promise<void> {
    const { status, text } = await this.request('PUT', `/api/policies/${project}`, document)
    if (status !== 200) throw new Error(text)
  }
  async [Symbol.asyncDispose](): Promise<void> {
    await this.gateway.close()
    await this.provider.close()
  }
}

/** Starts both; the gateway's one upstream is the provider. `upstreams`: another list instead, as YAML for the provider's address. */
export const startService = async ({
  upstreams,
  config = '',
  ...options
}: StartOptions & { readonly upstreams?: (url: string) => string } = {}): Promise<Service> => {
  const provider = await fakeProvider()
  const { url } = provider
  const gateway =
    upstreams === undefined
      ? await startGateway({ upstream: url, config, ...options })
      : await startGateway({ config: `${config}\nupstreams: ${upstreams(url)}`, ...options })
  return new Service(gateway, provider)
}

/** The local error of an answer. */
export const errorOf = ({ json }: Answer): Readonly<Record<string, unknown>> =>
  (json as { readonly error?: Readonly<Record<string, unknown>> } | undefined)?.error ?? {}

/** What the gateway decided about the request that got this answer. */
export const decisionOf = ({ headers, status }: Answer) => ({
  status,
  decision: headers.get('x-guard-decision'),
  reason: headers.get('x-guard-reason'),
})
