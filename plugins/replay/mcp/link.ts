import type { Gateway } from 'guard-gateway/core'
import { parseJson, sourceOf } from 'guard-gateway/lib/json'
import { type Frame, readFrame } from 'guard-gateway/lib/json-rpc'
import type { Lost, McpLink, McpReply, McpSession } from 'guard-gateway/lib/mcp-transport'
import type { RunCache } from '../read/run-cache.ts'
import { ReplayServer } from './server.ts'

/** The way to Replay inside this process, for one session. */
export class ReplayLink implements McpLink {
  readonly lost: Promise<Lost>
  readonly #server: ReplayServer
  readonly #lose: (lost: Lost) => void

  constructor(gateway: Gateway, cache: RunCache, { projects }: McpSession) {
    const { promise, resolve } = Promise.withResolvers<Lost>()
    this.#server = new ReplayServer(gateway, cache, projects)
    this.lost = promise
    this.#lose = resolve
  }

  async post({ kind, id = 'null', method = '', text, params }: Frame): Promise<McpReply> {
    if (kind !== 'request') return { form: 'none', status: 202 }
    const given = params === undefined ? undefined : parseJson(sourceOf(text, params))
    const answer = readFrame(Buffer.from(await this.#server.answer(id, method, given)), 'server')
    const event = answer.kind === 'fault' ? { fault: answer } : { frame: answer }
    return { form: 'json', status: 200, event }
  }

  /** Nothing is said unasked. */
  async listen(): Promise<McpReply> {
    return { form: 'none', status: 405 }
  }

  async end(): Promise<void> {
    this.#lose({ reason: 'The session has ended.' })
  }
}
