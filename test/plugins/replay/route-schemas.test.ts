import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Ajv } from 'ajv'
import type { FastifySchema, RouteOptions } from 'fastify'
import type { Plugin } from 'guard-gateway/core'
import { chatCompletions } from 'guard-gateway/plugins/api-styles/chat-completions'
import { exactRepeat } from 'guard-gateway/plugins/detectors/exact-repeat'
import { otlp } from 'guard-gateway/plugins/otlp'
import { playground } from 'guard-gateway/plugins/playground'
import { policy } from 'guard-gateway/plugins/policy'
import { type Bench, startReplay } from './kit.ts'

interface Described extends FastifySchema {
  readonly summary?: string
  readonly tags?: readonly string[]
  readonly hide?: boolean
}

const routes: RouteOptions[] = []
const watching: Plugin = {
  name: 'watching',
  apply: (gateway) =>
    gateway.hooks.http.tap(
      { name: 'watching', stage: -100 },
      (app) => void app.addHook('onRoute', (route) => void routes.push(route)),
    ),
}
const schemaOf = ({ schema }: RouteOptions): Described => schema ?? {}
const ajv = new Ajv({ strict: false, formats: { 'date-time': true, binary: true } })

describe('the API below /api/v1', () => {
  let bench: Bench
  before(async () => {
    bench = await startReplay({ plugins: [watching, otlp(), exactRepeat, chatCompletions, policy(), playground()] })
  })
  after(() => bench.close())

  const shown = (): RouteOptions[] =>
    routes.filter(
      (route) =>
        /^\/(api\/v1|v1\/traces)/.test(route.url) && schemaOf(route).hide !== true && String(route.method) !== 'HEAD',
    )
  const routeOf = (method: string, url: string): RouteOptions => {
    const found = routes.find((route) => route.url === url && String(route.method) === method)
    assert.ok(found, `${method} ${url}`)
    return found
  }
  /** Sends a request and validates the response by the schema of its route. */
  const fits = async (method: 'GET' | 'POST' | 'PATCH', url: string, path: string, body?: unknown): Promise<object> => {
    const { status, text } = await bench.send(method, path, body)
    const { response } = schemaOf(routeOf(method, url)) as { response: Readonly<Record<number, object>> }
    const schema = response[status]
    assert.ok(schema, `${method} ${url} answers ${status}, which it does not describe: ${text}`)
    const json = 'content' in schema ? undefined : schema
    const answer = JSON.parse(text) as object
    if (json !== undefined) assert.ok(ajv.validate(json, answer), `${method} ${url}: ${ajv.errorsText()}`)
    if (json !== undefined && 'properties' in json)
      for (const name of Object.keys(answer))
        assert.ok(Object.hasOwn(json.properties as object, name), `${method} ${url} does not describe ${name}`)
    return answer
  }

  it('describes the purpose, parameters and responses of every route', () => {
    assert.ok(shown().length >= 18, String(shown().length))
    for (const route of shown()) {
      const name = `${route.method} ${route.url}`
      const { summary, tags, response, params, body } = schemaOf(route)
      assert.ok(summary, name)
      assert.ok(tags?.length, name)
      assert.ok(
        Object.keys(response ?? {}).some((status) => status.startsWith('2')),
        `${name} describes no answer`,
      )
      if (route.url.includes(':')) assert.ok(params, `${name} describes no parameter`)
      if (route.method === 'POST' || route.method === 'PATCH') assert.ok(body, `${name} describes no body`)
    }
  })

  it('responds as described', async () => {
    const trace = {
      trace_id: 'one',
      status: 'ok',
      start_ns: 1,
      spans: [
        { id: 'a', name: 'tool.call', attributes: { 'gen_ai.tool.name': 'read' }, events: [{ name: 'tool.result' }] },
        { id: 'b', name: 'gen_ai.request', spans: [{ name: 'inner', end_ns: '1790000000000000001' }] },
      ],
      artifacts: [{ path: 'a.txt', size: 3 }],
    }
    await fits('POST', '/api/v1/traces', '/api/v1/traces', trace)
    await fits('POST', '/api/v1/traces', '/api/v1/traces', { ...trace, name: 'again' })
    await fits('POST', '/api/v1/spans', '/api/v1/spans', { trace_id: 'two', name: 'step' })
    const events = [{ trace_id: 'two', name: 'note' }, { name: 'nowhere' }]
    await fits('POST', '/api/v1/events/batch', '/api/v1/events/batch', { events })
    await fits('GET', '/api/v1/runs', '/api/v1/runs?limit=1')
    const bundle = await fits('GET', '/api/v1/runs/:trace_id', '/api/v1/runs/one')
    await fits('GET', '/api/v1/runs/:trace_id/rows', '/api/v1/runs/one/rows')
    await fits('POST', '/api/v1/runs/:trace_id/pin', '/api/v1/runs/one/pin')
    await fits('PATCH', '/api/v1/runs/:trace_id', '/api/v1/runs/one', { name: 'first', tags: ['a'] })
    await fits('POST', '/api/v1/compare', '/api/v1/compare', { left: 'one', right: 'two' })
    await fits('POST', '/api/v1/runs/import', '/api/v1/runs/import', bundle)
    await fits('POST', '/api/v1/runs/import', '/api/v1/runs/import?on_conflict=skip', bundle)
    await fits('GET', '/api/v1/retention', '/api/v1/retention')
    await fits('GET', '/api/v1/playground/scenarios', '/api/v1/playground/scenarios')
    await fits('GET', '/api/v1/playground/runs', '/api/v1/playground/runs')
  })

  it('accepts the described values, and rejects others with a code and a pointer', async () => {
    const samples: readonly [method: 'POST' | 'PATCH', url: string, path: string, good: unknown, bad: unknown][] = [
      ['POST', '/api/v1/traces', '/api/v1/traces', {}, { spans: [{ name: '' }] }],
      ['POST', '/api/v1/traces', '/api/v1/traces', { start_ns: '1790000000000000001' }, { start_ns: 'noon' }],
      ['POST', '/api/v1/traces', '/api/v1/traces', { failure_tag: 'loop' }, { failure_tag: 'sad' }],
      ['POST', '/api/v1/spans', '/api/v1/spans', { name: 'x' }, { name: 'x', attributes: 'none' }],
      [
        'POST',
        '/api/v1/events/batch',
        '/api/v1/events/batch',
        [{ trace_id: 'e', name: 'x' }],
        { trace_id: 'e', events: 'x' },
      ],
      ['POST', '/api/v1/runs/:trace_id/pin', '/api/v1/runs/e/pin', { pinned: false }, { pinned: 'no' }],
      ['PATCH', '/api/v1/runs/:trace_id', '/api/v1/runs/e', { tags: ['x'] }, { origin: 'api' }],
      ['POST', '/api/v1/compare', '/api/v1/compare', { trace_ids: ['e', 'e'] }, { left: 'e' }],
    ]
    for (const [method, url, path, good, bad] of samples) {
      const { body } = schemaOf(routeOf(method, url))
      assert.ok(ajv.validate(body as object, good), `${url} does not describe ${JSON.stringify(good)}`)
      assert.ok(!ajv.validate(body as object, bad), `${url} describes ${JSON.stringify(bad)}`)
      const taken = await bench.send(method, path, good)
      assert.ok(taken.status < 300, taken.text)
      const { status, body: answer } = await bench.send(method, path, bad)
      const { error } = answer as { error: { type: string; code: string; message: string; path: string } }
      assert.deepEqual([status, error.type, typeof error.path], [400, 'invalid_request_error', 'string'], url)
      assert.match(error.code, /^INVALID_/)
    }
  })

  it('points to an unknown member of a playground run', async () => {
    const { status, body } = await bench.send('POST', '/api/v1/playground/runs', { scenario: 'exact-loop', speed: 1 })
    const { error } = body as { error: { code: string; path: string; known: readonly string[] } }
    assert.deepEqual([status, error.code, error.path], [400, 'INVALID_REQUEST', '/speed'])
    assert.ok(error.known.includes('scenario'))
  })
})
