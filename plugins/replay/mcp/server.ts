import { errorBody, type Gateway, GuardError } from 'guard-gateway/core'
import { isJsonObject, type JsonObject, jsonObjectOf } from 'guard-gateway/lib/json'
import { type Principal, runAs } from 'guard-gateway/lib/principal'
import type { RunCache } from '../read/run-cache.ts'
import { Given } from './given.ts'
import { listedPrompts, promptNamed } from './prompts.ts'
import { ANSWER_BYTES } from './tool.ts'
import { listedTools, tools } from './tools.ts'

/** Revisions of MCP that are spoken, the newest first. */
const VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']

const INSTRUCTIONS = `What agents did through this gateway: runs, their steps, failures, cost, sessions and budgets. Everything only reads. Begin with why_failed, where_did_the_money_go or list_runs. Answers have at most ${ANSWER_BYTES} bytes of JSON; next_cursor and next_after lead on. Costs are in millionths of the billing currency (cost_micro) and in words.`

/** An error of JSON-RPC. */
class RequestError extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** Answers the requests of one client. */
export class ReplayServer {
  readonly #gateway: Gateway
  readonly #cache: RunCache
  readonly #principal: Principal

  /** `projects`: what the client may read; null: all. */
  constructor(gateway: Gateway, cache: RunCache, projects: readonly string[] | null) {
    this.#gateway = gateway
    this.#cache = cache
    this.#principal = { name: 'mcp', kind: 'key', scopes: new Set(['read']), projects, key_id: null }
  }

  /** The answer to a request as JSON text; `id` is its source text. Never rejects. */
  async answer(id: string, method: string, params: unknown): Promise<string> {
    try {
      const result = await this.#result(method, jsonObjectOf(params))
      return `{"jsonrpc":"2.0","id":${id},"result":${JSON.stringify(result)}}`
    } catch (error) {
      const { code, message } =
        error instanceof RequestError
          ? error
          : { code: -32603, message: 'The gateway could not answer. Its log has the cause.' }
      if (!(error instanceof RequestError)) this.#gateway.fault(error, 'replay:mcp')
      return `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify({ code, message })}}`
    }
  }

  async #result(method: string, params: JsonObject): Promise<object> {
    switch (method) {
      case 'initialize':
        return initialized(params)
      case 'ping':
        return {}
      case 'tools/list':
        return { tools: listedTools }
      case 'prompts/list':
        return { prompts: listedPrompts }
      case 'prompts/get':
        return needed(promptNamed(params.name), `There is no prompt "${String(params.name)}".`)
      case 'tools/call':
        return this.#call(params)
      default:
        throw new RequestError(-32601, `There is no method ${method}.`)
    }
  }

  async #call({ name, arguments: args }: JsonObject): Promise<object> {
    const tool = needed(
      tools.find((one) => one.name === name),
      `There is no tool "${String(name)}"; there is ${tools.map((one) => one.name).join(', ')}.`,
    )
    const { storage, clock } = this.#gateway
    const context = { gateway: this.#gateway, storage, cache: this.#cache, now: clock.now() }
    try {
      if (args !== undefined && !isJsonObject(args))
        throw new GuardError('INVALID_REQUEST', '"arguments" must be an object.')
      const given = new Given(jsonObjectOf(args), Object.keys(tool.input.properties))
      const answer = await runAs(this.#principal, () => tool.call(given, context))
      return { content: [{ type: 'text', text: JSON.stringify(answer) }], structuredContent: answer }
    } catch (error) {
      // the model reads it and can call again
      if (!(error instanceof GuardError)) throw error
      return { content: [{ type: 'text', text: errorText(error) }], isError: true }
    }
  }
}

const initialized = ({ protocolVersion }: JsonObject): object => ({
  protocolVersion: VERSIONS.find((version) => version === protocolVersion) ?? VERSIONS[0],
  capabilities: { tools: {}, prompts: {} },
  serverInfo: { name: 'guard-replay', title: 'Replay', version: '1.0.0' },
  instructions: INSTRUCTIONS,
})

const needed = <T>(value: T | undefined, message: string): T => {
  if (value === undefined) throw new RequestError(-32602, message)
  return value
}

const errorText = (error: GuardError): string => {
  const { code, message } = errorBody(error)
  return `${code}: ${message}`
}
