import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { TreeSpan } from '#lib/trace'
import type { RunSummary } from '#lib/trace-file'
import { startChildGateway } from '../../kit/child-gateway.ts'
import { dialectOf } from '../../kit/dialogue.ts'
import { type Started, startGateway } from '../../kit/gateway.ts'
import { fakeProvider } from '../../kit/provider.ts'
import { startService } from '../../kit/service.ts'
import { rested, type SentSpan, spansIn, until } from './kit.ts'

interface Shown {
  readonly run: RunSummary
  readonly spans: readonly TreeSpan[]
}

const chat = dialectOf('chat_completions')
const to = (url: string, more = '') => `replay: { otlp_export: [{ url: "${url}" ${more} }] }`
const many = { spans: Array.from({ length: 512 }, (_, n) => ({ name: `s${n}` })) }
const shown = async (gateway: Started, trace_id: string): Promise<Shown> => {
  const { status, text, json } = await gateway.request('GET', `/api/v1/runs/${trace_id}`)
  assert.equal(status, 200, text)
  return json as Shown
}
/** Plays a scenario to its end. */
const played = async ({ request }: Pick<Started, 'request'>, scenario: string): Promise<void> => {
  const { status, text, json } = await request('POST', '/api/v1/playground/runs', { scenario, mode: 'enforce' })
  assert.equal(status, 202, text)
  let run = json as { readonly id: string; readonly status: string }
  while (run.status === 'queued' || run.status === 'running')
    run = (await request('GET', `/api/v1/playground/runs/${run.id}`)).json as typeof run
  assert.equal(run.status, 'completed')
}
const told = ({ run, spans }: Shown) => ({
  run: { status: run.status, tokens: run.total_tokens, project: run.project_id, agent: run.agent_name },
  spans: spans.map(({ id, name, kind, depth, status, start_ns, end_ns, attributes, events }) => ({
    ...{ id, name, kind, depth, status, start_ns, end_ns, attributes },
    events: events.map((event) => ({ name: event.name, attributes: event.attributes })),
  })),
})

