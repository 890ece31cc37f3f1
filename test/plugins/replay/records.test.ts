import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { RunSummary } from '#lib/trace-file'
import type { BatchAnswer } from '../../../plugins/replay/ingest/batch.ts'
import type { SpanAnswer } from '../../../plugins/replay/ingest/ingest.ts'
import { type Bench, type Bundle, expecting, refused, startReplay } from './kit.ts'

const NOW = 1_780_000_000_000_000_000n

let bench: Bench
before(async () => {
  bench = await startReplay()
  await bench.gateway.keep([
    {
      owner: 'mcp',
      origin: 'mcp',
      run: { trace_id: 'guarded', project_id: 'shop', session_id: 'mcp-1' },
      spans: [{ id: 'own', name: 'tool.call', start_ns: NOW, end_ns: NOW, status: 'error' }],
      events: [{ id: 'decided', span_id: 'own', name: 'policy.decision', attributes: { decision: 'deny' } }],
      artifacts: [],
    },
  ])
})
after(() => bench.close())
const run = async (id: string): Promise<Bundle> => expecting(200, await bench.send('GET', `/api/v1/runs/${id}`))

describe('POST /api/v1/spans', () => {
  it('begins a run, then extends it', async () => {
    const body = { trace_id: 'by-span', project_id: 'shop', agent_name: 'a', id: 's1', name: 'tool.call' }
    const first = expecting<SpanAnswer>(201, await bench.send('POST', '/api/v1/spans', body))
    assert.deepEqual([first.span_id, first.created, first.run.span_count], ['s1', true, 2])
    const second = await bench.send('POST', '/api/v1/spans', {
      trace_id: 'by-span',
      id: 's2',
      parent_span_id: 's1',
      name: 'x',
    })
    assert.equal(expecting<SpanAnswer>(200, second).run.span_count, 3)
    const { spans } = await run('by-span')
    assert.deepEqual(spans.map(({ id, parent_id }) => [id, parent_id]).slice(1), [
      ['s1', spans[0]?.id],
      ['s2', 's1'],
    ])
  })

  it('warns of times that are not in nanoseconds', async () => {
    const answer = await bench.send('POST', '/api/v1/spans', { name: 'x', start_ns: 1_780_000_000_000 })
    assert.deepEqual(
      expecting<SpanAnswer>(201, answer).warnings.map(({ code, path }) => [code, path]),
      [['unrealistic_time', '/start_ns']],
    )
  })
})

describe('POST /api/v1/events/batch', () => {
  const batch = (body: unknown) => bench.send('POST', '/api/v1/events/batch', body)

  it('stores the valid events and gives the reason for each rejected one', async () => {
    const events = [
      { name: 'file.change', time_ns: String(NOW) },
      { name: '' },
      { name: 'x', trace_id: 'guarded', id: 'decided' },
      { name: 'y', trace_id: 'guarded', span_id: 'own' },
      'odd',
      { name: 'z', id: 'same' },
      { name: 'z', id: 'same' },
      { name: 'z', trace_id: 'compare' },
    ]
    const answer = expecting<BatchAnswer>(200, await batch({ trace_id: 'batch', events }))
    assert.equal(answer.accepted, 3)
    assert.deepEqual(
      answer.events.map(({ index, trace_id }) => [index, trace_id]),
      [
        [0, 'batch'],
        [3, 'guarded'],
        [5, 'batch'],
      ],
    )
    assert.deepEqual(
      answer.rejected.map(({ index, code }) => [index, code]),
      [
        [1, 'INVALID_EVENT'],
        [2, 'EVENT_IMMUTABLE'],
        [4, 'INVALID_EVENT'],
        [6, 'DUPLICATE_ID'],
        [7, 'INVALID_ID'],
      ],
    )
    assert.equal((await run('batch')).run.event_count, 2)
  })

  it('rejects an event with another project for the run of an earlier one', async () => {
    const events = [undefined, 'shop', undefined, 'other', 'shop'].map((project_id) => ({ name: 'x', project_id }))
    const answer = expecting<BatchAnswer>(200, await batch({ trace_id: 'mixed', events }))
    assert.deepEqual(
      [answer.accepted, answer.rejected.map(({ index, code }) => [index, code])],
      [4, [[3, 'TRACE_CONFLICT']]],
    )
    assert.equal((await run('mixed')).run.project_id, 'shop')
  })

  it('accepts a bare list, and assigns an event with a missing span to the run', async () => {
    expecting(200, await batch([{ trace_id: 'bare', span_id: 'nowhere', name: 'tool.result', schema: 'event.v1' }]))
    const { events, run: summary } = await run('bare')
    assert.deepEqual([events.map(({ name }) => name), summary.event_count], [['tool.result'], 1])
  })

  it('rejects a batch without a valid event', async () => {
    refused(400, 'NO_EVENT_ACCEPTED', await batch({ events: [{ name: 'x' }] }))
    const { error } = expecting<{ error: { message: string; path: string } }>(400, await batch([{ name: 'x' }]))
    assert.match(error.message, /TRACE_ID_REQUIRED/)
    assert.equal(error.path, '/0')
    refused(400, 'INVALID_EVENT', await batch({}))
  })
})

