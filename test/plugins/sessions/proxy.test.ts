import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { Client, ProxyRequest } from 'guard-gateway/core'
import { code, type House, idOf, object, openHouse } from './kit.ts'

const client: Client = {
  gone: false,
  interrupted: false,
  head: () => {},
  write: () => true,
  end: () => {},
  cut: () => {},
  onDrain: () => {},
  onGone: () => {},
}

describe('requests beside the guarded ones', () => {
  let house: House
  beforeEach(async () => {
    house = await openHouse()
  })
  afterEach(() => house.close())
  const proxy = (headers: Record<string, string>, over: Partial<ProxyRequest> = {}) =>
    house.gateway.hooks.proxy.promise(
      {
        id: 'guardreq_p',
        method: 'POST',
        path: '/v1/messages/count_tokens',
        query: '',
        styles: ['messages'],
        model: 'm-1',
        headers,
        raw_headers: [],
        identity: { agent_id: null, key_id: null },
        admission: { path: '/v1/messages/count_tokens', project_id: null, session: null, objects: [] },
        body: Buffer.from('{}'),
        ...over,
      },
      client,
    )

  it('are refused when the session that their headers name is paused', async () => {
    const headers = { 'x-claude-code-session-id': 'window', 'x-guard-project-id': 'shop' }
    const id = idOf(await house.ask(headers))
    assert.equal(await proxy(headers), undefined)
    await house.http('POST', `/api/sessions/${id}/pause`)
    await assert.rejects(proxy(headers), code('PAUSED_SESSION'))
    assert.equal(await proxy({ ...headers, 'x-guard-project-id': 'other' }), undefined)
    await house.http('POST', `/api/sessions/${id}/resume`)
    assert.equal(await proxy(headers), undefined)
  })

  it('are refused when their agent is paused, by header or by key', async () => {
    const { key } = (await house.http('POST', '/api/agents', { id: 'bot', project_id: 'shop' })).json
    const identity = house.gateway.keys.identify([String(key)])
    assert.ok(identity)
    await house.http('POST', '/api/agents/bot/pause')
    await assert.rejects(proxy({ 'x-guard-agent-id': 'bot' }), code('PAUSED_AGENT'))
    await assert.rejects(proxy({}, { identity }), code('PAUSED_AGENT'))
    assert.equal(await proxy({ 'x-guard-agent-id': 'other' }), undefined)
  })

  it('are refused also when they only read', async () => {
    const id = idOf(await house.ask({ 'session-id': 'window' }))
    await house.http('POST', `/api/sessions/${id}/pause`)
    for (const path of ['/v1/models', '/v1/files/a'])
      await assert.rejects(
        proxy({ 'session-id': 'window' }, { method: 'GET', path, body: undefined }),
        code('PAUSED_SESSION'),
      )
    assert.equal(await proxy({}, { method: 'GET', path: '/v1/models', body: undefined }), undefined)
  })

  it('start no session and register no agent', async () => {
    await proxy({ 'x-guard-session-id': 'ses_new', 'x-guard-agent-id': 'ghost' })
    assert.equal((await house.http('GET', '/api/sessions/ses_new')).status, 404)
    assert.equal((await house.http('GET', '/api/agents/ghost')).status, 404)
  })

  it('count as a use of the key', async () => {
    const identity = house.gateway.keys.identify([
      String((await house.http('POST', '/api/agents', { id: 'bot' })).json.key),
    ])
    assert.ok(identity)
    await proxy({}, { identity, method: 'GET' })
    const [key] = object(await house.http('GET', '/api/agents/bot'), 'agent').keys as { last_used_at: unknown }[]
    assert.equal(key?.last_used_at, '2026-03-01T12:00:00.000Z')
  })
})