describe('a gateway that exports spans to another', () => {
  it('shows the same runs in both, without content', async () => {
    const other = await startGateway()
    const headers = `, headers: { authorization: "Bearer ${other.key}" }`
    const service = await startService({ backend: 'sqlite', config: to(`${other.url}/v1/traces`, headers) })
    const { gateway } = service
    const secret = 'the-word-nobody-may-see'
    const answer = await service.send(chat, [{ user: secret }], { 'x-guard-session-id': 'window' })
    const calls = String(answer.headers.get('x-guard-trace-id'))
    const spans = [{ id: 'a', name: 'tool.call', attributes: { n: 1 }, events: [{ name: 'retry' }] }]
    const { json } = await gateway.request('POST', '/api/v1/traces', { agent_name: 'planner', spans })
    const { trace_id } = json as { readonly trace_id: string }
    const before = [await shown(gateway, calls), await shown(gateway, trace_id)].map(told)
    await service[Symbol.asyncDispose]()
    const { text } = await other.request('GET', '/api/v1/runs')
    const ids = (JSON.parse(text) as { runs: { trace_id: string }[] }).runs.map((run) => run.trace_id)
    assert.deepEqual([...ids].sort(), [calls, trace_id].sort())
    assert.deepEqual([await shown(other, calls), await shown(other, trace_id)].map(told), before)
    for (const id of ids) assert.ok(!(await other.request('GET', `/api/v1/runs/${id}/export`)).text.includes(secret))
    await other.close()
  })

  it('exports each span of model requests and tool calls once', async () => {
    await using receiver = await fakeProvider()
    const service = await startService({ config: to(receiver.url) })
    const kept: unknown[] = []
    try {
      for (const scenario of ['exact-loop', 'mcp-allow', 'mcp-rate-limit', 'mcp-confirm', 'mcp-deny', 'three-styles'])
        await played(service.gateway, scenario)
      const { json } = await service.request('GET', '/api/v1/runs?limit=200')
      for (const { trace_id } of (json as { readonly runs: readonly RunSummary[] }).runs) {
        const { text } = await service.request('GET', `/api/v1/runs/${trace_id}/export?format=otel`)
        kept.push(...JSON.parse(text).resourceSpans[0].scopeSpans[0].spans)
      }
    } finally {
      await service[Symbol.asyncDispose]()
    }
    const sent = receiver.requests.flatMap(spansIn)
    const byId = (spans: readonly unknown[]) =>
      (spans as readonly SentSpan[]).toSorted((a, b) => (a.traceId + a.spanId < b.traceId + b.spanId ? -1 : 1))
    assert.ok(kept.length > 20, String(kept.length))
    assert.deepEqual(byId(sent), byId(kept))
  })

  it('reports counts in health and metrics', async () => {
    await using receiver = await fakeProvider()
    await using service = await startService({ config: to(`${receiver.url}/v1/traces?key=hidden`) })
    receiver.script({ body: '{"partialSuccess":{"rejectedSpans":"12","errorMessage":"too old"}}' })
    await service.request('POST', '/api/v1/traces', many)
    await receiver.next()
    const section = async () => {
      const { json } = await service.request('GET', '/api/health')
      return (json as { readonly otlp_push: { readonly queued: number; readonly receivers: readonly Counted[] } })
        .otlp_push
    }
    interface Counted {
      readonly url: string
      readonly sent: number
      readonly last_error: { readonly message: string } | null
    }
    let health = await section()
    while (health.receivers[0]?.sent !== 500) health = await section()
    const url = `${receiver.url}/v1/traces`
    assert.deepEqual(
      health.receivers.map((one) => ({ ...one, last_error: one.last_error?.message })),
      [
        {
          url,
          ...{ queued: 0, sending: 0, sent: 500, dropped: 0, failed: 12 },
          last_error: `${url}: It took 500 of 512 spans: too old.`,
        },
      ],
    )
    const { text } = await service.request('GET', '/metrics')
    for (const [outcome, count] of Object.entries({ sent: 500, dropped: 0, failed: 12 }))
      assert.ok(text.includes(`guard_otlp_spans_total{receiver="${url}",outcome="${outcome}"} ${count}\n`), text)
    assert.match(text, /# TYPE guard_otlp_spans_total counter/)
    assert.ok(text.includes('guard_fill{part="otlp_push",what="queued"} 0'))
  })

  it('answers requests while a receiver hangs', async () => {
    await using receiver = await fakeProvider()
    receiver.script(...Array.from({ length: 9 }, () => ({ silent: true })))
    await using service = await startService({ config: to(receiver.url, ', timeout_ms: 600000') })
    await service.request('POST', '/api/v1/traces', many)
    await until(() => receiver.requests.length === 1)
    for (let n = 0; n < 20; n++) assert.equal((await service.send(chat, [{ user: `${n}` }])).status, 200)
  })

  it('redacts keys of receivers everywhere', async () => {
    await using receiver = await fakeProvider()
    receiver.script({ status: 400, body: '{"message":"no: 7c1fd0aa9be24411"}' })
    const folder = await mkdtemp(join(tmpdir(), 'guard-push-'))
    const headers = ', headers: { x-honeycomb-team: 7c1fd0aa9be24411, x-scope-orgid: shop-floor }'
    const service = await startService({ backend: 'sqlite', folder, config: to(receiver.url, headers) })
    const attributes = { said: 'it is 7c1fd0aa9be24411, at the shop-floor' }
    await service.request('POST', '/api/v1/traces', { trace_id: 'r1', spans: [{ id: 'a', name: 'a', attributes }] })
    await service.request('POST', '/api/v1/traces', many)
    await until(() => receiver.requests.length === 1)
    assert.ok(receiver.last.headers.includes('7c1fd0aa9be24411'))
    while (!(await service.request('GET', '/api/health')).text.includes('It answered 400')) await rested()
    const pages = ['/api/health', '/metrics', '/api/v1/runs/r1', '/replay', '/replay/r1', '/ui', '/openapi.json']
    for (const path of pages) {
      const { text } = await service.request('GET', path)
      assert.ok(!text.includes('7c1fd0aa9be24411'), path)
    }
    assert.match((await service.request('GET', '/api/v1/runs/r1')).text, /it is \[REDACTED:\w+\], at the shop-floor/)
    const log = service.gateway.logText()
    assert.match(log, /otlp-push/)
    assert.ok(!log.includes('7c1fd0aa9be24411'))
    await service[Symbol.asyncDispose]()
    for (const name of await readdir(folder))
      assert.ok(!(await readFile(join(folder, name))).includes('7c1fd0aa9be24411'), name)
    await rm(folder, { recursive: true, force: true })
  })

  it('loses only unsent spans when it is killed', async (test) => {
    const folder = await mkdtemp(join(tmpdir(), 'guard-push-'))
    const [provider, receiver] = [await fakeProvider(), await fakeProvider()]
    receiver.script({ silent: true })
    const start = () => startChildGateway(folder, provider.url, to(receiver.url))
    let child = await start()
    let isOver = false
    test.after(async () => {
      if (!isOver) await child.end('SIGKILL')
      await Promise.all([provider.close(), receiver.close()])
      await rm(folder, { recursive: true, force: true })
    })
    const ingest = async (body: object): Promise<void> => {
      const headers = { authorization: `Bearer ${child.key}`, 'content-type': 'application/json' }
      const { status } = await fetch(`${child.url}/api/v1/traces`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      })
      assert.equal(status, 201)
    }
    await ingest({ trace_id: 'killed', ...many })
    await until(() => receiver.requests.length === 1)
    await child.end('SIGKILL')
    child = await start()
    const { spans } = (await (await fetch(`${child.url}/api/v1/runs/killed`)).json()) as { readonly spans: unknown[] }
    assert.equal(spans.length, 513)
    await ingest({ trace_id: 'later', spans: [{ name: 'agent.run', status: 'ok' }, { name: 'x' }] })
    const ended = await child.end('SIGTERM')
    isOver = true
    assert.deepEqual(ended, [0, null])
    assert.equal(receiver.requests.length, 2)
  })
})

describe('a gateway without receivers', () => {
  it('has no taps, modules or health section', async () => {
    await using service = await startService()
    const { gateway } = service.gateway
    assert.ok(!gateway.plugins().includes('otlp-push'))
    assert.equal(gateway.health.get('otlp_push'), undefined)
    const { text } = await service.request('GET', '/metrics')
    assert.ok(!/otlp_(?:push|spans)/.test(text), text)
  })
})
