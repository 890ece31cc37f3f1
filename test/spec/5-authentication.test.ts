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

describe('5 authentication, where an approver key is set', () => {
  const key = 'only-a-person-knows'
  const acts = [
    ['POST', '/api/sessions/held/resume', undefined, 200],
    ['POST', '/api/agents/held/resume', undefined, 200],
    ['POST', '/api/agents/held/keys', undefined, 201],
    ['POST', '/api/agents', { id: 'another' }, 201],
    ['PUT', '/api/policies/default', { preset: 'observe' }, 200],
  ] as const
  const forms = ['/ui/sessions/held/resume', '/ui/agents/held/resume', '/ui/policies/default'] as const
  let service: Service
  before(async () => {
    service = await startService({ config: `mcp: { approver_key: ${key} }` })
    await service.request('POST', '/api/agents', { id: 'held', issue_key: false })
    await service.request('POST', '/v1/messages', body, { 'x-guard-session-id': 'held' })
  })
  after(() => service[Symbol.asyncDispose]())

  it('what holds an agent back is tightened by anybody, and loosened with that key alone', async () => {
    for (const path of ['/api/sessions/held/pause', '/api/agents/held/pause'])
      assert.equal((await service.request('POST', path)).status, 200)
    for (const [method, path, sent, done] of acts) {
      for (const headers of [
        {},
        { 'x-guard-approver-key': 'guess' },
        { 'x-guard-approver-key': service.gateway.key },
      ]) {
        const answer = await service.request(method, path, sent, headers)
        assert.deepEqual([answer.status, errorOf(answer).code], [401, 'APPROVER_KEY_REQUIRED'], path)
      }
      assert.equal((await service.request(method, path, sent, { 'x-guard-approver-key': key })).status, done, path)
    }
  })
  it('the forms of the pages ask for it', async () => {
    const send = async (path: string, fields: Readonly<Record<string, string>>) => {
      const { rules } = (await service.request('GET', '/api/policies/default')).json as {
        rules: readonly { rule_type: string }[]
      }
      const version = { expected_version: '1', 'rules/0/rule_type': rules[0]?.rule_type ?? '' }
      const sent = new URLSearchParams({ ...version, ...fields })
      return fetch(service.gateway.url + path, { method: 'POST', body: sent, redirect: 'manual' })
    }
    for (const path of forms) {
      for (const fields of [{}, { approver_key: 'guess' }]) {
        const refused = await send(path, fields)
        assert.equal(refused.status, 422, path)
        const text = await refused.text()
        assert.match(text, /<a href="#field-approver_key">(This needs the approver key\.|The approver key is wrong\.)/)
        assert.equal(text.split('id="field-approver_key"').length, 2, path)
        assert.ok(!text.includes('guess'))
      }
      assert.equal((await send(path, { approver_key: key })).status, 303, path)
    }
    for (const path of ['/ui/sessions/held/pause', '/ui/agents/held/pause'])
      assert.equal((await send(path, {})).status, 303, path)
  })
  it('the Playground sets and resumes what is its own', async () => {
    const answer = await service.request('POST', '/api/demo/run', { scenario: 'paused-session' })
    assert.deepEqual([answer.status, (answer.json as { matched: boolean }).matched], [200, true], answer.text)
  })
})
