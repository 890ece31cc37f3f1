import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions } from 'playwright-core'
import { type ChildGateway, startChildGateway } from '../kit/child-gateway.ts'
import { type McpUpstream, mcpUpstream } from '../kit/mcp-upstream.ts'
import { openBrowser } from './chromium.ts'
import { Visit } from './visit.ts'

/** What an administration endpoint answered. */
export interface ApiAnswer {
  readonly status: number
  readonly json: Readonly<Record<string, unknown>>
}

/** Nobody listens there: what needs a provider is played by the Playground. */
const NO_UPSTREAM = 'http://127.0.0.1:9'

const policy = `version: 1
mode: enforce
default: allow
rules:
  - { id: ask-before-write, tools: [write_file], action: confirm, message: "Writes {arguments.path}" }
  - { id: never-delete, tools: [delete_file], action: deny }
`

/** A gateway in a process of its own with its database, a server behind its MCP proxy, and a browser. */
export class World {
  gateway: ChildGateway
  readonly browser: Browser
  readonly upstream: McpUpstream
  readonly folder: string
  readonly #config: string
  readonly #provider: string

  constructor(
    gateway: ChildGateway,
    browser: Browser,
    upstream: McpUpstream,
    folder: string,
    config: string,
    provider: string,
  ) {
    this.gateway = gateway
    this.browser = browser
    this.upstream = upstream
    this.folder = folder
    this.#config = config
    this.#provider = provider
  }

  get url(): string {
    return this.gateway.url
  }

  /** A page of a new context, with everything written down that goes wrong in it. */
  async open(options: BrowserContextOptions = {}): Promise<Visit> {
    const context = await this.browser.newContext({
      baseURL: this.url,
      viewport: { width: 1280, height: 800 },
      ...options,
    })
    // patient, since other tests may want the processor too
    context.setDefaultTimeout(30_000)
    return new Visit(await context.newPage(), this.url)
  }

  async api(method: string, path: string, body?: unknown): Promise<ApiAnswer> {
    const answer = await fetch(this.url + path, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    const text = await answer.text()
    return { status: answer.status, json: text === '' ? {} : (JSON.parse(text) as Readonly<Record<string, unknown>>) }
  }

  /** Ingests a trace and gives its id. Throws what the gateway refuses. */
  async trace(body: object): Promise<string> {
    const { status, json } = await this.api('POST', '/api/v1/traces', body)
    if (status >= 300) throw new Error(JSON.stringify(json))
    return String(json.trace_id)
  }

  /** Runs a scenario to its end; the run as the API gives it. */
  async play(scenario: string, mode = 'enforce'): Promise<Readonly<Record<string, unknown>>> {
    const { status, json } = await this.api('POST', '/api/demo/run', { scenario, mode })
    if (status !== 200) throw new Error(JSON.stringify(json))
    return json
  }

  /** Ends the gateway in order and starts it again at the same address, with the same database. */
  async restart(): Promise<void> {
    const port = Number(new URL(this.url).port)
    await this.gateway.end('SIGTERM')
    this.gateway = await startChildGateway(this.folder, this.#provider, this.#config, port)
  }

  async close(): Promise<void> {
    await this.browser.close()
    // its folder goes with it, so that there is nothing to end in order
    await this.gateway.end('SIGKILL')
    await this.upstream.close()
    await rm(this.folder, { recursive: true, force: true })
  }
}

/** Starts all of it. `config`: further sections of the configuration; `mcp`: further members of its section `mcp`, as flow YAML; `provider`: address of the upstream. */
export const startWorld = async ({ config = '', mcp = '', provider = NO_UPSTREAM } = {}): Promise<World> => {
  // first: where there is none, nothing else is to be ended again
  const browser = await openBrowser()
  const folder = await mkdtemp(join(tmpdir(), 'guard-browser-'))
  const upstream = await mcpUpstream()
  await writeFile(join(folder, 'policy.yml'), policy)
  const all = `mcp: { policy: policy.yml, ${mcp === '' ? '' : `${mcp}, `}servers: { files: { name: Files, target: "${upstream.url}" } } }\n${config}`
  const gateway = await startChildGateway(folder, provider, all).catch(async (error: unknown) => {
    await Promise.all([browser.close(), upstream.close()])
    throw error
  })
  return new World(gateway, browser, upstream, folder, all, provider)
}
