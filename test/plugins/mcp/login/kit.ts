import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type AuthorizationOptions,
  type AuthorizationServer,
  authorizationServer,
} from '../../../kit/authorization-server.ts'
import { type FakeClock, fakeClock } from '../../../kit/clock.ts'
import { logInByForms } from '../../../kit/form-browser.ts'
import { type Started, type StartOptions, startGateway } from '../../../kit/gateway.ts'
import { type GuardedServer, guardedMcpServer } from '../../../kit/guarded-mcp-server.ts'

/** Where browsers come back to in these tests, though nobody listens there. */
export const REDIRECT = 'http://127.0.0.1:49999/callback'

const POLICY = 'version: 1\ndefault: allow\nrules: []\n'
const INITIALIZE = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } }

interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly json: unknown
  readonly text: string
}

/** What a client reads of an answer: the text of a tool's result, or of an error. */
export const wordsOf = ({ json }: Pick<Answered, 'json'>): string => {
  const { result, error } = json as {
    result?: { content?: readonly { text?: string }[] }
    error?: { message: string }
  }
  return error?.message ?? result?.content?.[0]?.text ?? JSON.stringify(result)
}

/** A gateway with a server `docs` behind a login. */
export class LoginService {
  readonly authorization: AuthorizationServer
  readonly server: GuardedServer
  readonly gateway: Started
  readonly clock: FakeClock
  #id = 0

  constructor(authorization: AuthorizationServer, server: GuardedServer, gateway: Started, clock: FakeClock) {
    this.authorization = authorization
    this.server = server
    this.gateway = gateway
    this.clock = clock
  }

  api(method: string, path: string, body?: object) {
    return this.gateway.request(method, `/api/v1/mcp/servers/docs${path}`, body)
  }

  /** The address that a person opens. Throws what the gateway says instead. */
  async begin(body: object = {}): Promise<string> {
    const answer = await this.api('POST', '/login', { redirect_uri: REDIRECT, ...body })
    if (answer.status !== 200) throw new Error(messageOf(answer.json))
    return (answer.json as { authorization_url: string }).authorization_url
  }

  /** Throws what the gateway says instead. */
  async finish(redirected: string): Promise<{ state: string; scopes: string[] }> {
    const answer = await this.api('POST', '/login/finish', { redirected })
    if (answer.status !== 200) throw new Error(messageOf(answer.json))
    return (answer.json as { login: { state: string; scopes: string[] } }).login
  }

  /** A whole login, as a person does it. */
  async logIn(body: object = {}) {
    return this.finish(await logInByForms(await this.begin(body), REDIRECT))
  }

  async post(method: string, params: object = {}, headers: Readonly<Record<string, string>> = {}) {
    this.#id++
    const accept = 'application/json, text/event-stream'
    const message = { jsonrpc: '2.0', id: this.#id, method, params }
    return this.gateway.request('POST', '/mcp/docs', message, { accept, ...headers })
  }

  /** Opens a session; gives the header that names it. */
  async session(headers: Readonly<Record<string, string>> = {}) {
    const opened = await this.post('initialize', INITIALIZE, headers)
    const id = opened.headers.get('mcp-session-id')
    if (id === null) throw new Error(wordsOf(opened))
    return { 'mcp-session-id': id, ...headers }
  }

  async call(session: Readonly<Record<string, string>>, name = 'whoami'): Promise<string> {
    return wordsOf(await this.post('tools/call', { name, arguments: {} }, session))
  }

  /** The access token that the server was shown last. */
  get token(): string {
    return (this.server.shown.at(-1) ?? '').replace(/^Bearer /, '')
  }
}

const messageOf = (json: unknown): string => (json as { error: { message: string } }).error.message

export interface LoginServiceOptions extends AuthorizationOptions {
  /** Members of `login`, as flow YAML. */
  readonly login?: string | ((issuer: string) => string)
  /** Members of the server beside it. */
  readonly more?: string
  readonly start?: Partial<StartOptions>
}

export const loginService = async (
  opened: AsyncDisposableStack,
  { login = '', more = '', start = {}, ...options }: LoginServiceOptions = {},
): Promise<LoginService> => {
  const authorization = opened.use(await authorizationServer(options))
  const server = opened.use(await guardedMcpServer(authorization))
  const folder = await mkdtemp(join(tmpdir(), 'guard-login-'))
  opened.defer(() => rm(folder, { recursive: true, force: true }))
  await writeFile(join(folder, 'policy.yml'), POLICY)
  const clock = fakeClock(Date.now())
  const members = typeof login === 'string' ? login : login(authorization.issuer)
  const config = `mcp: { policy: policy.yml, servers: { docs: { target: "${server.url}", login: { ${members} }, ${more} } } }`
  const gateway = await startGateway({ config, folder, clock, ...start })
  opened.defer(() => gateway.close())
  return new LoginService(authorization, server, gateway, clock)
}
