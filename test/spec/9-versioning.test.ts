import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { assertsSchema } from '../kit/schemas.ts'
import { type Service, startService } from '../kit/service.ts'

describe('9 versioning', () => {
  let service: Service
  before(async () => {
    service = await startService()
  })
  after(() => service[Symbol.asyncDispose]())

  it('9.1 is before 1.0, and health tells the version of the package', async () => {
    const { version } = JSON.parse(
      readFileSync(new URL(import.meta.resolve('guard-gateway/package.json')), 'utf8'),
    ) as {
      version: string
    }
    assert.match(version, /^0\./)
    const { json } = await service.request('GET', '/api/health')
    assert.equal((json as { version: string }).version, version)
  })
  it('9.2 events name the schema event.v1', async () => {
    await service.request('POST', '/v1/responses', { model: 'm-1', input: 'hi' }, { 'x-guard-session-id': 'one' })
    const { json } = await service.request('GET', '/api/sessions/one/events')
    assert.deepEqual(
      (json as { events: { schema: string }[] }).events.map(({ schema }) => schema),
      ['event.v1'],
    )
  })
  it('9.3 model paths are under /v1, administration under /api', async () => {
    for (const path of ['/v1/responses', '/v1/chat/completions', '/v1/messages'])
      assert.equal((await service.request('GET', path)).headers.get('allow'), 'POST')
    // beside it stand pages for people alone
    assert.match((await service.request('GET', '/agents')).headers.get('content-type') ?? '', /^text\/html/)
    assert.equal((await service.request('POST', '/agents', { id: 'x' })).status, 405)
    assert.equal((await service.request('GET', '/api/sessions')).status, 200)
  })
  it('9.2 exports are trace.v1, lines with a type, and resourceSpans', async () => {
    const sent = { trace_id: 'kept', spans: [{ name: 'tool.call' }] }
    assert.equal((await service.request('POST', '/api/v1/traces', sent)).status, 201)
    const exported = async (format: string): Promise<string> =>
      (await service.request('GET', `/api/v1/runs/kept/export?format=${format}`)).text
    assertsSchema('trace')(JSON.parse(await exported('json')))
    for (const line of (await exported('jsonl')).trimEnd().split('\n')) assertsSchema('jsonl')(JSON.parse(line))
    assert.ok(Array.isArray((JSON.parse(await exported('otel')) as { resourceSpans: unknown }).resourceSpans))
  })
  it('9.3 Replay is under /api/v1', async () => {
    assert.equal((await service.request('GET', '/api/v1/runs')).status, 200)
    for (const path of ['/runs', '/api/runs', '/v1/runs'])
      assert.equal((await service.request('GET', path)).status, 404, path)
  })
  it('9.5 provider-version makes GET /v1/models answer in the Messages form', async () => {
    service.provider.script({
      body: JSON.stringify({ data: [{ type: 'model', id: 'm-1' }], has_more: false, first_id: 'm-1', last_id: 'm-1' }),
    })
    const { json } = await service.request('GET', '/v1/models', undefined, { 'provider-version': '2023-06-01' })
    assert.equal((json as { has_more: boolean }).has_more, false)
    const { headers } = service.provider.last
    assert.ok(headers.includes('2023-06-01'))
  })
})