describe('records of the gateway or the MCP proxy', () => {
  it('cannot be changed by clients, and such a request stores nothing', async () => {
    const before = await run('guarded')
    const body = {
      trace_id: 'guarded',
      spans: [
        { id: 'new', name: 'x' },
        { id: 'own', name: 'tool.call', status: 'ok' },
      ],
    }
    assert.equal(refused(409, 'SPAN_IMMUTABLE', await bench.send('POST', '/api/v1/traces', body)).path, '/spans/1/id')
    const event = { trace_id: 'guarded', events: [{ id: 'decided', name: 'x' }] }
    refused(409, 'EVENT_IMMUTABLE', await bench.send('POST', '/api/v1/traces', event))
    assert.deepEqual(await run('guarded'), before)
  })

  it('can be extended by clients, with descriptions but without owner and times', async () => {
    const body = {
      start_ns: '1',
      end_ns: '4000000000000000000',
      trace_id: 'guarded',
      name: 'my run',
      tags: ['a'],
      session_id: 'another',
      attributes: { team: 'x', 'guard.origin': 'y' },
      spans: [{ id: 'mine', name: 'policy.decision' }],
    }
    expecting(200, await bench.send('POST', '/api/v1/traces', body))
    const { run: summary, spans } = await run('guarded')
    assert.deepEqual(
      [summary.name, summary.tags, summary.session_id, summary.origin, summary.attributes],
      ['my run', ['a'], 'mcp-1', 'mcp', { team: 'x' }],
    )
    assert.ok(summary.start_ns > 1n && BigInt(summary.end_ns ?? 0) < 4_000_000_000_000_000_000n)
    assert.deepEqual(
      spans.map(({ id, owner }) => [id, owner]).slice(1),
      [
        ['mine', 'client'],
        ['own', 'mcp'],
      ].sort(([a]) => (a === 'own' ? 1 : -1)),
    )
  })
})

describe('names and tags that a user sets', () => {
  it('are cleaned and redacted like those of request bodies, and deduplicated', async () => {
    const tags = ['a\0\ud800', 'one@example.org', 'two@example.org']
    const sent = expecting<{ run: RunSummary }>(
      201,
      await bench.send('POST', '/api/v1/traces', { trace_id: 'odd', tags }),
    )
    const set = await bench.send('PATCH', '/api/v1/runs/odd', { name: '\udc00 \0', tags })
    const { run: summary } = expecting<{ run: RunSummary }>(200, set)
    assert.deepEqual([summary.name, summary.tags], ['\ufffd \ufffd', ['a\ufffd\ufffd', '[REDACTED:email]']])
    assert.deepEqual(sent.run.tags, summary.tags)
  })
})

describe('gateway.keep', () => {
  it('stores the fragments of several runs atomically', async () => {
    const fragment = (trace_id: string, id: string, end: bigint) => ({
      owner: 'client' as const,
      origin: 'api' as const,
      run: { trace_id },
      spans: [{ id, name: 'x', start_ns: NOW, end_ns: end }],
      events: [],
      artifacts: [],
    })
    await assert.rejects(bench.gateway.keep([fragment('two-a', 'a', NOW), fragment('two-b', 'b', NOW - 1n)]), {
      code: 'INVALID_TIME',
    })
    refused(404, 'RUN_NOT_FOUND', await bench.send('GET', '/api/v1/runs/two-a'))
    await bench.gateway.keep([fragment('two-a', 'a', NOW), fragment('two-b', 'b', NOW)])
    assert.equal((await run('two-b')).spans.length, 2)
  })

  it('applies plugins before redaction, and passes redacted fragments to watchers', async () => {
    const { hooks } = bench.gateway
    hooks.trace.tap('test', (fragment) => ({
      ...fragment,
      run: { ...fragment.run, attributes: { api_key: 'abc12345' } },
    }))
    const seen: unknown[] = []
    hooks.keep.tap('test', (fragments) => void seen.push(fragments[0]?.run.attributes))
    expecting(201, await bench.send('POST', '/api/v1/traces', { trace_id: 'amended' }))
    assert.deepEqual(seen, [{ api_key: '[REDACTED:name]' }])
    assert.deepEqual((await run('amended')).run.attributes, seen[0])
  })

  it('responds with 503 after repeated conflicts with other writers', async () => {
    const { storage } = bench.gateway
    const { write } = storage
    storage.write = () => Promise.resolve(false)
    refused(503, 'STORAGE_BUSY', await bench.send('POST', '/api/v1/traces', { trace_id: 'busy' }))
    storage.write = write
    expecting(201, await bench.send('POST', '/api/v1/traces', { trace_id: 'busy' }))
  })

  it('includes concurrent writes of another process', async () => {
    expecting(201, await bench.send('POST', '/api/v1/spans', { trace_id: 'shared', id: 'a', name: 'x' }))
    await bench.gateway.storage.patch('runs', 'shared', { revision: 7, name: 'theirs' })
    expecting(200, await bench.send('POST', '/api/v1/spans', { trace_id: 'shared', id: 'b', name: 'x' }))
    const { run: summary, spans } = await run('shared')
    assert.deepEqual([summary.name, summary.span_count, spans.length], ['theirs', 3, 3])
  })
})
