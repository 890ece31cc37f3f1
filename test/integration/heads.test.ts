import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { type Call, GuardError, type OutboundHead, type Plugin, type ProxyRequest } from 'guard-gateway/core'
import { type FakeProvider, fakeProvider, type ReceivedRequest } from '../kit/provider.ts'
import { errorOf, type Service, startService } from '../kit/service.ts'

const digest = (...parts: readonly (string | Uint8Array)[]): string => {
  const hmac = createHmac('sha256', 'a key of the provider')
  for (const part of parts) hmac.update(part).update('\n')
  return hmac.digest('hex')
}

const modelOf = (request: Call | ProxyRequest | undefined): string =>
  request === undefined ? 'none' : 'envelope' in request ? request.envelope.model : (request.model ?? 'none')

/** What the signer does for a model before it signs. */
const failures: Readonly<Record<string, (head: OutboundHead) => unknown>> = {
  veto: () => {
    throw new GuardError('NO_UPSTREAM', 'This model has no key today.')
  },
  plain: () => Promise.reject(new Error('an inner text')),
  text: () => Promise.reject('an inner text'),
  length: (head) => head.set('content-length', '1'),
  inject: (head) => head.append('x-signature', 'one\r\nx-admin: yes'),
  never: () => new Promise(() => {}),
}

/** Signs as providers want it: method, address, host and body, each try by itself. What it throws is told by the model. */
const signer: Plugin = {
  name: 'signer',
  apply({ hooks }) {
    hooks.outbound.tapPromise('signer', async (head, request) => {
      await turn()
      const model = modelOf(request)
      await failures[model]?.(head)
      head.set('x-date', '20261126')
      head.append('x-signature', digest(head.method, head.url, head.get('host') ?? '', head.body ?? ''))
      head.set('x-upstream', head.upstream)
    })
    hooks.reply.tap('signer', (head, request) => {
      const model = modelOf(request)
      head.set('x-seen', `${head.status} ${model}`)
      if (model === 'reply-throws') throw new Error('an inner text')
      if (model === 'reply-injects') head.set('x-evil', 'one\r\n\r\ntwo')
      if (model === 'reply-frames') head.remove('content-length')
    })
  },
}

const headerIn = ({ headers }: ReceivedRequest, name: string): string | undefined =>
  headers[headers.findIndex((one, index) => index % 2 === 0 && one.toLowerCase() === name) + 1]

const isSigned = (received: ReceivedRequest, origin: string): boolean =>
  headerIn(received, 'x-signature') ===
  digest(received.method, origin + received.path, headerIn(received, 'host') ?? '', received.body)

