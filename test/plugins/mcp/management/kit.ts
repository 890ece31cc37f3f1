import assert from 'node:assert/strict'
import fastify, { type InjectOptions } from 'fastify'
import { type ErrorBody, GuardError, readJson } from 'guard-gateway/core'
import { asFastifyPlugin } from 'guard-gateway/plugins/http'
import { approver, argumentKey } from '../../../../plugins/mcp/approvals/index.ts'
import { managementRoutes } from '../../../../plugins/mcp/management/routes.ts'
import type { ServerView } from '../../../../plugins/mcp/management/server-schemas.ts'
import { type Kit, type KitOptions, makeKit } from '../records-kit.ts'

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
  /** Undefined if the text is no JSON. */
  readonly body: unknown
}

/** The management API over audit and approvals; servers and pins are told by the test. */
export interface Bench extends Kit {
  /** What was accepted: server and tools. */
  readonly accepted: (readonly [string, readonly string[] | 'all'])[]
  send(method: 'GET' | 'POST', path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
}

export const aServer: ServerView = {
  id: 'fs',
  name: 'Files',
  transport: 'stdio',
  target: 'npx server /srv',
  status: 'ok',
  protocol_version: '2025-11-25',
  server_info: { name: 'files', version: '1.2.3' },
  fingerprint: 'ab12',
  tools: [
    {
      name: 'read_file',
      fingerprint: 'f1',
      pin: 'changed',
      difference: ['- description: Reads.', '+ description: Reads\u001b[2J all.'],
      effect: 'depends',
      hidden: false,
    },
  ],
  sessions: 1,
  last_seen_at: '2026-01-01T00:00:00.000Z',
  last_error: null,
}

export const startApi = async (options: KitOptions & { readonly approver_key?: string } = {}): Promise<Bench> => {
  const accepted: Bench['accepted'] = []
  const kit = makeKit(options)
  const { gateway } = kit
  gateway.hooks.http.tapPromise('test', async (app) => {
    const routes = managementRoutes({
      ...kit,
      approver: approver(options.approver_key),
      servers: async () => ({
        servers: [aServer],
        policy: { file: '/p.yml', version: 'v1', mode: 'enforce', loaded_at: '2026-01-01T00:00:00.000Z', error: null },
      }),
      acceptPins: async (server_id, tools) => {
        if (server_id !== 'fs') throw new GuardError('MCP_SERVER_NOT_FOUND')
        accepted.push([server_id, tools])
        return tools === 'all' ? ['read_file'] : tools
      },
    })
    await app.register(routes, { prefix: '/api/v1/mcp' })
  })
  const app = fastify()
  await app.register(asFastifyPlugin(gateway))
  await app.ready()
  return {
    ...kit,
    key: await argumentKey(gateway),
    accepted,
    send: async (method, path, body, headers = {}) => {
      const request: InjectOptions = {
        method,
        url: `/api/v1/mcp${path}`,
        headers: { host: '127.0.0.1:8787', ...headers },
      }
      if (body !== undefined) {
        request.payload = JSON.stringify(body)
        request.headers = { 'content-type': 'application/json', ...request.headers }
      }
      const answer = await app.inject(request)
      return { status: answer.statusCode, headers: answer.headers, text: answer.body, body: parsed(answer.body) }
    },
    close: async () => {
      await kit.audit.flush()
      await app.close()
    },
  }
}

const parsed = (text: string): unknown => {
  try {
    return readJson(text)
  } catch {
    return undefined
  }
}

/** The answer's body, which must have this status. */
export const expecting = <T>(status: number, answer: Answer): T => {
  assert.equal(answer.status, status, answer.text)
  return answer.body as T
}

/** Asserts an error answer of this status and code, and gives its body. */
export const refused = (status: number, code: string, answer: Answer): ErrorBody => {
  const { error } = expecting<{ readonly error: ErrorBody }>(status, answer)
  assert.equal(error.code, code)
  return error
}
