import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { Call, Session, Settled } from 'guard-gateway/core'
import type { RunSummary } from '#lib/trace-file'
import { startGateway } from '../../../kit/gateway.ts'
import { FakeProvider } from '../../../kit/provider.ts'
import { assertsSchema } from '../../../kit/schemas.ts'
import { aCall, aDecision, aReading, aSession, blocked, settled } from '../../../kit/settled.ts'
import { type Bench, type Bundle, expecting, startReplay } from '../kit.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'
const MINUTE = 60_000

describe('automatic traces', () => {
  let bench: Bench
  let session: Session
  let calls: number
  beforeEach(async () => {
    bench = await startReplay()
    session = aSession()
    calls = 0
  })
  afterEach(() => bench.close())

  /** A decided call. */
  const arrived = async (over: Partial<Call> = {}): Promise<Call> => {
    const call = aCall({ id: `guardreq_${++calls}`, at: bench.clock.now(), session, ...over })
    await bench.gateway.hooks.decision.promise(aDecision(), call)
    return call
  }
  const done = async (call: Call, over: Partial<Settled> = {}): Promise<Call> => {
    bench.clock.advance(10)
    if (call.session !== null) call.session.row.requests++
    await bench.settle(settled({ call, ended_at: bench.clock.now(), forwarded_at: call.at, ...over }))
    assert.deepEqual(bench.faults, [])
    return call
  }
  const request = async (over: Partial<Call> = {}): Promise<Call> => done(await arrived(over))
  const run = async (id: string | undefined): Promise<Bundle> =>
    expecting(200, await bench.send('GET', `/api/v1/runs/${id}`))
  const runs = async (): Promise<readonly RunSummary[]> =>
    expecting<{ runs: readonly RunSummary[] }>(200, await bench.send('GET', '/api/v1/runs')).runs

  it('record a request as a span with its tool calls and decision', async () => {
    const reading = aReading({ calls: [{ id: 'toolu_1', tool: 'read_file', args: { path: '/secret/name' } }] })
    const call = await done(await arrived(), { reading })
    const bundle = await run(call.trace?.trace_id)
    assertsSchema('trace')(JSON.parse((await bench.send('GET', `/api/v1/runs/${call.trace?.trace_id}`)).text))
    assert.deepEqual(
      bundle.spans.map(({ name, kind, owner, label, status }) => [name, kind, owner, label, status]),
      [
        ['agent.run', 'agent', 'gateway', null, 'ok'],
        ['gen_ai.request', 'model', 'gateway', 'm-1', 'ok'],
        ['tool.call', 'tool', 'gateway', 'read_file', 'unset'],
      ],
    )
    const [, span, tool] = bundle.spans
    assert.deepEqual(
      [span?.attributes['guard.request_id'], span?.attributes['gen_ai.usage.input_tokens']],
      [call.id, 20],
    )
    assert.match(String(tool?.attributes['guard.argument_hash']), /^[0-9a-f]{64}$/)
    assert.deepEqual([tool?.parent_id, tool?.attributes['gen_ai.tool.call.id']], [span?.id, 'toolu_1'])
    assert.deepEqual(
      span?.events.map(({ id, name, request_id }) => [id, name, request_id]),
      [['evt_1', 'policy.decision', call.id]],
    )
    const { origin, total_tokens, span_count, event_count, session_id, agent_id, project_id } = bundle.run
    assert.deepEqual(
      [origin, total_tokens, span_count, event_count, session_id, agent_id, project_id],
      ['gateway', 30, 3, 1, 'ses_a', 'builder', 'shop'],
    )
    assert.ok(!JSON.stringify(bundle, (_, v) => (typeof v === 'bigint' ? String(v) : v)).includes('/secret/name'))
  })

  it('add requests of a session to one run, and begin a new run after a pause', async () => {
    const first = await request()
    const second = await request()
    assert.equal(second.trace?.trace_id, first.trace?.trace_id)
    bench.clock.advance(29 * MINUTE)
    assert.equal((await request()).trace?.trace_id, first.trace?.trace_id)
    bench.clock.advance(31 * MINUTE)
    const later = await request()
    assert.notEqual(later.trace?.trace_id, first.trace?.trace_id)
    const summary = (await run(first.trace?.trace_id)).run
    assert.deepEqual([summary.span_count, summary.event_count, summary.total_tokens], [4, 3, 90])
  })

  it('begin a new run after a clock that was far ahead is corrected', async () => {
    const ahead = await request()
    bench.clock.jump(-29 * MINUTE)
    assert.equal((await request()).trace?.trace_id, ahead.trace?.trace_id)
    bench.clock.jump(-2 * MINUTE)
    const right = await request()
    assert.notEqual(right.trace?.trace_id, ahead.trace?.trace_id)
    assert.equal((await request()).trace?.trace_id, right.trace?.trace_id)
  })

  it('separate sessions, projects, and requests without a session', async () => {
    const ids = [
      await request(),
      await request({ session: aSession({ id: 'ses_b' }) }),
      await request({ session: null }),
      await request({ session: null }),
    ].map(({ trace }) => trace?.trace_id)
    assert.equal(new Set(ids).size, 4)
  })

  it('add concurrent requests to one run, whichever ends first', async () => {
    const open = await Promise.all(Array.from({ length: 8 }, () => arrived()))
    await Promise.all(open.reverse().map((call) => done(call)))
    assert.equal(new Set(open.map(({ trace }) => trace?.trace_id)).size, 1)
    assert.deepEqual((await run(open[0]?.trace?.trace_id)).run.span_count, 9)
  })

  it('put a request below the span in the caller’s traceparent', async () => {
    const headers = { traceparent: `00-${TRACE}-${SPAN}-01` }
    await request({ headers })
    expecting(
      200,
      await bench.send('POST', '/api/v1/traces', {
        trace_id: TRACE,
        spans: [{ id: SPAN, name: 'gen_ai.chat', attributes: { 'gen_ai.usage.input_tokens': 30 } }],
      }),
    )
    const { run: summary, spans } = await run(TRACE)
    assert.deepEqual(
      spans.map(({ name, parent_id, owner }) => [name, parent_id, owner]),
      [
        ['agent.run', null, 'gateway'],
        ['gen_ai.chat', spans[0]?.id, 'client'],
        ['gen_ai.request', SPAN, 'gateway'],
      ],
    )
    assert.deepEqual([summary.total_tokens, summary.origin], [30, 'gateway'])
  })

  it('ignore a trace of another project and an invalid header', async () => {
    await bench.send('POST', '/api/v1/traces', { trace_id: TRACE, project_id: 'theirs' })
    const headers = { traceparent: `00-${TRACE}-${SPAN}-01`, 'x-guard-project-id': 'mine' }
    const call = await request({ headers })
    assert.notEqual(call.trace?.trace_id, TRACE)
    const [, span] = (await run(call.trace?.trace_id)).spans
    assert.equal(span?.events[0]?.attributes.trace_join_refused, true)
    for (const odd of ['x', `ff-${TRACE}-${SPAN}-01`, `00-${'0'.repeat(32)}-${SPAN}-01`])
      assert.equal((await request({ headers: { traceparent: odd } })).trace?.parent_span_id, null)
  })

  it('record a block, a failure and a recovery', async () => {
    const call = await arrived()
    await done(call, { ...blocked(call), ended_at: bench.clock.now() })
    const looped = (await run(call.trace?.trace_id)).run
    assert.deepEqual(
      [looped.status, looped.failure_tag, looped.failure_evidence?.span_id],
      ['error', 'loop', call.trace?.span_id],
    )
    await request()
    assert.deepEqual((await run(call.trace?.trace_id)).run.status, 'ok')
    const other = aSession({ id: 'ses_c' })
    const limited = await arrived({ session: other })
    await done(limited, { status: 429, outcome: 'upstream_error' })
    assert.equal((await run(limited.trace?.trace_id)).run.failure_tag, 'rate_limit')
  })

  it('tolerate a change of the run by another process', async () => {
    const call = await request()
    const id = String(call.trace?.trace_id)
    await bench.gateway.storage.patch('runs', id, { revision: 40, name: 'theirs' })
    await request()
    const { run: summary, spans } = await run(id)
    assert.deepEqual([summary.name, summary.span_count, spans.length], ['theirs', 3, 3])
  })

  it('are found by model, tool and words, with secrets in names redacted', async () => {
    const secret = `sk-ant-api03-${'aB3'.repeat(31)}AA`
    const reading = aReading({ model: secret, calls: [{ id: null, tool: 'read_file', args: {} }] })
    await done(await arrived(), { reading })
    const found = async (query: string) =>
      expecting<{ runs: readonly unknown[] }>(200, await bench.send('GET', `/api/v1/runs?${query}`)).runs.length
    assert.deepEqual(
      await Promise.all(['model=m-1', 'tool=read_file', 'q=read_file', 'q=allow', 'q=ab3*', 'q=sk'].map(found)),
      [1, 1, 1, 1, 0, 0],
    )
    assert.equal((await runs()).length, 1)
  })

  it('omit the trace of a call if storage fails, without other effects', async () => {
    bench.gateway.storage.find = () => Promise.reject(new Error('disk gone'))
    session.stored = true
    assert.equal((await arrived()).trace, undefined)
    assert.equal(bench.faults.length, 1)
  })
})

