import { errorBody, type Gateway, GuardError } from 'guard-gateway/core'
import { isJsonObject, type JsonObject, jsonObjectOf, parseJson, sourceOf } from '#lib/json'
import { type Frame, readFrame } from '#lib/json-rpc'
import type { Lost, McpLink, McpReply, McpSession } from '#lib/mcp-transport'
import { type Principal, runAs } from '#lib/principal'
import type { RunCache } from '../read/run-cache.ts'
import { ANSWER_BYTES } from './tool.ts'
import { ToolArguments } from './tool-arguments.ts'
import { listedTools, tools } from './tools.ts'

/** The way to Replay inside this process, for one session. */
export class ReplayLink implements McpLink {
  readonly #lost = Promise.withResolvers<Lost>()
  readonly lost = this.#lost.promise
  readonly #server: ReplayServer

  constructor(gateway: Gateway, cache: RunCache, { projects }: McpSession) {
    this.#server = new ReplayServer(gateway, cache, projects)
  }

  async post({ kind, id = 'null', method = '', text, params }: Frame): Promise<McpReply> {
    if (kind !== 'request') return { form: 'none', status: 202 }
    const parsed = params === undefined ? undefined : parseJson(sourceOf(text, params))
    const answer = readFrame(Buffer.from(await this.#server.answer(id, method, parsed)), 'server')
    const event = answer.kind === 'fault' ? { fault: answer } : { frame: answer }
    return { form: 'json', status: 200, event }
  }

  /** Nothing is said unasked. */
  async listen(): Promise<McpReply> {
    return { form: 'none', status: 405 }
  }

  async end(): Promise<void> {
    this.#lost.resolve({ reason: 'The session has ended.' })
  }
}

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
class ReplayServer {
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
      const parsed = new ToolArguments(jsonObjectOf(args), Object.keys(tool.input.properties))
      const answer = await runAs(this.#principal, () => tool.call(parsed, context))
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

/** A question that a client may offer its user. */
interface Prompt {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly text: string
}

const prompts: readonly Prompt[] = [
  {
    name: 'why_did_my_last_run_fail',
    title: 'Why did my last run fail?',
    description: 'The newest run that failed, its cause and what helps.',
    text: 'Call why_failed. Look at the step with get_step where its error is not clear. Then say in a few sentences what failed, why, what it cost from there on, and what to change.',
  },
  {
    name: 'where_did_the_money_go',
    title: 'Where did the money go?',
    description: 'The costliest models and runs of the last days.',
    text: 'Call where_did_the_money_go by model and by run. Look into the costliest run by its trace_id. Then say what cost most, how much of its input came from a cache, and what could be saved.',
  },
  {
    name: 'what_changed',
    title: 'What changed since it last went well?',
    description: 'The last good run beside the last bad one.',
    text: 'Find the newest run that failed and the newest of the same agent or name that went well with list_runs, and set them side by side with compare_runs, the good one as left. Say where they part and what differs there.',
  },
]

/** Prompts as `prompts/list` has them. */
const listedPrompts: readonly object[] = prompts.map(({ name, title, description }) => ({
  name,
  title,
  description,
}))

/** A prompt as `prompts/get` has it; undefined if there is none of this name. */
const promptNamed = (name: unknown): object | undefined => {
  const found = prompts.find((prompt) => prompt.name === name)
  if (found === undefined) return undefined
  const { description, text } = found
  return { description, messages: [{ role: 'user', content: { type: 'text', text } }] }
}
