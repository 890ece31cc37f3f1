import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { readJson } from 'guard-gateway/lib/json'
import { createGuard } from 'guard-gateway/sdk'
import { dialectOf } from '../kit/dialogue.ts'
import { errorOf, type Service, startService } from '../kit/service.ts'

interface Run {
  readonly trace_id: string
  readonly project_id: string
  readonly session_id: string | null
  readonly status: string
  readonly failure_tag: string | null
  readonly cost_micro: number
  readonly pinned: boolean
  readonly start_ns: bigint
  readonly duration_ns: bigint
  readonly attributes: Readonly<Record<string, unknown>>
}
interface Span {
  readonly id: string
  readonly name: string
  readonly status: string
  readonly start_ns: bigint | number
  readonly attributes: Readonly<Record<string, unknown>>
  readonly events: readonly { readonly name: string; readonly attributes: Readonly<Record<string, unknown>> }[]
}

const asked = async <T>(service: Service, status: number, method: string, path: string, body?: unknown): Promise<T> => {
  const answer = await service.request(method, path, body)
  assert.equal(answer.status, status, answer.text)
  return readJson(answer.text) as T
}
const read = (service: Service, trace_id: string): Promise<{ run: Run; spans: readonly Span[] }> =>
  asked(service, 200, 'GET', `/api/v1/runs/${trace_id}`)
const spansNamed = async (service: Service, trace_id: string, name: string): Promise<readonly Span[]> =>
  (await read(service, trace_id)).spans.filter((span) => span.name === name)