describe('automatic traces after a restart', () => {
  it('continue the run of the session', async (test) => {
    const folder = await mkdtemp(join(tmpdir(), 'guard-replay-'))
    test.after(() => rm(folder, { recursive: true, force: true }))
    const ids: (string | undefined)[] = []
    for (let start = 0; start < 2; start++) {
      const bench = await startReplay({ folder })
      test.after(() => bench.close())
      // a retry of a refused request counts for the first one and may be the next one
      const session = { ...aSession({ requests: 1 }), ...(start > 0 ? { stored: true } : {}) }
      const call = aCall({ id: `guardreq_${start}`, at: bench.clock.now(), session })
      await bench.gateway.hooks.decision.promise(aDecision(), call)
      await bench.settle(settled({ call, ended_at: call.at + 5 }))
      ids.push(call.trace?.trace_id)
      const { run, spans } = expecting<Bundle>(200, await bench.send('GET', `/api/v1/runs/${ids[0]}`))
      assert.deepEqual([run.span_count, spans.length, run.total_tokens], [start + 2, start + 2, 30 * (start + 1)])
      await bench.close()
    }
    assert.equal(ids[0], ids[1])
  })
})

describe('automatic traces of the default preset', () => {
  it('are named in the response and stored when it ends', async (test) => {
    const provider = await new FakeProvider().listen()
    test.after(() => provider.close())
    const running = await startGateway({ upstream: provider.url, backend: 'sqlite' })
    test.after(() => running.close())
    const body = { model: 'm-1', max_tokens: 10, messages: [{ role: 'user', content: 'Hello' }] }
    const answer = await running.request('POST', '/v1/messages', body, { 'x-guard-session-id': 'w' })
    const trace_id = answer.headers.get('x-guard-trace-id')
    assert.match(String(trace_id), /^[0-9a-f]{32}$/)
    const read = await running.request('GET', `/api/v1/runs/${trace_id}`)
    assert.equal(read.status, 200, read.text)
    assert.equal((read.json as Bundle).run.span_count, 2)
  })
})
