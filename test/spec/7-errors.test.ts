import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Dialect, dialects } from '../kit/dialogue.ts'
import { type Service, startService } from '../kit/service.ts'

const session = { 'x-guard-session-id': 'one' }
const text = 'Guard blocked this request: '

/** The third of three equal requests. */
const third = async (service: Service, dialect: Dialect, headers: Record<string, string> = {}, more: object = {}) => {
  for (let n = 0; n < 2; n++) await service.send(dialect, [{ user: 'same' }], { ...session, ...headers }, more)
  return service.send(dialect, [{ user: 'same' }], { ...session, ...headers }, more)
}

for (const dialect of dialects)
  describe(`7 errors, style ${dialect.style}`, () => {
    const isMessages = dialect.style === 'messages'

    for (const stream of [false, true])
      it(`an enforced rule answers 429 with the local body, ${stream ? 'also to a request for a stream' : 'whole'}`, async () => {
        await using service = await startService({ config: 'default_mode: enforce' })
        const { status, headers, json } = await third(service, dialect, {}, { stream })
        const id = headers.get('x-guard-request-id')
        const body = json as { readonly error: { readonly message: string } }
        const error = {
          type: 'guard_block',
          code: 'LOOP_EXACT',
          message: body.error.message,
          session_id: headers.get('x-guard-session-id'),
          rule_id: 'exact_repeat',
        }
        assert.equal(status, 429)
        assert.deepEqual(
          json,
          isMessages ? { type: 'error', error, request_id: id } : { error: { ...error, param: null } },
        )
        assert.ok(body.error.message.startsWith(text) && body.error.message.length <= 300)
        assert.deepEqual(
          [
            'content-type',
            'x-should-retry',
            'retry-after',
            'x-request-id',
            'request-id',
            'x-guard-decision',
            'x-guard-reason',
          ].map((name) => headers.get(name)),
          ['application/json', 'false', null, id, id, 'block', 'LOOP_EXACT'],
        )
      })
    it('a paused session answers 409 with the local body', async () => {
      await using service = await startService()
      await service.send(dialect, [{ user: 'hi' }], session)
      await service.request('POST', '/api/sessions/one/pause')
      const { status, headers, json } = await service.send(dialect, [{ user: 'more' }], session)
      const { error } = json as { readonly error: Readonly<Record<string, unknown>> }
      assert.deepEqual(
        [status, error.type, error.code, error.rule_id, error.session_id],
        [409, 'guard_block', 'PAUSED_SESSION', '', headers.get('x-guard-session-id')],
      )
      assert.equal(headers.get('x-guard-reason'), 'PAUSED_SESSION')
    })
    it("an upstream error passes in the provider's format and counts for error_retry", async () => {
      await using service = await startService()
      const body = '{"type":"error","error":{"type":"api_error","message":"Number 4711 broke"}}'
      for (let n = 0; n < 5; n++) {
        service.provider.script({ status: 503, body: body.replace('4711', String(n)) })
        const answer = await service.send(dialect, [{ user: `${n}` }], session)
        assert.deepEqual([answer.status, answer.text], [503, body.replace('4711', String(n))])
        assert.equal(answer.headers.get('x-guard-decision'), 'allow')
      }
      const next = await service.send(dialect, [{ user: 'next' }], session)
      assert.equal(next.headers.get('x-guard-reason'), 'LOOP_ERROR_RETRY')
    })
    it('server.block_status_override changes the status for the clients it names, and nothing else', async () => {
      const config = 'default_mode: enforce\nserver: { block_status_override: { "stubborn/*": 403 } }'
      await using service = await startService({ config })
      const { status, json } = await third(service, dialect, { 'user-agent': 'stubborn/1.0' })
      assert.equal(status, 403)
      assert.equal((json as { error: { code: string } }).error.code, 'LOOP_EXACT')
    })
    it('an upstream that does not answer is 504, one that cannot be reached 502, in the style of the path', async () => {
      await using service = await startService()
      service.provider.script({ reset: true })
      const answer = await service.send(dialect, [{ user: 'hi' }], session)
      const { error, type } = answer.json as { type?: string; error: { code: string; type: string } }
      assert.deepEqual([answer.status, error.code, error.type], [502, 'UPSTREAM_UNREACHABLE', 'api_error'])
      assert.equal(type, isMessages ? 'error' : undefined)
      await using slow = await startService({
        upstreams: (url) =>
          `[{ name: slow, base_url: "${url}", styles: [${dialect.style}], timeouts: { headers_ms: 60 } }]`,
      })
      slow.provider.script({ silent: true })
      const late = await slow.send(dialect, [{ user: 'hi' }], session)
      assert.equal(late.status, 504)
      assert.equal((late.json as { error: { code: string } }).error.code, 'UPSTREAM_TIMEOUT')
      const event = (await slow.events('one')).at(-1)
      assert.equal(event?.attributes.outcome, 'unreachable')
    })
    it('a model that no upstream serves is 404 and names what there is', async () => {
      await using service = await startService({
        upstreams: (url) => `[{ name: picky, base_url: "${url}", styles: [${dialect.style}], models: ["only-*"] }]`,
      })
      const answer = await service.send(dialect, [{ user: 'hi' }])
      const { error } = answer.json as { error: { code: string; message: string } }
      assert.deepEqual([answer.status, error.code], [404, 'NO_UPSTREAM'])
      assert.match(error.message, /only-\*/)
    })
  })
