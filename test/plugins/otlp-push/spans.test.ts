import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { aReading, aSession } from '../../kit/settled.ts'
import { groupsIn, type Pushing, type SentSpan, startPush } from './kit.ts'

const START = 1_780_000_000_000_000_001n
const MINUTE = 60_000
const byId = (spans: readonly SentSpan[]) => [...spans].sort((a, b) => (a.spanId < b.spanId ? -1 : 1))

/** The run as it is exported. */
const exported = async ({ bench }: Pushing, trace_id: string) => {
  const { text } = await bench.send('GET', `/api/v1/runs/${trace_id}/export?format=otel`)
  const [group] = JSON.parse(text).resourceSpans
  return { resource: group.resource, spans: group.scopeSpans[0].spans as readonly SentSpan[] }
}

const report = {
  trace_id: 'report-1',
  agent_name: 'planner',
  project_id: 'shop',
  attributes: { 'resource.host.name': 'mill', goal: 'a report' },
  spans: [
    { id: 'r', name: 'agent.run', status: 'ok', start_ns: String(START), end_ns: String(START + 900n) },
    {
      id: 'a',
      parent_id: 'r',
      name: 'tool.call',
      status: 'error',
      status_message: 'no such file',
      start_ns: String(START + 10n),
      end_ns: String(START + 20n),
      attributes: { 'tool.name': 'ls', big: 12, ratio: 0.5, list: ['x', null] },
      events: [{ id: 'e1', name: 'retry', time_ns: String(START + 15n), attributes: { attempt: 2 } }],
    },
    { id: 'b', name: 'plan', start_ns: String(START + 30n), end_ns: String(START + 1_900n) },
  ],
  events: [{ id: 'e2', name: 'note', time_ns: String(START + 50n) }],
  artifacts: [{ id: 'f1', span_id: 'a', path: 'out.md', size: '12' }],
}

