import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { RunSummary } from '#lib/trace-file'
import { pairs, resourceSpans, span, spanId } from '../../kit/otlp-data.ts'
import { type FakeProvider, fakeProvider } from '../../kit/provider.ts'
import { type Receiver, startReceiver } from './kit.ts'

let traces = 0
const newTrace = (): string => (++traces).toString(16).padStart(32, 'b')
const SHOP = { 'x-guard-project-id': 'shop' }

describe('the project of a run with several writers', () => {
  let provider: FakeProvider
  let receiver: Receiver
  before(async () => {
    provider = await fakeProvider()
    receiver = await startReceiver({ upstream: provider.url })
  })
  after(async () => {
    await receiver.started.close()
    await provider.close()
  })

  const call = async (trace: string, headers: Readonly<Record<string, string>> = {}): Promise<string> => {
    const traceparent = `00-${trace}-${spanId}-01`
    const body = { model: 'gpt-5.4', messages: [{ role: 'user', content: `hello ${trace}` }] }
    const answer = await receiver.started.request('POST', '/v1/chat/completions', body, { traceparent, ...headers })
    assert.equal(answer.status, 200, answer.text)
    return answer.headers.get('x-guard-trace-id') ?? ''
  }
  const report = (trace: string, headers: Readonly<Record<string, string>> = {}, over: object = {}) =>
    receiver.taken(resourceSpans([span({ traceId: trace, ...over })], { 'service.name': 'agent' }), headers)
  const told = async (trace: string) => {
    const { run, spans } = await receiver.run(trace)
    return [run.project_id, spans.filter(({ name }) => name !== 'agent.run').map(({ name }) => name)]
  }
  const listed = async (query: string): Promise<readonly string[]> => {
    const { json } = await receiver.started.request('GET', `/api/v1/runs?${query}`)
    return (json as { readonly runs: readonly RunSummary[] }).runs.map(({ trace_id }) => trace_id)
  }

  it('is the exporter’s if the call named none', async () => {
    const trace = newTrace()
    await call(trace, { 'x-guard-session-id': 'talk' })
    assert.equal((await told(trace))[0], 'default')
    assert.deepEqual(await report(trace, SHOP), {})
    assert.deepEqual(await told(trace), ['shop', ['op', 'gen_ai.request']])
    // later calls go on in it, with traceparent or by their session
    assert.equal(await call(trace, { 'x-guard-session-id': 'talk' }), trace)
    assert.deepEqual(
      [(await listed('project_id=shop')).includes(trace), (await listed('q=shop')).includes(trace)],
      [true, true],
    )
  })

  it('stays if a later call names none', async () => {
    const trace = newTrace()
    await report(trace, SHOP)
    assert.equal(await call(trace), trace)
    assert.deepEqual(await told(trace), ['shop', ['op', 'gen_ai.request']])
  })

  it('is the call’s if only a service name suggested another', async () => {
    const trace = newTrace()
    await report(trace)
    assert.equal((await told(trace))[0], 'agent')
    assert.equal(await call(trace, SHOP), trace)
    assert.deepEqual(await told(trace), ['shop', ['op', 'gen_ai.request']])
  })

  it('is the integration’s', async () => {
    const trace = newTrace()
    await call(trace)
    const post = (project_id: string) =>
      receiver.started.request('POST', '/api/v1/traces', { trace_id: trace, project_id, spans: [{ name: 'mine' }] })
    assert.equal((await post('shop')).status, 200)
    assert.equal((await told(trace))[0], 'shop')
    assert.equal((await post('other')).status, 409)
  })

  it('stays default if a writer named it so', async () => {
    const trace = newTrace()
    await call(trace, { 'x-guard-project-id': 'default' })
    await report(trace, SHOP)
    assert.equal((await told(trace))[0], 'default')
  })

  it('stays the first of two, and the other becomes a note', async () => {
    const trace = newTrace()
    await report(trace, SHOP)
    const events = [{ name: 'tick', attributes: pairs({ a: 'b' }) }]
    const { partialSuccess } = (await report(
      trace,
      { 'x-guard-project-id': 'other' },
      { spanId: 'b'.repeat(16), name: 'theirs', events },
    )) as { readonly partialSuccess: { readonly rejectedSpans: string; readonly errorMessage: string } }
    assert.equal(partialSuccess.rejectedSpans, '0')
    assert.match(partialSuccess.errorMessage, /another project than "other".*stored there/)
    const { run, spans } = await receiver.run(trace)
    assert.equal(run.project_id, 'shop')
    const theirs = spans.find(({ name }) => name === 'theirs')
    assert.deepEqual([theirs?.attributes['guard.declared_project_id'], theirs?.events.length], ['other', 1])
  })

  it('can still be replaced after a restart if it was inferred', async () => {
    const first = await startReceiver({ backend: 'sqlite' })
    const trace = newTrace()
    await first.taken(resourceSpans([span({ traceId: trace })], { 'service.name': 'agent' }))
    await first.taken(resourceSpans([span({ traceId: trace, spanId: 'c'.repeat(16) })]), SHOP)
    assert.equal((await first.run(trace)).run.project_id, 'shop')
    await first.started.close()
  })
})
