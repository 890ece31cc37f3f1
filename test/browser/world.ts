import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContext, BrowserContextOptions } from 'playwright-core'
import { type McpUpstream, mcpUpstream } from '../kit/mcp-upstream.ts'
import { leaveBrowser, openBrowser } from './chromium.ts'
import { Visit } from './visit.ts'

/** A gateway that listens. */
interface Running {
  readonly url: string
  readonly key: string
  close(): Promise<void>
}

/** Where and with what it is started. */
interface Start {
  readonly folder: string
  readonly upstream: string
  readonly backend: 'memory' | 'sqlite'
  readonly config: string
  readonly port?: number
}

const startGateway = async (options: Start): Promise<Running> => {
  // by its address: what is imported by name is checked against the types of a page, and a gateway is none
  const kit = (await import(new URL('../kit/gateway.ts', import.meta.url).href)) as {
    startGateway(options: Start): Promise<Running>
  }
  return kit.startGateway(options)
}

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

const VIEWPORT = { width: 1280, height: 800 }

/** A gateway, a server behind its MCP proxy, and a browser. */
export class World {
  gateway: Running
  readonly browser: Browser
  readonly upstream: McpUpstream
  readonly #options: Start
  readonly #contexts = new Set<BrowserContext>()
  /** What visits have left behind, by their options. */
  readonly #left = new Map<string, Visit>()

  constructor(gateway: Running, browser: Browser, upstream: McpUpstream, options: Start) {
    this.gateway = gateway
    this.browser = browser
    this.upstream = upstream
    this.#options = options
  }

  get url(): string {
    return this.gateway.url
  }

  /** A page, with everything written down that goes wrong in it; of a new context, or one that a visit with the same options has left. */
  async open(options: BrowserContextOptions = {}): Promise<Visit> {
    const wanted = JSON.stringify(options)
    const left = this.#left.get(wanted)
    if (left !== undefined) {
      this.#left.delete(wanted)
      return left
    }
    const context = await this.browser.newContext({ baseURL: this.url, viewport: VIEWPORT, ...options })
    this.#contexts.add(context)
    context.once('close', () => this.#contexts.delete(context))
    // patient, since other tests may want the processor too
    context.setDefaultTimeout(30_000)
    return new Visit(await context.newPage(), this.url, (visit) => this.#leave(visit, wanted, options))
  }

  /** Keeps a page for the next visit, as a new one would be: to start its process costs more than most visits. */
  async #leave(visit: Visit, wanted: string, { viewport = VIEWPORT }: BrowserContextOptions): Promise<void> {
    const { page } = visit
    if (this.#left.has(wanted) || page.context().pages().length > 1) return page.context().close()
    await page.unrouteAll()
    await page.emulateMedia({ media: null, colorScheme: null, reducedMotion: null, forcedColors: null })
    if (viewport !== null) await page.setViewportSize(viewport)
    await page.context().clearCookies()
    // its stream ends here; its document stays until the next visit goes elsewhere, which has a pointer of its own
    await page.evaluate(() => {
      document.documentElement.dispatchEvent(new Event('pointerleave'))
      dispatchEvent(new Event('pagehide'))
      sessionStorage.clear()
      localStorage.clear()
    })
    visit.faults.length = 0
    this.#left.set(wanted, visit)
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

  /** Ends the gateway in order and starts it again at the same address, with its database if it has one. */
  async restart(): Promise<void> {
    const port = Number(new URL(this.url).port)
    await this.gateway.close()
    this.gateway = await startGateway({ ...this.#options, port })
  }

  async close(): Promise<void> {
    await Promise.all([...this.#contexts].map((context) => context.close()))
    leaveBrowser()
    await this.gateway.close()
    await this.upstream.close()
    await rm(this.#options.folder, { recursive: true, force: true })
  }
}

/** Starts all of it. `mcp`: further members of that section of the configuration, as flow YAML; `provider`: address of the upstream; `backend`: where its records are. */
export const startWorld = async ({
  mcp = '',
  provider = NO_UPSTREAM,
  backend = 'memory',
}: {
  readonly mcp?: string
  readonly provider?: string
  readonly backend?: Start['backend']
} = {}): Promise<World> => {
  // first: where there is none, nothing else is to be ended again
  const browser = await openBrowser()
  const folder = await mkdtemp(join(tmpdir(), 'guard-browser-'))
  const server = await mcpUpstream()
  await writeFile(join(folder, 'policy.yml'), policy)
  const config = `mcp: { policy: policy.yml, ${mcp === '' ? '' : `${mcp}, `}servers: { files: { name: Files, target: "${server.url}" } } }`
  const options: Start = { folder, upstream: provider, backend, config }
  const gateway = await startGateway(options).catch(async (error: unknown) => {
    leaveBrowser()
    await server.close()
    throw error
  })
  return new World(gateway, browser, server, options)
}