describe('exported spans', () => {
  it('equal an OTLP export of the run: spans, events, artifacts and resource', async (test) => {
    const pushing = await startPush(test)
    await pushing.ingest(report)
    await pushing.gathered()
    const { resource, spans } = await exported(pushing, 'report-1')
    assert.equal(spans.length, 3)
    assert.deepEqual(byId(pushing.spans), byId(spans))
    const groups = pushing.receiver.requests.flatMap(groupsIn)
    for (const group of groups) {
      assert.deepEqual(group.resource, resource)
      assert.deepEqual(group.scopeSpans[0]?.scope, { name: 'guard-gateway', version: '1.2.3' })
    }
    assert.deepEqual(pushing.counts, [3, 0, 0])
  })

  it('are compressed JSON with the configured headers, in batches of two seconds', async (test) => {
    const pushing = await startPush(test, { receiver: { headers: { 'X-Team': 'blue' } } })
    await pushing.ingest({ spans: [{ name: 'a' }] })
    await pushing.ingest({ spans: [{ name: 'b' }] })
    await pushing.pass(1_999)
    assert.equal(pushing.receiver.requests.length, 0)
    await pushing.pass(1)
    const { method, path, headers } = pushing.receiver.last
    assert.deepEqual([method, path, pushing.names], ['POST', '/v1/traces', ['a', 'b']])
    const given = new Map(headers.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), headers[at + 1]]] : [])))
    assert.equal(given.get('content-type'), 'application/json')
    assert.equal(given.get('content-encoding'), 'gzip')
    assert.equal(given.get('x-team'), 'blue')
  })

  it('are sent once each, after their end', async (test) => {
    const pushing = await startPush(test)
    const trace_id = await pushing.ingest({
      spans: [{ id: 'a', name: 'slow', status: 'running', attributes: { x: 1 } }],
    })
    await pushing.gathered()
    assert.deepEqual(pushing.names, [])
    await pushing.ingest({ trace_id, spans: [{ id: 'a', name: 'slow', status: 'ok', attributes: { y: 2 } }] })
    await pushing.ingest({ trace_id, spans: [{ id: 'a', name: 'slow', status: 'ok', attributes: { y: 2 } }] })
    await pushing.gathered()
    await pushing.ingest({ trace_id, spans: [{ id: 'a', name: 'slow', status: 'ok', attributes: { y: 2 } }] })
    await pushing.gathered()
    assert.deepEqual(pushing.names, ['slow'])
    const own = pushing.spans[0]?.attributes.filter(({ key }) => key.length === 1)
    assert.deepEqual(
      own?.map(({ key }) => key),
      ['x', 'y'],
    )
  })

  it('include an explicit root when its run ends', async (test) => {
    const pushing = await startPush(test)
    const root = { id: 'r', name: 'agent.run' }
    const trace_id = await pushing.ingest({
      spans: [
        { ...root, status: 'running' },
        { id: 'a', parent_id: 'r', name: 'a' },
      ],
    })
    await pushing.pass(5 * MINUTE)
    await pushing.gathered()
    assert.deepEqual(pushing.names, ['a'])
    await pushing.ingest({ trace_id, spans: [{ ...root, status: 'error', attributes: { why: 'stuck' } }] })
    await pushing.gathered()
    await pushing.ingest({ trace_id, name: 'Renamed' })
    await pushing.gathered()
    assert.deepEqual(pushing.names, ['a', 'agent.run'])
    const [child, sent] = pushing.spans
    assert.deepEqual([sent?.parentSpanId, child?.parentSpanId], [undefined, sent?.spanId])
  })

  it('include a request with tool calls and decision, and its root after an idle minute', async (test) => {
    const pushing = await startPush(test)
    const session = aSession()
    const reading = aReading({ calls: [{ id: 'toolu_1', tool: 'read_file', args: { path: '/secret/name' } }] })
    const call = await pushing.call(session, { reading })
    session.open = 0
    await pushing.pass(2_000)
    // the tool call ends with the request that holds its result
    assert.deepEqual(pushing.names, ['gen_ai.request'])
    await pushing.pass(30_000)
    await pushing.call(session)
    for (let s = 0; s < 58; s += 2) await pushing.pass(2_000)
    assert.deepEqual(pushing.names, ['gen_ai.request', 'gen_ai.request', 'tool.call'])
    await pushing.gathered()
    assert.deepEqual(pushing.names.slice(3), ['agent.run'])
    const { spans } = await exported(pushing, String(call.trace?.trace_id))
    assert.deepEqual(byId(pushing.spans), byId(spans))
    assert.ok(!JSON.stringify(pushing.spans).includes('/secret/name'))
    await pushing.call(session)
    await pushing.pass(2 * MINUTE)
    await pushing.gathered()
    assert.deepEqual(pushing.names.slice(4), ['gen_ai.request'])
  })

  it('include one root, even if an explicit one arrives at that time', async (test) => {
    const pushing = await startPush(test)
    const trace_id = await pushing.ingest({ spans: [{ name: 'a' }] })
    await pushing.gathered()
    while (pushing.health.queued === 0) await pushing.pass(2_000)
    await pushing.ingest({ trace_id, spans: [{ id: 'r', name: 'agent.run', status: 'ok' }] })
    for (let turn = 0; turn < 4; turn++) await pushing.gathered()
    assert.deepEqual(
      [pushing.names, pushing.counts],
      [
        ['a', 'agent.run'],
        [2, 0, 0],
      ],
    )
  })

  it('include no root while a request of the session is in flight', async (test) => {
    const pushing = await startPush(test)
    const session = aSession()
    await pushing.call(session)
    session.open = 1
    await pushing.pass(5 * MINUTE)
    await pushing.gathered()
    assert.deepEqual(pushing.names, ['gen_ai.request'])
    session.open = 0
    await pushing.gathered()
    assert.deepEqual(pushing.names, ['gen_ai.request', 'agent.run'])
  })

  it('are filtered by project', async (test) => {
    const pushing = await startPush(test, { receiver: { projects: ['shop', 'bank'] } })
    const trace_id = await pushing.ingest({ project_id: 'home', spans: [{ name: 'private' }] })
    await pushing.ingest({ project_id: 'bank', spans: [{ name: 'agent.run', status: 'ok' }, { name: 'count' }] })
    // whose run it is, is on record alone
    await pushing.ingest({ trace_id, spans: [{ name: 'private too' }] })
    await pushing.call({ ...aSession({ project_id: 'shop' }), open: 0 })
    await pushing.call(null, {}, { project_id: 'home' })
    await pushing.pass(2 * MINUTE)
    await pushing.gathered()
    assert.deepEqual([...pushing.names].sort(), ['agent.run', 'agent.run', 'count', 'gen_ai.request'])
    assert.deepEqual(pushing.counts, [4, 0, 0])
  })

  it('exclude imported runs', async (test) => {
    const pushing = await startPush(test)
    const trace_id = await pushing.ingest({ spans: [{ name: 'agent.run', status: 'ok' }, { name: 'a' }] })
    await pushing.gathered()
    const { text } = await pushing.bench.send('GET', `/api/v1/runs/${trace_id}/export`)
    const { status } = await pushing.bench.send('POST', '/api/v1/runs/import', text)
    assert.equal(status, 201)
    await pushing.pass(2 * MINUTE)
    await pushing.gathered()
    assert.equal(pushing.spans.length, 2)
  })
})
