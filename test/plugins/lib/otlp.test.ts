import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fromOtlp } from '#lib/otlp'
import { keepAll, pairs, read, resourceSpans, span, spanId, spanOf, traceId } from '../../kit/otlp-data.ts'

describe('OTLP in: ids and times', () => {
  it('takes hex ids in either case, also as bytes', async () => {
    const upper = await read(resourceSpans([span({ traceId: traceId.toUpperCase(), spanId: spanId.toUpperCase() })]))
    assert.deepEqual([upper.run.trace_id, upper.spans[0]?.id], [traceId, spanId])
    const bytes = { traceId: Buffer.from(traceId, 'hex'), spanId: new Uint8Array(Buffer.from(spanId, 'hex')) }
    const decoded = await read(resourceSpans([span({ ...bytes, parentSpanId: new Uint8Array() })]))
    assert.deepEqual([decoded.run.trace_id, decoded.spans[0]?.id, decoded.spans[0]?.parent_id], [traceId, spanId, null])
  })

  it('keeps a parent that is not in the data', async () => {
    assert.equal((await spanOf({ parentSpanId: 'ABCDEF0123456789' }))?.parent_id, 'abcdef0123456789')
    for (const none of ['', '0000000000000000', null])
      assert.equal((await spanOf({ parentSpanId: none }))?.parent_id, null)
  })

  it('rejects a span that cannot be used, and takes the others', async () => {
    const bad = [
      { traceId: 'x' },
      { spanId: '0'.repeat(16) },
      { name: 7 },
      { startTimeUnixNano: 'soon' },
      { attributes: {} },
    ]
    const { runs, rejected } = await fromOtlp(resourceSpans([...bad.map(span), span()]), keepAll)
    assert.equal(runs[0]?.spans.length, 1)
    assert.deepEqual(
      rejected.map(({ code, place }) => [code, place.path.slice(4)]).sort(),
      [
        ['INVALID_ID', ['spans', 0, 'traceId']],
        ['INVALID_ID', ['spans', 1, 'spanId']],
        ['INVALID_IMPORT', ['spans', 2, 'name']],
        ['INVALID_IMPORT', ['spans', 3, 'startTimeUnixNano']],
        ['INVALID_IMPORT', ['spans', 4, 'attributes']],
      ].sort(),
    )
  })

  it('takes times as digits or integers, exactly', async () => {
    assert.equal((await spanOf({}))?.start_ns, 1_782_000_000_123_456_789n)
    assert.equal(
      (await spanOf({ startTimeUnixNano: 1_782_000_000_123_456_789n }))?.start_ns,
      1_782_000_000_123_456_789n,
    )
    assert.equal((await spanOf({ startTimeUnixNano: 5 }))?.start_ns, 5n)
  })

  it('takes a span without an end as running', async () => {
    for (const end of [undefined, '0', 0]) {
      const running = await spanOf({ endTimeUnixNano: end })
      assert.deepEqual([running?.status, running?.end_ns], ['running', null])
    }
    assert.equal((await spanOf({ startTimeUnixNano: '0' }))?.start_ns, undefined)
  })

  it('takes status 2 as error, all else as ok', async () => {
    assert.deepEqual(
      [
        (await spanOf({ status: { code: 2, message: 'why' } }))?.status,
        (await spanOf({ status: { code: 2, message: 'why' } }))?.status_message,
      ],
      ['error', 'why'],
    )
    for (const status of [undefined, {}, { code: 0 }, { code: 1 }])
      assert.equal((await spanOf({ status }))?.status, 'ok')
  })
})

describe('OTLP in: whose run it is', () => {
  it('finds the project: its own attribute, else the service', async () => {
    const runOf = async (resource: Record<string, unknown>) => (await read(resourceSpans([span()], resource))).run
    assert.equal((await runOf({ 'guard.project.id': 'p', 'service.name': 's' })).project_id, 'p')
    assert.equal((await runOf({ 'service.name': 'my service' })).project_id, 'my_service')
    assert.equal((await runOf({})).project_id, undefined)
  })

  it('finds the session: session.id, else the conversation', async () => {
    const runOf = async (attributes: Record<string, unknown>, resource = {}) =>
      (await read(resourceSpans([span(), span({ spanId: 'b'.repeat(16), attributes: pairs(attributes) })], resource)))
        .run
    assert.equal((await runOf({ 'session.id': 's', 'gen_ai.conversation.id': 'c' })).session_id, 's')
    assert.equal((await runOf({ 'gen_ai.conversation.id': 'c' })).session_id, 'c')
    assert.equal((await runOf({}, { 'session.id': 'r' })).session_id, 'r')
    assert.equal((await runOf({})).session_id, undefined)
  })

  it('finds the agent: its name, else the service', async () => {
    const attributes = pairs({ 'gen_ai.agent.name': 'coder', 'gen_ai.agent.id': 'a1' })
    const named = (await read(resourceSpans([span({ attributes })], { 'service.name': 's' }))).run
    assert.deepEqual([named.agent_name, named.agent_id], ['coder', 'a1'])
    assert.equal((await read(resourceSpans([span()], { 'service.name': 's' }))).run.agent_name, 's')
  })

  it('keeps resource, scope, links and trace state as attributes', async () => {
    const links = [{ traceId: traceId.toUpperCase(), spanId, attributes: pairs({ why: 'retry' }) }]
    const data = resourceSpans(
      [span({ links, traceState: 'v=1' })],
      { 'host.name': 'h' },
      { name: 'lib', version: '2' },
    )
    const { run, spans } = await read(data)
    assert.deepEqual({ ...run.attributes }, { 'resource.host.name': 'h' })
    const { 'otel.links': kept, ...others } = spans[0]?.attributes ?? {}
    assert.deepEqual(others, { 'otel.scope.name': 'lib', 'otel.scope.version': '2', 'otel.trace_state': 'v=1' })
    assert.equal(
      JSON.stringify(kept),
      JSON.stringify([{ trace_id: traceId, span_id: spanId, attributes: { why: 'retry' } }]),
    )
  })

  it('keeps the traces of one request apart', async () => {
    const { runs } = await fromOtlp(resourceSpans([span(), span({ traceId: 'a'.repeat(32) })]), keepAll)
    assert.deepEqual(
      runs.map(({ run }) => run.trace_id),
      [traceId, 'a'.repeat(32)],
    )
  })
})
