import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Gateway } from 'guard-gateway/core'
import { approverHeaders } from '#lib/approver'
import { Type } from '#lib/json'
import type { AccessKeys } from './access-keys.ts'
import { createKey, revokeKey } from './changes.ts'
import { liveKeys, needKey } from './key-list.ts'
import { keyRequest } from './key-request.ts'
import { issuedKey, keyBody, keyParams, keysPage } from './schemas.ts'
import type { AccessKeyRow } from './tables.ts'

/** Making, listing and revoking keys with scopes, below `/api`. */
export const keyRoutes =
  (gateway: Gateway, keys: AccessKeys): FastifyPluginAsyncTypebox =>
  async (app) => {
    const list = { summary: 'List keys with scopes, newest first', response: { 200: keysPage } }
    app.get('/keys', { schema: list }, async () => ({ keys: (await liveKeys(gateway)).map(keyView) }))

    const make = {
      summary: 'Make a key with scopes; it is answered this once',
      headers: approverHeaders,
      body: keyBody,
      response: { 201: issuedKey },
    }
    app.post('/keys', { schema: make }, async ({ body, headers }, reply) => {
      gateway.approver.checkHeaders(headers)
      const { key, row } = await createKey(gateway, keys, keyRequest(body, gateway.clock.now(), gateway.redact))
      return reply.code(201).send({ key, access_key: keyView(row) })
    })

    const revoke = { summary: 'Revoke a key with scopes, at once', params: keyParams, response: { 204: Type.Null() } }
    app.delete('/keys/:id', { schema: revoke }, async ({ params }, reply) => {
      await revokeKey(gateway, keys, await needKey(gateway, params.id))
      return reply.code(204).send(null)
    })
  }

const keyView = ({ hash: _hash, ...row }: AccessKeyRow) => ({
  ...row,
  scopes: [...row.scopes],
  projects: row.projects && [...row.projects],
  created_at: timeText(row.created_at),
  last_used_at: timeOrNull(row.last_used_at),
  expires_at: timeOrNull(row.expires_at),
  revoked_at: timeOrNull(row.revoked_at),
})

const timeText = (at: number): string => new Date(at).toISOString()
const timeOrNull = (at: number | null): string | null => (at === null ? null : timeText(at))