describe('4.4 replay: ingest', () => {
  it('POST /traces takes a trace with nested spans and events', async () => {
    await using service = await startService()
    const body = {
      trace_id: 'one',
      project_id: 'shop',
      task_id: 'T-1',
      agent_name: 'builder',
      status: 'ok',
      spans: [{ name: 'tool.call', start_ns: 1, end_ns: 2, attributes: {}, events: [{ name: 'tool.result' }] }],
    }
    const { created } = await asked<{ created: boolean }>(service, 201, 'POST', '/api/v1/traces', body)
    assert.equal(created, true)
    const [span] = await spansNamed(service, 'one', 'tool.call')
    assert.deepEqual(
      span?.events.map(({ name }) => name),
      ['tool.result'],
    )
  })
  it('POST /spans takes one span, POST /events/batch a batch of events', async () => {
    await using service = await startService()
    const span = { trace_id: 'one', id: 's1', name: 'command.exec' }
    await asked(service, 201, 'POST', '/api/v1/spans', span)
    const events = [{ trace_id: 'one', span_id: 's1', name: 'command.output' }]
    const answer = await asked<{ accepted: number }>(service, 200, 'POST', '/api/v1/events/batch', { events })
    assert.equal(answer.accepted, 1)
    const [stored] = await spansNamed(service, 'one', 'command.exec')
    assert.deepEqual(
      stored?.events.map(({ name }) => name),
      ['command.output'],
    )
  })
  it('1. omitted ids and timestamps are generated', async () => {
    await using service = await startService()
    const before = BigInt(Date.now()) * 1_000_000n
    const sent = { spans: [{ name: 'tool.call' }] }
    const { trace_id } = await asked<{ trace_id: string }>(service, 201, 'POST', '/api/v1/traces', sent)
    const [span] = await spansNamed(service, trace_id, 'tool.call')
    assert.match(trace_id, /^[0-9a-f]{32}$/)
    assert.match(span?.id ?? '', /^[0-9a-f]{16}$/)
    assert.ok(BigInt(span?.start_ns ?? 0) >= before)
  })
  it('2. a root agent.run is created', async () => {
    await using service = await startService()
    const { trace_id } = await asked<{ trace_id: string }>(service, 201, 'POST', '/api/v1/traces', {})
    assert.deepEqual(
      (await read(service, trace_id)).spans.map(({ name }) => name),
      ['agent.run'],
    )
  })
  it('3. times are nanoseconds and order spans by them; unrealistic ones are told', async () => {
    await using service = await startService()
    const spans = [
      { name: 'late', start_ns: '1790000000000000003', end_ns: '1790000000000000009' },
      { name: 'early', start_ns: '1790000000000000001' },
    ]
    await asked(service, 201, 'POST', '/api/v1/traces', { trace_id: 'timed', spans })
    const { run, spans: stored } = await read(service, 'timed')
    assert.deepEqual(
      stored.map(({ name }) => name),
      ['agent.run', 'early', 'late'],
    )
    assert.deepEqual([run.start_ns, BigInt(run.duration_ns)], [1_790_000_000_000_000_001n, 8n])
    const odd = { spans: [{ name: 'x', start_ns: 1_790_000_000 }] }
    const answer = await asked<{ warnings: { code: string }[] }>(service, 201, 'POST', '/api/v1/traces', odd)
    assert.equal(answer.warnings[0]?.code, 'unrealistic_time')
  })
  it('4. sensitive attributes are redacted before they are stored', async () => {
    await using service = await startService()
    const attributes = { password: 'correct-horse', note: 'Authorization: Bearer abcdefghijklmnop' }
    await asked(service, 201, 'POST', '/api/v1/spans', { trace_id: 'secret', name: 'tool.call', attributes })
    const { text } = await service.request('GET', '/api/v1/runs/secret')
    assert.doesNotMatch(text, /correct-horse|abcdefghijklmnop/)
    assert.match(text, /\[REDACTED:/)
  })
})

describe('4.4 replay: reading', () => {
  it('GET /runs lists with filters and pages; GET /runs/{trace_id} reads one', async () => {
    await using service = await startService()
    for (const [trace_id, project_id] of [
      ['a', 'shop'],
      ['b', 'shop'],
      ['c', 'blog'],
    ])
      await asked(service, 201, 'POST', '/api/v1/traces', { trace_id, project_id })
    type Page = { runs: readonly Run[]; next_cursor: string | null }
    const ids = ({ runs }: Page) => runs.map(({ trace_id }) => trace_id)
    assert.deepEqual(ids(await asked<Page>(service, 200, 'GET', '/api/v1/runs')), ['c', 'b', 'a'])
    const first = await asked<Page>(service, 200, 'GET', '/api/v1/runs?project_id=shop&limit=1')
    const cursor = encodeURIComponent(first.next_cursor ?? '')
    const path = `/api/v1/runs?project_id=shop&limit=1&cursor=${cursor}`
    const second = await asked<Page>(service, 200, 'GET', path)
    assert.deepEqual([ids(first), ids(second), second.next_cursor], [['b'], ['a'], null])
    assert.equal((await read(service, 'c')).run.project_id, 'blog')
    const none = await service.request('GET', '/api/v1/runs/nobody')
    assert.deepEqual([none.status, errorOf(none).code], [404, 'RUN_NOT_FOUND'])
  })
  it('POST /runs/{trace_id}/pin sets the pin state', async () => {
    await using service = await startService()
    await asked(service, 201, 'POST', '/api/v1/traces', { trace_id: 'one' })
    for (const pinned of [true, true, false]) {
      await asked(service, 200, 'POST', '/api/v1/runs/one/pin', { pinned })
      assert.equal((await read(service, 'one')).run.pinned, pinned)
    }
    for (const body of [{ pin: false }, { pinned: 'no' }, []]) {
      await asked(service, 400, 'POST', '/api/v1/runs/one/pin', body)
      assert.equal((await read(service, 'one')).run.pinned, false)
    }
    await asked(service, 200, 'POST', '/api/v1/runs/one/pin')
    assert.equal((await read(service, 'one')).run.pinned, true)
  })
  it('POST /compare gives deltas, and aligns spans by name and occurrence', async () => {
    await using service = await startService()
    const call = (end_ns: number, status = 'ok') => ({ name: 'tool.call', start_ns: 10, end_ns, status })
    await asked(service, 201, 'POST', '/api/v1/traces', { trace_id: 'l', spans: [call(12), call(13)] })
    await asked(service, 201, 'POST', '/api/v1/traces', { trace_id: 'r', spans: [call(12), call(20, 'error')] })
    const compared = await asked<{
      deltas: Record<string, number>
      spans: { key: string; status_changed: boolean; duration_delta_ns: number }[]
    }>(service, 200, 'POST', '/api/v1/compare', { left: 'l', right: 'r' })
    const { duration_ns, total_tokens, cost_micro, span_count, event_count } = compared.deltas
    assert.deepEqual([duration_ns, total_tokens, cost_micro, span_count, event_count], [7, 0, 0, 0, 0])
    const second = compared.spans.find(({ key }) => key === 'tool.call#2')
    assert.deepEqual([second?.status_changed, second?.duration_delta_ns], [true, 7])
  })
})

describe('4.4 replay: what follows from the records', () => {
  const tagged: readonly (readonly [tag: string, trace: object])[] = [
    ['loop', { events: [{ name: 'loop.detected' }] }],
    ['timeout', { spans: [{ name: 'tool.call', status: 'timeout' }] }],
    ['rate_limit', { events: [{ name: 'policy.decision', attributes: { decision: 'rate_limit' } }] }],
    ['policy_block', { events: [{ name: 'policy.decision', attributes: { decision: 'block' } }] }],
    ['test_failure', { spans: [{ name: 'command.exec', status: 'error', attributes: { command: 'npm test' } }] }],
  ]
  it('a failure tag that nobody gave is derived, the same way every time; a given one stays', async () => {
    await using service = await startService()
    for (const [tag, trace] of tagged) {
      for (const trace_id of [`${tag}-1`, `${tag}-2`]) {
        await asked(service, 201, 'POST', '/api/v1/traces', { trace_id, ...trace })
        assert.equal((await read(service, trace_id)).run.failure_tag, tag)
      }
      const given = { trace_id: `${tag}-given`, ...trace, failure_tag: 'timeout' }
      await asked(service, 201, 'POST', '/api/v1/traces', given)
      assert.equal((await read(service, `${tag}-given`)).run.failure_tag, 'timeout')
    }
  })
  it('cost comes from the price file in integer micro-units; a model that is not in it costs nothing', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'guard-prices-'))
    try {
      const file = join(folder, 'prices.yml')
      await writeFile(file, 'version: 1\ncurrency: USD\nmodels: { priced: { input: 3000000, output: 15000000 } }\n')
      await using service = await startService({ config: `replay: { pricing: ${JSON.stringify(file)} }` })
      const costOf = async (model: string): Promise<number> => {
        const usage = { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 }
        service.provider.script({ body: JSON.stringify({ id: 'chatcmpl-1', model, choices: [], usage }) })
        const chat = dialectOf('chat_completions')
        const { headers } = await service.send(chat, [{ user: 'x' }], { 'x-guard-session-id': model }, { model })
        return (await read(service, headers.get('x-guard-trace-id') ?? '')).run.cost_micro
      }
      assert.equal(await costOf('priced'), 3_000 + 1_500)
      assert.equal(await costOf('unpriced'), 0)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
  it('every model request creates or updates a trace', async () => {
    await using service = await startService()
    const ask = () => service.send(dialectOf('responses'), [{ user: 'hi' }], { 'x-guard-session-id': 'one' })
    const ids = [await ask(), await ask()].map(({ headers }) => headers.get('x-guard-trace-id') ?? '')
    assert.equal(ids[0], ids[1])
    assert.equal((await spansNamed(service, ids[0] ?? '', 'gen_ai.request')).length, 2)
  })
  it('SDK: nested spans arrive redacted; an exception marks span and trace, is recorded, and is thrown again', async () => {
    await using service = await startService()
    const guard = createGuard({ baseUrl: service.gateway.url, handleExit: false })
    const failing = guard.trace('repair', { traceId: 'f'.repeat(32) }, () =>
      guard.span('tool.call', { token: 'hunter2-and-more' }, () => {
        throw new RangeError('out of reach')
      }),
    )
    await assert.rejects(failing, RangeError)
    const { run, spans } = await read(service, 'f'.repeat(32))
    const span = spans.find(({ name }) => name === 'tool.call')
    assert.deepEqual([run.status, span?.status, span?.attributes.token], ['error', 'error', '[REDACTED:name]'])
    assert.ok(span?.events.some(({ name }) => name === 'exception'))
    await guard.close()
  })
})
