import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { named } from '../../../kit/ingest.ts'
import { guarded } from '../../../kit/sdk.ts'

const sha256 = 'A'.repeat(64)

describe('a trace', () => {
  it('is sent in one request with its nesting, event, artifact and tag', async (test) => {
    const { guard, server, errors } = await guarded(test, { agent: 'coder' })
    const text = await guard.trace('fix-bug', { taskId: 'T-1', sessionId: 'night-run' }, async (trace) => {
      const data = await guard.span('tool.call', { 'gen_ai.tool.name': 'read_file' }, async (span) => {
        await Promise.resolve()
        span.event('tool.result', { bytes: 5 })
        span.set({ 'file.lines': 12 })
        return 'hello'
      })
      trace.artifact({ path: 'out/report.md', mimeType: 'text/markdown', size: 812, sha256 })
      trace.tag('nightly', ' nightly ')
      return data
    })
    assert.equal(text, 'hello')
    await guard.flush()

    assert.equal(server.requests.length, 1)
    assert.equal(server.requests[0]?.path, '/api/v1/traces')
    const { fields, spans, events, artifacts } = server.run()
    assert.match(fields.trace_id, /^[0-9a-f]{32}$/)
    assert.deepEqual(
      { ...fields, trace_id: '' },
      {
        trace_id: '',
        project_id: 'demo',
        session_id: 'night-run',
        task_id: 'T-1',
        agent_name: 'coder',
        name: 'fix-bug',
        status: 'ok',
        tags: ['nightly'],
      },
    )
    const root = named(spans, 'agent.run')
    const tool = named(spans, 'tool.call')
    assert.equal(spans.size, 2)
    assert.equal(root.parent_id, undefined)
    assert.equal(tool.parent_id, root.id)
    assert.match(tool.id, /^[0-9a-f]{16}$/)
    assert.deepEqual(tool.attributes, { 'gen_ai.tool.name': 'read_file', 'file.lines': 12 })
    const event = named(events, 'tool.result')
    assert.equal(event.span_id, tool.id)
    assert.match(event.id, /^evt_[0-9a-f]{16}$/)
    assert.deepEqual(event.attributes, { bytes: 5 })
    const [artifact] = artifacts.values()
    assert.match(artifact?.id ?? '', /^art_[0-9a-f]{16}$/)
    assert.deepEqual(
      { ...artifact, id: '' },
      { id: '', path: 'out/report.md', mime_type: 'text/markdown', size: 812, sha256: sha256.toLowerCase() },
    )
    assert.deepEqual(guard.stats(), { queued: 0, sent: 4, dropped: 0, failed: 0, unknown: 0 })
    assert.deepEqual(errors, [])
  })

  it('sends spans as they end when live, with the same ids, as one run', async (test) => {
    const { guard, server } = await guarded(test, { live: true })
    await guard.trace('job', async () => {
      guard.span('step', () => {})
      await guard.flush()
      assert.equal(server.run().fields.status, 'running')
      assert.equal(named(server.run().spans, 'agent.run').status, 'running')
      assert.equal(named(server.run().spans, 'agent.run').end_ns, undefined)
      assert.ok(named(server.run().spans, 'step').end_ns)
      guard.span('step 2', () => {})
    })
    await guard.flush()
    assert.equal(server.requests.length, 2)
    assert.equal(server.run().fields.status, 'ok')
    assert.deepEqual([...server.run().spans.values()].map(({ name, status }) => `${name} ${status}`).sort(), [
      'agent.run ok',
      'step 2 ok',
      'step ok',
    ])
  })

  it('of 2,000 spans is sent in parts of 500, and is complete in the end', async (test) => {
    const { guard, server } = await guarded(test)
    await guard.trace('long', async () => {
      for (let round = 1; round <= 4; round++) {
        for (let span = 0; span < 500; span++) guard.span('step', { round }, () => {})
        await server.received(round)
        await guard.flush()
      }
    })
    await guard.flush()
    assert.deepEqual(
      server.requests.map(({ trace }) => [trace.status, trace.spans?.length]),
      [...Array.from({ length: 4 }, () => ['running', 501]), ['ok', 1]],
    )
    assert.equal(server.run().spans.size, 2_001)
  })

  it('is sent in parts when its queued records reach 1 MiB', async (test) => {
    const { guard, server } = await guarded(test)
    await guard.trace('wide', async (trace) => {
      for (let event = 0; event < 40; event++) trace.event('note', { text: 'x'.repeat(30_000) })
      await server.received(1)
      assert.equal(server.requests[0]?.trace.status, 'running')
    })
    await guard.flush()
    assert.equal(server.run().events.size, 40)
  })

  it('keeps exact nanoseconds, by the monotonic clock', async (test) => {
    const { guard, server } = await guarded(test)
    let tick = 9_007_199_254_740_993n
    test.mock.method(Date, 'now', () => 1_790_000_000_123)
    test.mock.method(process.hrtime, 'bigint', () => tick++)
    await guard.trace('exact', (trace) => {
      test.mock.method(Date, 'now', () => 5)
      trace.event('instant')
      guard.span('step', () => {})
    })
    await guard.flush()
    const { spans, events } = server.run()
    // the first reading sets the clock, and each later one adds 1 ns
    const at = (ns: number): string => `1790000000123${String(ns).padStart(6, '0')}`
    const root = named(spans, 'agent.run')
    const step = named(spans, 'step')
    assert.deepEqual(
      [root.start_ns, named(events, 'instant').time_ns, step.start_ns, step.end_ns, root.end_ns],
      [at(1), at(2), at(3), at(4), at(5)],
    )
  })

  it('of another process is continued below its span, without changes of its fields', async (test) => {
    const { guard, server, codes } = await guarded(test)
    const trace_id = 'b'.repeat(32)
    const traceparent = `00-${trace_id}-${'c'.repeat(16)}-01`
    await guard.trace('part', { traceparent }, (trace) => assert.equal(trace.traceId, trace_id))
    await guard.flush()
    const { fields, spans } = server.run(trace_id)
    assert.deepEqual(fields, { trace_id, project_id: 'demo' })
    assert.equal(named(spans, 'agent.run').parent_id, 'c'.repeat(16))
    assert.equal(named(spans, 'agent.run').status, 'ok')

    for (const wrong of [
      'nonsense',
      `ff-${trace_id}-${'c'.repeat(16)}-01`,
      `00-${'0'.repeat(32)}-${'c'.repeat(16)}-01`,
    ]) {
      await guard.trace('own', { traceparent: wrong }, (trace) => assert.notEqual(trace.traceId, trace_id))
    }
    assert.deepEqual(codes(), ['INVALID_TRACEPARENT', 'INVALID_TRACEPARENT', 'INVALID_TRACEPARENT'])
  })

  it('has the caller’s id, and a new one if that is invalid', async (test) => {
    const { guard, codes } = await guarded(test)
    await guard.trace('a', { traceId: 'night/7' }, (trace) => {
      assert.equal(trace.traceId, 'night/7')
      assert.equal(guard.headers().traceparent, undefined)
    })
    for (const traceId of ['no blanks', '..', 'compare'])
      await guard.trace('b', { traceId }, (trace) => assert.match(trace.traceId, /^[0-9a-f]{32}$/))
    assert.deepEqual(codes(), ['INVALID_ID', 'INVALID_ID', 'INVALID_ID'])
  })
})
