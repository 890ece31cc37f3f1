import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import { type Dialect, dialects } from '../kit/dialogue.ts'
import type { Answer } from '../kit/gateway.ts'
import { rawHttp } from '../kit/raw-http.ts'
import { errorOf, type Service, startService } from '../kit/service.ts'

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)

describe('what nobody should send', () => {
  let service: Service
  before(async () => {
    service = await startService({
      config: 'server: { body_limit_bytes: 4096 }\nsessions: { idle_timeout_minutes: 5 }',
    })
  })
  after(() => service[Symbol.asyncDispose]())
  afterEach(async () => {
    const health = await service.request('GET', '/api/health')
    assert.deepEqual([health.status, (health.json as { status: string }).status], [200, 'ok'])
  })

  const rows = async (): Promise<number> =>
    (await service.gateway.gateway.storage.find('calls', { limit: 500 })).rows.length
  const sessionCount = async (): Promise<number> =>
    (await service.gateway.gateway.storage.find('sessions', { limit: 500 })).rows.length

  /** The error has the form of the path's style, an id, and nothing was forwarded, recorded or opened. */
  const isRefused = async (dialect: Dialect, send: () => Promise<Answer>, status: number, code: string) => {
    const before = [await rows(), await sessionCount(), service.provider.requests.length]
    const answer = await send()
    assert.deepEqual([answer.status, errorOf(answer).code], [status, code], answer.text)
    assert.match(answer.headers.get('x-guard-request-id') ?? '', /^guardreq_/)
    assert.equal(answer.headers.get('content-type'), 'application/json')
    const body = answer.json as { readonly type?: string; readonly request_id?: string }
    if (dialect.style === 'messages') {
      assert.deepEqual([body.type, body.request_id], ['error', answer.headers.get('x-guard-request-id')])
    } else assert.equal(errorOf(answer).param, null)
    assert.deepEqual([await rows(), await sessionCount(), service.provider.requests.length], before)
  }

  for (const dialect of dialects) {
    const good = (): object => dialect.body([{ user: 'hi' }])
    const post =
      (body: unknown, headers: Record<string, string> = {}) =>
      () =>
        service.request('POST', dialect.path, body, headers)
    const list = dialect.style === 'responses' ? 'input' : 'messages'
    const cases: readonly (readonly [string, () => Promise<Answer>, number, string])[] = [
      ['no key', post({}, { authorization: '' }), 401, 'UNAUTHORIZED'],
      ['a wrong key', post({}, { authorization: 'Bearer guard_wrong' }), 401, 'UNAUTHORIZED'],
      ['a key of another scheme', post({}, { authorization: 'Basic Z3VhcmQ6a2V5' }), 401, 'UNAUTHORIZED'],
      ['another content type', post('a=b', { 'content-type': 'text/plain' }), 415, 'UNSUPPORTED_MEDIA_TYPE'],
      ['an unknown coding', post('{}', { 'content-encoding': 'lzma' }), 415, 'UNSUPPORTED_ENCODING'],
      ['broken JSON', post(`{"model": "m-1", "${list}": [`), 400, 'INVALID_BODY'],
      ['no JSON at all', post('hello'), 400, 'INVALID_BODY'],
      ['no body', post(undefined, { 'content-type': 'application/json' }), 400, 'INVALID_BODY'],
      ['a list', post('[]'), 400, 'INVALID_BODY'],
      ['a doubled member', post(`{"model":"m-1","model":"m-2","${list}":[]}`), 400, 'INVALID_BODY'],
      ['deep JSON', post(`{"model":"m-1","${list}":${nested(600)}}`), 400, 'INVALID_BODY'],
      ['a body over the limit', post({ model: 'm-1', [list]: 'x'.repeat(5000) }), 413, 'BODY_TOO_LARGE'],
      ['a session id with a tab', post(good(), { 'x-guard-session-id': 'a\tb' }), 400, 'INVALID_HEADER'],
      ['a session id without end', post(good(), { 'x-client-session-id': 'x'.repeat(513) }), 400, 'INVALID_HEADER'],
      ['a project that is a path', post(good(), { 'x-guard-project-id': '../../etc' }), 400, 'INVALID_HEADER'],
      ['an agent that is markup', post(good(), { 'x-guard-agent-id': '<script>' }), 400, 'INVALID_HEADER'],
    ]
    for (const [what, send, status, code] of cases)
      it(`${dialect.style}: ${what} is ${status} ${code}`, () => isRefused(dialect, send, status, code))
  }

  it('a wrong key is not repeated, and says where a key goes', async () => {
    const answer = await service.request('POST', '/v1/responses', {}, { authorization: 'Bearer guard_wrong_9a7' })
    assert.match(answer.headers.get('www-authenticate') ?? '', /^Bearer/)
    assert.doesNotMatch(answer.text, /9a7/)
    assert.match(String(errorOf(answer).message), /Authorization.*x-api-key/)
  })

  it('a thousand wrong keys lock nobody out', async () => {
    const wrong = (n: number) => service.request('POST', '/v1/responses', {}, { authorization: `Bearer wrong_${n}` })
    for (let from = 0; from < 1000; from += 50) {
      const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => wrong(from + n)))
      assert.ok(answers.every(({ status }) => status === 401))
    }
    assert.equal((await service.request('POST', '/v1/responses', { model: 'm-1', input: 'hi' })).status, 200)
  })

  for (const id of [
    '__proto__',
    'constructor',
    "'; drop table sessions; --",
    '%00',
    '../../../etc/passwd',
    'ses_',
    'a'.repeat(512),
  ])
    it(`a session may call itself ${id.slice(0, 30)}: it is a name and nothing else`, async () => {
      const answer = await service.request(
        'POST',
        '/v1/responses',
        { model: 'm-1', input: `hi ${id}` },
        { 'x-guard-session-id': id.replaceAll(' ', '_') },
      )
      assert.equal(answer.status, 200, answer.text)
      const session = await service.session(answer.headers.get('x-guard-session-id') ?? '')
      assert.match(session.id, /^ses_[a-z2-7]{24}$/)
      assert.equal(session.external_id, id.replaceAll(' ', '_'))
      assert.equal((await service.session(id.replaceAll(' ', '_'))).id, session.id)
    })

  it('a body with __proto__ changes nothing but itself', async () => {
    const body = '{"model":"m-1","input":"hi","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'
    assert.equal((await service.request('POST', '/v1/responses', body)).status, 200)
    assert.equal(service.provider.last.body.toString(), body)
    assert.equal(Reflect.get({}, 'polluted'), undefined)
  })

  it('one id in two projects is two sessions', async () => {
    const session = async (project: string) =>
      (
        await service.request(
          'POST',
          '/v1/responses',
          { model: 'm-1', input: 'hi' },
          {
            'x-guard-session-id': 'shared-name',
            'x-guard-project-id': project,
          },
        )
      ).headers.get('x-guard-session-id')
    assert.notEqual(await session('one'), await session('two'))
    const ambiguous = await service.request('GET', '/api/sessions/shared-name')
    assert.deepEqual([ambiguous.status, errorOf(ambiguous).code], [409, 'AMBIGUOUS_ID'])
  })

  it('bytes that are no HTTP end the connection with an answer at most', async () => {
    const port = Number(new URL(service.gateway.url).port)
    for (const bytes of [
      '\0\0\0\0\r\n\r\n',
      'GET\r\n\r\n',
      'POST /v1/responses HTTP/1.1\r\nhost: x\r\nhost: y\r\nconnection: close\r\n\r\n',
    ]) {
      const { status } = await rawHttp(port, bytes)
      assert.ok(status === 400 || status === 403, String(status))
    }
  })
})

describe('a request that no upstream can serve', () => {
  it('lists what there is, and is no call to the provider', async () => {
    await using service = await startService({ upstream: 'http://127.0.0.1:9', config: '' })
    const answer = await service.request('POST', '/v1/responses', { model: 'm-1', input: 'hi' })
    assert.deepEqual([answer.status, errorOf(answer).code], [502, 'UPSTREAM_UNREACHABLE'])
    const [event] = await service.events(answer.headers.get('x-guard-session-id') ?? '')
    assert.equal(event?.attributes.outcome, 'unreachable')
    assert.equal(answer.headers.get('x-guard-decision'), 'allow')
  })
})
