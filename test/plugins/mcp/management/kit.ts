import fastify from 'fastify'
import { GuardError } from 'guard-gateway/core'
import { asFastifyPlugin } from 'guard-gateway/plugins/http'
import { argumentKey } from '#lib/trace'
import { approver } from '../../../../plugins/access/index.ts'
import { mcpErrors } from '../../../../plugins/mcp/error-codes.ts'
import { managementRoutes } from '../../../../plugins/mcp/management/routes.ts'
import type { ServerView } from '../../../../plugins/mcp/management/server-schemas.ts'
import { type Answer, injected } from '../../../kit/injected.ts'
import { type Kit, type KitOptions, makeKit } from '../audit/records-kit.ts'

export { expecting, refused } from '../../../kit/injected.ts'

/** The management API over audit and approvals; servers and pins are told by the test. */
export interface Bench extends Kit {
  /** What was accepted: server and tools, and the fingerprints that were named. */
  readonly accepted: (readonly [string, readonly string[] | 'all', ...(readonly string[])])[]
  send(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>
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
  processes: 1,
  last_seen_at: '2026-01-01T00:00:00.000Z',
  last_error: null,
  logins: null,
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
        bundles: [],
        policy: { file: '/p.yml', version: 'v1', mode: 'enforce', loaded_at: '2026-01-01T00:00:00.000Z', error: null },
      }),
      acceptPins: async (server_id, tools, shown = []) => {
        if (server_id !== 'fs') throw new GuardError(mcpErrors.MCP_SERVER_NOT_FOUND)
        accepted.push([server_id, tools, ...shown])
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
    key: await argumentKey(gateway.storage),
    accepted,
    send: (method, path, body, headers) => injected(app, method, `/api/v1/mcp${path}`, body, headers),
    close: async () => {
      await kit.audit.flush()
      await app.close()
    },
  }
}
