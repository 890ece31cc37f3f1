import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { errorOf, type Service, startService } from '../kit/service.ts'

const body = { model: 'm-1', input: 'hi', messages: [{ role: 'user', content: 'hi' }], max_tokens: 1 }

describe('5 authentication', () => {
  let service: Service
  before(async () => {
    service = await startService()
  })
  after(() => service[Symbol.asyncDispose]())
  const routes = [
    ['POST', '/v1/responses', body],
    ['POST', '/v1/chat/completions', body],
    ['POST', '/v1/messages', body],
    ['POST', '/v1/messages/count_tokens', body],
    ['GET', '/v1/models', undefined],
  ] as const

  for (const [method, path, sent] of routes) {
    it(`5.1 ${method} ${path} takes the key as a bearer token or as x-api-key`, async () => {
      const { key } = service.gateway
      assert.equal((await service.request(method, path, sent, { authorization: `Bearer ${key}` })).status, 200)
      assert.equal((await service.request(method, path, sent, { authorization: '', 'x-api-key': key })).status, 200)
    })
    it(`5.5 ${method} ${path} answers 401 without the key or with another one, and forwards nothing`, async () => {
      const seen = service.provider.requests.length
      for (const headers of [
        { authorization: '' },
        { authorization: 'Bearer other' },
        { authorization: '', 'x-api-key': 'other' },
      ]) {
        const answer = await service.request(method, path, sent, headers)
        assert.deepEqual(
          [answer.status, errorOf(answer).code, errorOf(answer).type],
          [401, 'UNAUTHORIZED', 'authentication_error'],
        )
        assert.match(answer.headers.get('www-authenticate') ?? '', /^Bearer/)
      }
      assert.equal(service.provider.requests.length, seen)
    })
  }
  it('5.1 the key itself never goes to the provider', async () => {
    await service.request('POST', '/v1/messages', body, { 'x-api-key': service.gateway.key })
    assert.ok(!service.provider.last.headers.join('\n').includes(service.gateway.key))
  })
  it('5.2 administration needs no key', async () => {
    for (const path of [
      '/api/health',
      '/api/sessions',
      '/api/agents',
      '/api/policies/default',
      '/api/export/aggregates.csv',
    ])
      assert.equal((await service.request('GET', path, undefined, { authorization: '' })).status, 200)
  })
  it('5.2 administration answers to loopback names and its own pages only', async () => {
    const elsewhere = { origin: 'http://elsewhere.example' }
    const answer = await service.request('GET', '/api/sessions', undefined, elsewhere)
    assert.deepEqual([answer.status, errorOf(answer).code], [403, 'ORIGIN_NOT_ALLOWED'])
  })
  it('5.4 the configuration file and the profiles are ignored by version control', async () => {
    const ignored = readFileSync(join(import.meta.dirname, '../../.gitignore'), 'utf8').split('\n')
    for (const name of ['guard-config.yml', '/profiles/', '*.db']) assert.ok(ignored.includes(name), name)
  })
  it('5.6 the key of an agent is issued once, works where the gateway key does, and can be revoked', async () => {
    const made = (await service.request('POST', '/api/agents', { id: 'keyed' })).json as { key: string; key_id: string }
    assert.match(made.key, /^gak_[A-Za-z0-9_-]{43}$/)
    const shown = await service.request('GET', '/api/agents/keyed')
    assert.ok(!shown.text.includes(made.key))
    const authorization = `Bearer ${made.key}`
    for (const [method, path, sent] of routes)
      assert.equal((await service.request(method, path, sent, { authorization })).status, 200)
    assert.equal((await service.request('DELETE', `/api/agents/keyed/keys/${made.key_id}`)).status, 204)
    assert.equal((await service.request('GET', '/v1/models', undefined, { authorization })).status, 401)
  })
})