describe('heads of requests and replies that a plugin changes', () => {
  let service: Service
  let other: FakeProvider
  before(async () => {
    other = await fakeProvider()
    service = await startService({
      plugins: [signer],
      config: 'passthrough: [/v1/files]',
      upstreams: (url) =>
        `[{ name: first, base_url: "${url}", styles: [messages, responses, chat_completions], fallback: [second] }, { name: second, base_url: "${other.url}/other/v1", styles: [chat_completions] }]`,
    })
  })
  after(async () => {
    await service[Symbol.asyncDispose]()
    await other.close()
  })
  const chat = (model: string, more: object = {}) =>
    service.request('POST', '/v1/chat/completions?a=b', {
      model,
      messages: [{ role: 'user', content: `for ${model}` }],
      ...more,
    })

  it('are those of every guarded request, with the address and the bytes that are sent', async () => {
    for (const stream of [false, true]) {
      const answer = await chat('m-1', { stream })
      assert.deepEqual([answer.status, answer.headers.get('x-seen')], [200, '200 m-1'])
      const received = service.provider.requests.at(-1)
      assert.ok(received && isSigned(received, service.provider.url))
      assert.equal(headerIn(received, 'x-upstream'), 'first')
    }
  })
  it('are those of requests that no rule judges', async () => {
    for (const [method, path, body] of [
      ['POST', '/v1/messages/count_tokens', { model: 'm-1', messages: [] }],
      ['GET', '/v1/files', undefined],
      ['GET', '/v1/models/m-1', undefined],
    ] as const) {
      const answer = await service.request(method, path, body)
      assert.match(answer.headers.get('x-seen') ?? '', /^\d+ /, path)
      const received = service.provider.requests.at(-1)
      assert.ok(received && isSigned(received, service.provider.url), path)
    }
  })
  it('are those of each try, each for its own upstream', async () => {
    service.provider.script({ status: 503 })
    const answer = await chat('m-2')
    assert.equal(answer.status, 200)
    const [first, second] = [service.provider.requests.at(-1), other.requests.at(-1)]
    assert.ok(first && isSigned(first, service.provider.url))
    assert.ok(second && isSigned(second, other.url))
    assert.deepEqual([headerIn(second, 'x-upstream'), second.path], ['second', '/other/v1/chat/completions?a=b'])
  })
  it('are not sent where the plugin throws, and the client is told in its own dialect', async () => {
    const before = service.provider.requests.length + other.requests.length
    const veto = await chat('veto')
    assert.deepEqual([veto.status, errorOf(veto).message], [404, 'This model has no key today.'])
    for (const model of ['plain', 'text', 'length', 'inject']) {
      const answer = await chat(model)
      assert.deepEqual([answer.status, errorOf(answer).code], [500, 'INTERNAL'], model)
      assert.doesNotMatch(answer.text, /inner text/)
      const counted = await service.request('POST', '/v1/messages/count_tokens', { model, messages: [] })
      assert.deepEqual([counted.status, errorOf(counted).type], [500, 'api_error'], model)
      assert.doesNotMatch(counted.text, /inner text/)
    }
    assert.equal(service.provider.requests.length + other.requests.length, before)
    const log = service.gateway.logText()
    assert.match(log, /"fault":"outbound:signer".*an inner text/)
    assert.match(log, /"fault":"outbound:signer".*\\"content-length\\" frames the message/)
    assert.match(log, /"fault":"outbound:signer".*Invalid character in header content/)
  })
  it('are given up where the plugin never ends', { timeout: 60_000 }, async () => {
    const answer = await chat('never')
    assert.deepEqual([answer.status, errorOf(answer).code], [500, 'INTERNAL'])
    assert.match(service.gateway.logText(), /"fault":"outbound:signer"/)
  })
  it('are those of blocks and errors of our own', async () => {
    const missing = await service.request('POST', '/v1/chat/completions', '{"model":')
    assert.deepEqual([missing.status, missing.headers.get('x-seen')], [400, '400 none'])
    const locked = await service.request('POST', '/v1/messages', {}, { authorization: 'Bearer wrong' })
    assert.deepEqual([locked.status, locked.headers.get('x-seen')], [401, '401 none'])
    const nothing = await service.request('GET', '/v1/nothing')
    assert.deepEqual([nothing.status, nothing.headers.get('x-seen')], [404, '404 none'])
    await service.policy({ mode: 'enforce', rules: [{ rule_type: 'max_requests', threshold: 1 }] }, 'blocked')
    const headers = { 'x-guard-session-id': 'one', 'x-guard-project-id': 'blocked' }
    const ask = (content: string) =>
      service.request('POST', '/v1/chat/completions', { model: 'm-1', messages: [{ role: 'user', content }] }, headers)
    await ask('a')
    await ask('b')
    const blocked = await ask('c')
    assert.deepEqual([blocked.status, blocked.headers.get('x-seen')], [429, '429 m-1'])
  })
  it('reach the client whatever the plugin does to them', async () => {
    for (const model of ['reply-throws', 'reply-injects', 'reply-frames']) {
      const answer = await chat(model)
      assert.deepEqual([answer.status, answer.headers.get('x-seen')], [200, `200 ${model}`], model)
      assert.equal(answer.headers.get('x-evil'), null)
      assert.ok(answer.json !== undefined)
    }
    assert.match(service.gateway.logText(), /"fault":"reply:signer"/)
  })
})
