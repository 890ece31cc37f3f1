import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { pairs, resourceSpans, span, spanId } from '../../kit/otlp-data.ts'
import { type FakeProvider, fakeProvider } from '../../kit/provider.ts'
import { type Receiver, startReceiver } from './kit.ts'

let traces = 0
/** A trace id that no other test has. */
const newTrace = (): string => (++traces).toString(16).padStart(32, 'a')
const spanIds = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => (index + 1).toString(16).padStart(16, '0'))

interface Partial {
  readonly rejectedSpans: string
  readonly errorMessage: string
}
const partialOf = (answer: unknown): Partial => (answer as { readonly partialSuccess: Partial }).partialSuccess

describe('received traces', () => {
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

  /** A model request of the gateway's own in this trace. */
  const modelRequest = async (trace: string, headers: Readonly<Record<string, string>> = {}): Promise<void> => {
    const body = { model: 'gpt-5.4', messages: [{ role: 'user', content: `hello ${trace}` }] }
    const traceparent = `00-${trace}-${'e'.repeat(16)}-01`
    const path = '/v1/chat/completions'
    const { status, text } = await receiver.started.request('POST', path, body, { traceparent, ...headers })
    assert.equal(status, 200, text)
  }

  it('take their project from header, resource or service, in this order', async () => {
    const projectOf = async (resource: Record<string, unknown>, headers = {}) => {
      const trace = newTrace()
      await receiver.taken(resourceSpans([span({ traceId: trace })], resource), headers)
      return (await receiver.run(trace)).run.project_id
    }
    const both = { 'guard.project.id': 'mine', 'service.name': 'svc' }
    assert.equal(await projectOf(both, { 'x-guard-project-id': 'header' }), 'header')
    assert.equal(await projectOf(both), 'mine')
    assert.equal(await projectOf({ 'service.name': 'my service' }), 'my_service')
    assert.equal(await projectOf({}), 'default')
  })

  it('retain ids, nanoseconds, resource and scope', async () => {
    const trace = newTrace()
    const sent = span({ traceId: trace.toUpperCase(), kind: 3 })
    await receiver.taken(resourceSpans([sent], { 'service.name': 'svc', 'host.name': 'box' }, { name: 'lib' }))
    const { text } = await receiver.started.request('GET', `/api/v1/runs/${trace}`)
    assert.match(text, /"start_ns":1782000000123456789,"end_ns":1782000000123456999/)
    const { run, spans } = await receiver.run(trace)
    assert.deepEqual(run.attributes, { 'resource.service.name': 'svc', 'resource.host.name': 'box' })
    assert.equal(spans[1]?.id, spanId)
    assert.deepEqual(spans[1]?.attributes, { 'otel.scope.name': 'lib' })
  })

  it('with several trace ids become several runs', async () => {
    const ids = [newTrace(), newTrace(), newTrace()]
    assert.deepEqual(await receiver.taken(resourceSpans(ids.map((id) => span({ traceId: id })))), {})
    for (const id of ids) assert.equal((await receiver.run(id)).spans.length, 2)
  })

  it('change nothing when repeated, and continue in parts', async () => {
    const trace = newTrace()
    const attributes = pairs({ a: 'b' })
    const parent = span({ traceId: trace, name: 'outer', events: [{ name: 'tick', attributes }] })
    const child = span({ traceId: trace, spanId: 'b'.repeat(16), parentSpanId: spanId, name: 'inner' })
    await receiver.taken(resourceSpans([child]))
    await receiver.taken(resourceSpans([parent]))
    const first = await receiver.run(trace)
    assert.deepEqual(
      first.spans.map(({ name }) => name),
      ['agent.run', 'outer', 'inner'],
    )
    await receiver.taken(resourceSpans([parent, child, child]))
    assert.deepEqual(await receiver.run(trace), first)
  })

  it('use the last of two spans with one id', async () => {
    const trace = newTrace()
    const running = span({ traceId: trace, name: 'early', endTimeUnixNano: '0', events: [{ name: 'tick' }] })
    const ended = span({ traceId: trace, name: 'late', events: [{ name: 'tick' }] })
    assert.deepEqual(await receiver.taken(resourceSpans([running, ended])), {})
    const { run, spans } = await receiver.run(trace)
    assert.deepEqual([run.status, run.span_count, run.event_count, spans[1]?.name], ['ok', 2, 1, 'late'])
  })

  for (const name of ['talk', 'night talk'])
    it(`use the gateway’s session of that name: ${name}`, async () => {
      const [known, unknown] = [newTrace(), newTrace()]
      const named = (traceId: string, id: string) => span({ traceId, attributes: pairs({ 'session.id': id }) })
      await modelRequest(newTrace(), { 'x-guard-session-id': name })
      await receiver.taken(resourceSpans([named(known, name), named(unknown, 'else')]))
      const { json } = await receiver.started.request('GET', `/api/sessions/${encodeURIComponent(name)}`)
      assert.equal((await receiver.run(known)).run.session_id, (json as { session: { id: string } }).session.id)
      assert.equal((await receiver.run(unknown)).run.session_id, 'else')
      assert.equal((await receiver.started.request('GET', '/api/sessions/else')).status, 404)
    })

  it('join a run of the gateway without changing its owner', async () => {
    const trace = newTrace()
    await modelRequest(trace)
    const agent = span({ traceId: trace, spanId: 'e'.repeat(16), name: 'turn' })
    assert.deepEqual(await receiver.taken(resourceSpans([agent], { 'service.name': 'coder' })), {})
    const { run, spans } = await receiver.run(trace)
    assert.deepEqual([run.project_id, run.origin, run.agent_name], ['default', 'gateway', 'coder'])
    const request = spans.find(({ name }) => name === 'gen_ai.request')
    assert.deepEqual([request?.parent_id, request?.owner], ['e'.repeat(16), 'gateway'])
  })

  it('never change a span of the gateway; the others are stored', async () => {
    const trace = newTrace()
    await modelRequest(trace)
    const before = (await receiver.run(trace)).spans.find(({ name }) => name === 'gen_ai.request')
    assert.ok(before)
    const forged = { name: 'forged', spanId: before.id, events: [{ name: 'with it' }] }
    const ids = spanIds(9)
    const spans = [
      ...ids.slice(0, 5).map((id) => ({ spanId: id })),
      forged,
      ...ids.slice(5).map((id) => ({ spanId: id })),
    ]
    const sent = resourceSpans(spans.map((one) => span({ traceId: trace, ...one })))
    const { rejectedSpans, errorMessage } = partialOf(await receiver.taken(sent))
    assert.equal(rejectedSpans, '1')
    assert.match(errorMessage, new RegExp(`1 of 10 spans.*${before.id}.*written by the gateway`))
    const { spans: after, run } = await receiver.run(trace)
    assert.deepEqual(
      after.find(({ id }) => id === before.id),
      before,
    )
    assert.deepEqual(
      ids.filter((id) => !after.some((one) => one.id === id)),
      [],
    )
    assert.equal(run.event_count, 1)
  })

  it('lose only invalid spans', async () => {
    const trace = newTrace()
    const ids = spanIds(40)
    const odd = [
      { endTimeUnixNano: '1' },
      { status: { code: 'STATUS_CODE_ERROR' } },
      { kind: 'SPAN_KIND_CLIENT' },
      { attributes: [{ key: 'n', value: { intValue: 'many' } }] },
    ]
    const spans = ids.map((id, at) => span({ traceId: trace, spanId: id, ...(at % 4 === 0 ? {} : odd[(at >> 2) % 4]) }))
    const other = newTrace()
    const { rejectedSpans } = partialOf(await receiver.taken(resourceSpans([...spans, span({ traceId: other })])))
    assert.equal(rejectedSpans, '30')
    const kept = (await receiver.run(trace)).spans.map(({ id }) => id)
    assert.deepEqual(
      ids.filter((id) => kept.includes(id)),
      ids.filter((_, at) => at % 4 === 0),
    )
    assert.equal((await receiver.run(other)).spans.length, 2)
  })

  it('lose an invalid event without its span', async () => {
    const trace = newTrace()
    await modelRequest(trace)
    const request = (await receiver.run(trace)).spans.find(({ name }) => name === 'gen_ai.request')
    const taken = request?.events[0]?.id ?? ''
    assert.match(taken, /^evt_/)
    const own = pairs({ 'guard.span.id': 'own', 'guard.status': 'ok' })
    const events = [
      { name: 'good' },
      { name: 'forged', attributes: pairs({ 'guard.event.id': taken }) },
      { name: 'fine' },
    ]
    const sent = resourceSpans([span({ traceId: trace, attributes: own, events })])
    const { rejectedSpans, errorMessage } = partialOf(await receiver.taken(sent))
    assert.deepEqual([rejectedSpans, errorMessage.includes(taken)], ['0', true])
    const kept = (await receiver.run(trace)).spans.find(({ id }) => id === 'own')
    assert.deepEqual(
      kept?.events.map(({ name }) => name),
      ['good', 'fine'],
    )
  })

  it('create no empty run', async () => {
    const trace = newTrace()
    const ids = await receiver.runIds()
    assert.equal(
      partialOf(await receiver.taken(resourceSpans([span({ traceId: trace, name: '' })]))).rejectedSpans,
      '1',
    )
    assert.deepEqual(await receiver.runIds(), ids)
  })

  it('contain no secret in an id', async () => {
    const secret = `sk-ant-api03-${'Ab1'.repeat(20)}`
    const own = { 'guard.span.id': secret, 'guard.status': 'ok', 'guard.span.kind': 'other' }
    const trace = newTrace()
    const sent = [span({ traceId: trace }), span({ traceId: trace, spanId: 'b'.repeat(16), attributes: pairs(own) })]
    const answer = partialOf(await receiver.taken(resourceSpans(sent)))
    assert.deepEqual([answer.rejectedSpans, answer.errorMessage.includes(secret)], ['1', false])
    assert.match(answer.errorMessage, /"id" is a secret/)
    assert.equal((await receiver.run(trace)).spans.length, 2)
    for (const id of [secret, `Bearer ${'Ab1'.repeat(20)}`]) {
      const whole = resourceSpans([span({ traceId: newTrace(), attributes: pairs({ 'session.id': id }) })])
      assert.match(partialOf(await receiver.taken(whole)).errorMessage, /"session_id" is a secret/)
    }
  })

  it('are found by an id that looks like a secret, and kept under a hash', async () => {
    const suspect = 'test_0b6d8a52-7f0c-4d8e-9f57-1c2d3e4f5a6b'
    const native = { 'guard.trace.id': suspect, 'guard.span.id': suspect, 'guard.run.status': 'ok' }
    const child = { 'guard.trace.id': suspect, 'guard.span.id': 'child', 'guard.span.parent_id': suspect }
    const sent = resourceSpans([
      span({ traceId: newTrace(), attributes: pairs({ ...native, 'session.id': suspect }) }),
      span({ traceId: newTrace(), spanId: 'b'.repeat(16), attributes: pairs(child) }),
    ])
    assert.deepEqual(await receiver.taken(sent), {})
    const kept = await receiver.run(suspect)
    assert.ok(
      !JSON.stringify(kept, (_key, value) => (typeof value === 'bigint' ? String(value) : value)).includes(suspect),
    )
    assert.match(String(kept.run.trace_id), /^id_[a-z2-7]{24}$/)
  })

  it('with one native id in two traces are stored one after the other', async () => {
    const own = (id: string) => pairs({ 'guard.trace.id': 'native', 'guard.span.id': id, 'guard.run.status': 'ok' })
    const sent = [newTrace(), newTrace()].map((id, at) => span({ traceId: id, attributes: own(`s${at}`), spanId }))
    assert.deepEqual(await receiver.taken(resourceSpans(sent)), {})
    const { spans } = await receiver.run('native')
    assert.deepEqual(
      spans.map(({ id }) => id).filter((id) => /^s\d$/.test(id)),
      ['s0', 's1'],
    )
  })

  it('of more traces than stay open are accepted again', async () => {
    const sent = resourceSpans(Array.from({ length: 600 }, () => span({ traceId: newTrace() })))
    for (let turn = 0; turn < 2; turn++) assert.deepEqual(await receiver.taken(sent), {})
  })

  it('create no session, event or decision', async () => {
    const trace = newTrace()
    const events = [{ name: 'policy.decision', attributes: pairs({ decision: 'block', reason_code: 'LOOP_EXACT' }) }]
    await receiver.taken(resourceSpans([span({ traceId: trace, events, attributes: pairs({ 'session.id': 'talk' }) })]))
    const { run } = await receiver.run(trace)
    assert.equal(run.failure_tag, 'loop')
    const { json } = await receiver.started.request('GET', '/api/sessions/talk')
    const { session } = json as { readonly session: { readonly blocked: number; readonly requests: number } }
    assert.deepEqual([session.blocked, session.requests], [0, 1])
  })
})
