import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { RunSummary } from '#lib/trace-file'
import type { Comparison } from '../../../plugins/replay/read/compare.ts'
import type { RowsPage } from '../../../plugins/replay/read/rows.ts'
import { assertsSchema } from '../../kit/schemas.ts'
import { type Bench, type Bundle, expecting, refused, startReplay } from './kit.ts'

interface Page {
  readonly runs: readonly RunSummary[]
  readonly next_cursor: string | null
  readonly truncated: boolean
}

const MS = 1_000_000n

for (const backend of ['memory', 'sqlite'] as const) {
  describe(`runs on ${backend}`, () => {
    let bench: Bench
    let start: bigint
    before(async () => {
      bench = await startReplay({ backend })
      start = BigInt(bench.clock.now()) * MS
      const model = (name: string, tokens: number) => ({
        name: 'gen_ai.request',
        start_ns: String(start),
        end_ns: String(start + BigInt(tokens) * MS),
        attributes: {
          'gen_ai.request.model': name,
          'gen_ai.usage.input_tokens': tokens,
          'guard.cost_micro': tokens * 2,
        },
      })
      const post = (body: object) => bench.send('POST', '/api/v1/traces', body)
      await post({
        trace_id: 'one',
        project_id: 'shop',
        name: 'Nightly build',
        tags: ['ci', 'night shift'],
        spans: [model('m-1', 10)],
      })
      await post({
        trace_id: 'two',
        project_id: 'shop',
        agent_name: 'builder',
        status: 'error',
        spans: [model('m-2', 30)],
      })
      await post({
        trace_id: 'three',
        project_id: 'other',
        task_id: 't-9',
        status: 'running',
        start_ns: String(start - 60_000n * MS),
        spans: [{ name: 'tool.call', attributes: { 'tool.name': 'read_file' }, events: [{ name: 'agent.loop' }] }],
      })
    })
    after(() => bench.close())
    const list = async (query: string): Promise<readonly string[]> =>
      expecting<Page>(200, await bench.send('GET', `/api/v1/runs?${query}`)).runs.map(({ trace_id }) => trace_id)

    it('are listed newest first without totals and attributes', async () => {
      const page = expecting<Page>(200, await bench.send('GET', '/api/v1/runs'))
      assert.deepEqual(
        page.runs.map(({ trace_id }) => trace_id),
        ['three', 'two', 'one'],
      )
      assert.deepEqual([page.next_cursor, page.truncated], [null, false])
      assert.ok(!('attributes' in (page.runs[0] ?? {})))
    })

    const filters: readonly (readonly [query: string, found: readonly string[]])[] = [
      ['project_id=shop', ['two', 'one']],
      ['agent_name=builder', ['two']],
      ['task_id=t-9', ['three']],
      ['origin=api&project_id=other', ['three']],
      ['status=error', ['two']],
      ['status=error,running', ['three', 'two']],
      ['failure_tag=loop', ['three']],
      ['failure_tag=any', ['three']],
      ['failure_tag=none', ['two', 'one']],
      ['failure_tag=loop,timeout', ['three']],
      ['tag=ci&tag=night%20shift', ['one']],
      ['tag=ci&tag=absent', []],
      ['model=m-2', ['two']],
      ['tool=read_file', ['three']],
      ['pinned=false&status=ok', ['one']],
      ['pinned=true', []],
      ['q=nightly', ['one']],
      ['q=night*%20build', ['one']],
      ['q=loop', ['three']],
      ['q=read_file', ['three']],
      ['q=file', ['three']],
      ['q=three', ['three']],
      ['q=absent', []],
      ['since=30s', ['two', 'one']],
      ['since=0001-01-01&until=9999-12-31', ['three', 'two', 'one']],
      ['since=9999999999999999999', []],
      ['min_duration_ms=30', ['two']],
      ['max_duration_ms=10', ['one']],
      ['min_duration_ms=10&max_duration_ms=10', ['one']],
      ['min_cost_micro=60', ['two']],
      ['min_tokens=10', ['two', 'one']],
      ['sort=tokens', ['two', 'one', 'three']],
      ['sort=cost&order=asc', ['three', 'one', 'two']],
      ['sort=duration', ['two', 'one', 'three']],
      ['sort=start&order=asc&project_id=other', ['three']],
      ['sort=recorded&order=asc', ['one', 'two', 'three']],
      ['q=&status=&limit=1', ['three']],
    ]
    for (const [query, found] of filters)
      it(`are found by ${query}`, async () => assert.deepEqual(await list(query), found))

    it('are found by time, as an age, nanoseconds and RFC 3339', async () => {
      const day = new Date(bench.clock.now()).toISOString()
      assert.deepEqual(await list(`since=${day}`), ['two', 'one'])
      assert.deepEqual(await list(`until=${start}`), ['three'])
      assert.deepEqual(await list(`until=${start + 1n}&since=${start}`), ['two', 'one'])
    })

    it('are paged without repeats while new ones arrive', async () => {
      const first = expecting<Page>(200, await bench.send('GET', '/api/v1/runs?limit=2&project_id=shop'))
      assert.equal(first.next_cursor, null)
      const some = expecting<Page>(200, await bench.send('GET', '/api/v1/runs?limit=2'))
      await bench.send('POST', '/api/v1/traces', { trace_id: 'late' })
      assert.deepEqual(await list('max_duration_ms=0'), ['late'])
      const rest = await list(`limit=2&cursor=${some.next_cursor}`)
      assert.deepEqual([...some.runs.map(({ trace_id }) => trace_id), ...rest], ['three', 'two', 'one'])
      const foreign = await bench.send('GET', `/api/v1/runs?limit=2&status=ok&cursor=${some.next_cursor}`)
      refused(400, 'INVALID_CURSOR', foreign)
      bench.clock.jump(1_000)
      const aged = expecting<Page>(200, await bench.send('GET', '/api/v1/runs?limit=1&since=1h&project_id=shop'))
      bench.clock.jump(-1_000)
      assert.deepEqual(await list(`limit=1&since=1h&project_id=shop&cursor=${aged.next_cursor}`), ['one'])
    })

    it('reject an unknown status with the known ones', async () => {
      const error = refused(400, 'INVALID_FILTER', await bench.send('GET', '/api/v1/runs?status=ok,nonsense'))
      assert.equal(error.path, '/status')
      assert.match(error.message, /"nonsense"; there is running, ok, error, cancelled, timeout, blocked/)
      assert.deepEqual(await list('status=blocked'), [])
      await bench.gateway.storage.patch('runs', 'one', { status: 'paused' })
      assert.deepEqual(await list('status=paused'), ['one'])
      assert.match((await bench.send('GET', '/api/v1/runs?status=pausd')).text, /timeout, blocked, paused\./)
      await bench.gateway.storage.patch('runs', 'one', { status: 'ok' })
    })

    it('reject unknown filters and invalid values', async () => {
      assert.ok(refused(400, 'UNKNOWN_FILTER', await bench.send('GET', '/api/v1/runs?color=red')).known?.includes('q'))
      for (const query of [
        'limit=0',
        'limit=201',
        'since=soon',
        'since=2026-02-31',
        'pinned=x',
        'sort=name',
        'order=up',
        'failure_tag=sad',
        'q=-',
        'min_tokens=-1',
        'status=a&status=b',
      ])
        refused(400, 'INVALID_FILTER', await bench.send('GET', `/api/v1/runs?${query}`))
    })

    it('are returned whole, as the schema describes', async () => {
      const bundle = expecting<Bundle>(200, await bench.send('GET', '/api/v1/runs/three'))
      assertsSchema('trace')(JSON.parse((await bench.send('GET', '/api/v1/runs/three')).text))
      assert.deepEqual([bundle.schema, bundle.spans.length, bundle.run.status], ['trace.v1', 2, 'running'])
      refused(404, 'RUN_NOT_FOUND', await bench.send('GET', '/api/v1/runs/absent'))
    })

    it('are exported in each format, under a safe file name', async () => {
      await bench.send('POST', '/api/v1/traces', { trace_id: 'a/b:c' })
      const path = `/api/v1/runs/${encodeURIComponent('a/b:c')}/export`
      for (const [format, name] of [
        ['json', 'a_b_c.json'],
        ['jsonl', 'a_b_c.jsonl'],
        ['otel', 'a_b_c.otel.json'],
      ]) {
        const { status, headers } = await bench.send('GET', `${path}?format=${format}`)
        assert.deepEqual([status, headers['content-disposition']], [200, `attachment; filename="${name}"`])
      }
      assert.deepEqual(refused(400, 'UNKNOWN_FORMAT', await bench.send('GET', `${path}?format=xml`)).known, [
        'json',
        'jsonl',
        'otel',
      ])
    })

    it('are paged as tree rows', async () => {
      const page = expecting<RowsPage>(200, await bench.send('GET', '/api/v1/runs/one/rows?limit=1'))
      assert.deepEqual([page.next, page.rows[0]?.slice(1, 5)], [1, [0, 'agent.run', 1, null]])
      const next = expecting<RowsPage>(200, await bench.send('GET', '/api/v1/runs/one/rows?after=1'))
      assert.deepEqual([next.next, next.rows[0]?.slice(1, 6)], [null, [1, 'gen_ai.request', 1, 'm-1', 'model']])
      for (const odd of ['rows?after=x', 'rows?limit=0', 'export?format=otel&names=other'])
        refused(400, 'INVALID_FILTER', await bench.send('GET', `/api/v1/runs/one/${odd}`))
    })

    it('are compared', async () => {
      const body = { trace_ids: ['one', 'two'] }
      const comparison = expecting<Comparison>(200, await bench.send('POST', '/api/v1/compare', body))
      assert.deepEqual([comparison.deltas.total_tokens, comparison.summary.both], [20, 2])
      expecting(200, await bench.send('POST', '/api/v1/compare', { left: 'one', right: 'one', align: 'label' }))
      const absent = await bench.send('POST', '/api/v1/compare', { left: 'one', right: 'absent' })
      assert.match(refused(404, 'RUN_NOT_FOUND', absent).message, /absent/)
      for (const odd of [
        {},
        { left: 'one' },
        { trace_ids: ['a', 'b', 'c'] },
        { left: 'one', right: 'two', align: 'x' },
      ])
        refused(400, 'INVALID_COMPARE', await bench.send('POST', '/api/v1/compare', odd))
    })

    it('are pinned and unpinned', async () => {
      const pin = async (body?: unknown) => expecting(200, await bench.send('POST', '/api/v1/runs/one/pin', body))
      assert.deepEqual(await pin(), { trace_id: 'one', pinned: true })
      assert.deepEqual(await pin({ pinned: true }), { trace_id: 'one', pinned: true })
      assert.deepEqual(await list('pinned=true'), ['one'])
      assert.deepEqual(await pin({ pinned: false }), { trace_id: 'one', pinned: false })
      assert.deepEqual(await list('pinned=true'), [])
      const typed = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '0' }
      const { status } = await bench.send('POST', '/api/v1/runs/one/pin', undefined, typed)
      assert.equal(status, 200)
      await pin({ pinned: false })
      refused(404, 'RUN_NOT_FOUND', await bench.send('POST', '/api/v1/runs/absent/pin'))
      refused(400, 'INVALID_TRACE', await bench.send('POST', '/api/v1/runs/one/pin', { pinned: 'yes' }))
    })

    it('are changed by users', async () => {
      const patch = (body: unknown) => bench.send('PATCH', '/api/v1/runs/two', body)
      const body = { name: 'Renamed', tags: [' red ', 'red', 'blue'], failure_tag: 'timeout', pinned: true }
      const { run } = expecting<{ run: RunSummary }>(200, await patch(body))
      assert.deepEqual(
        [run.name, run.tags, run.failure_tag, run.failure_tag_source, run.pinned],
        ['Renamed', ['red', 'blue'], 'timeout', 'explicit', true],
      )
      assert.deepEqual(await list('tag=blue&q=renamed'), ['two'])
      expecting(200, await patch({ tags: ['red'], failure_tag: null }))
      assert.deepEqual(
        [await list('tag=blue'), await list('tag=red'), await list('failure_tag=timeout')],
        [[], ['two'], []],
      )
      refused(400, 'INVALID_TRACE', await patch({ status: 'ok' }))
      refused(400, 'INVALID_TRACE', await patch({ tags: [''] }))
      refused(400, 'INVALID_FAILURE_TAG', await patch({ failure_tag: 'sad' }))
    })
  })
}
