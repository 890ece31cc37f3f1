import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import { errorBody, GuardError } from 'guard-gateway/core'
import type { Framework } from './framework.ts'
import type { HttpServerState } from './http-server-state.ts'
import { servesModel } from './models/fast-path.ts'
import { servesProbe } from './probes.ts'

/** Where requests enter. Model requests and probes are served at once; the web framework, which serves all others, is loaded at the first of them. */
export class RequestEntry {
  readonly #state: HttpServerState
  readonly #server: () => Server
  #loading: Promise<Framework> | undefined
  #framework: Framework | undefined

  constructor(state: HttpServerState, server: () => Server) {
    this.#state = state
    this.#server = server
  }

  readonly listener: RequestListener = (request, response) => {
    const state = this.#state
    if (!state.hasRequestHooks && (servesModel(state, request, response) || servesProbe(state, request, response)))
      return
    if (this.#framework === undefined) void this.#serveLater(request, response)
    else this.#framework.listener(request, response)
  }

  /** Loads the framework with the routes of all plugins. Rejects with what one of them throws. */
  load(): Promise<Framework> {
    this.#loading ??= this.#load()
    return this.#loading
  }

  /** Ends the routes, if they were loaded, and closes the gateway. */
  async close(): Promise<void> {
    const framework = await this.#loading?.catch(() => undefined)
    if (framework === undefined) await this.#state.gateway.close()
    else await framework.close()
  }

  async #load(): Promise<Framework> {
    const { loadFramework } = await import('./framework.ts')
    this.#framework = await loadFramework(this.#state, this.#server())
    return this.#framework
  }

  async #serveLater(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const { listener } = await this.load()
      listener(request, response)
    } catch (error) {
      this.#state.gateway.fault(error, 'http:routes')
      response.writeHead(500, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error: errorBody(new GuardError('INTERNAL')) }))
    }
  }
}
