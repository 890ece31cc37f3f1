import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { derivedId } from '#lib/ids'
import type { TraceAnswer } from '../../../../plugins/replay/ingest/ingest.ts'
import { aSessionRow } from '../../../kit/settled.ts'
import { type Bench, type Bundle, expecting, refused, startReplay } from '../kit.ts'

const T0 = 1_780_000_000_000_000_001n
const at = (ns: number): string => String(T0 + BigInt(ns))

for (const backend of ['memory', 'sqlite'] as const) {
  describe(`POST /api/v1/traces on ${backend}`, () => {
    let bench: Bench
    before(async () => {
      bench = await startReplay({ backend })
    })
    after(() => bench.close())
    const post = (body: unknown, headers?: Record<string, string>) =>
      bench.send('POST', '/api/v1/traces', body, headers)
    const run = async (id: string): Promise<Bundle> => expecting(200, await bench.send('GET', `/api/v1/runs/${id}`))

    it('creates a run with a root and ids from an empty trace', async () => {
      const answer = expecting<TraceAnswer>(201, await post({}))
      assert.match(answer.trace_id, /^[0-9a-f]{32}$/)
      assert.equal(answer.url, `/replay/${answer.trace_id}`)
      const { run: summary, spans } = await run(answer.trace_id)
      assert.deepEqual(
        [summary.status, summary.project_id, summary.origin, summary.span_count, summary.duration_ns],
        ['ok', 'default', 'api', 1, 0],
      )
      assert.deepEqual(
        spans.map((span) => [span.name, span.parent_id, span.kind]),
        [['agent.run', null, 'agent']],
      )
    })

    it('accepts every session name that request headers accept', async () => {
      for (const label of ['night run', 'ночной №1', 'x'.repeat(512)]) {
        const id = derivedId('ses_', 'shop', label)
        const { run: early } = expecting<TraceAnswer>(201, await post({ project_id: 'shop', session_id: label }))
        assert.equal(early.session_id, id)
        await bench.gateway.storage.put('sessions', aSessionRow({ id, external_id: label }))
        const { run: late } = expecting<TraceAnswer>(201, await post({ project_id: 'shop', session_id: label }))
        assert.equal(late.session_id, id)
      }
      const { run: plain } = expecting<TraceAnswer>(201, await post({ session_id: 'night-run' }))
      assert.equal(plain.session_id, 'night-run')
      for (const label of ['', ' ', 'a\nb', 'x'.repeat(513), 7])
        assert.equal(refused(400, 'INVALID_ID', await post({ session_id: label })).path, '/session_id')
    })

    it('keeps ids that look like secrets under hashes, and finds them by what was sent', async () => {
      const suspect = 'test_0b6d8a52-7f0c-4d8e-9f57-1c2d3e4f5a6b'
      const span = {
        id: suspect,
        name: 'outer',
        spans: [{ name: 'inner' }],
        events: [{ name: 'e', request_id: suspect }],
      }
      const artifacts = [{ path: 'x', span_id: suspect }]
      const ids = { trace_id: suspect, session_id: suspect, task_id: suspect, project_id: suspect }
      expecting(201, await post({ ...ids, spans: [span], artifacts }))
      expecting(200, await post({ ...ids, spans: [{ name: 'more', parent_id: suspect }] }))
      const answer = await bench.send('GET', `/api/v1/runs/${suspect}`)
      assert.equal(answer.status, 200, answer.text)
      assert.ok(!answer.text.includes(suspect))
      const list = await bench.send('GET', `/api/v1/runs?session_id=${suspect}&project_id=${suspect}`)
      assert.equal(JSON.parse(list.text).runs?.length, 1, list.text)
    })

    it('stores nested spans below an implicit root, with exact nanoseconds', async () => {
      const body = {
        trace_id: 'nested',
        project_id: 'shop',
        task_id: 't-1',
        agent_name: 'builder',
        status: 'ok',
        spans: [
          {
            name: 'gen_ai.request',
            start_ns: at(0),
            end_ns: at(50),
            attributes: {
              'gen_ai.request.model': 'm-1',
              'gen_ai.usage.input_tokens': 7,
              'gen_ai.usage.output_tokens': 3,
            },
            spans: [{ name: 'tool.call', start_ns: at(10), end_ns: at(90), attributes: { 'tool.name': 'read_file' } }],
            events: [{ name: 'policy.decision', attributes: { decision: 'allow' } }],
          },
        ],
      }
      const answer = expecting<TraceAnswer>(201, await post(body))
      assert.equal(answer.span_ids.length, 2)
      const { run: summary, spans } = await run('nested')
      assert.deepEqual(
        spans.map((span) => [span.parent_id, span.name]),
        [
          [null, 'agent.run'],
          [spans[0]?.id, 'gen_ai.request'],
          [spans[1]?.id, 'tool.call'],
        ],
      )
      assert.deepEqual([spans[0]?.start_ns, spans[0]?.end_ns], [T0, T0 + 90n])
      assert.deepEqual([spans[1]?.kind, spans[1]?.label, spans[2]?.kind], ['model', 'm-1', 'tool'])
      assert.deepEqual(
        [summary.total_tokens, summary.span_count, summary.event_count, summary.duration_ns, summary.task_id],
        [10, 3, 1, 90, 't-1'],
      )
    })

    it('accepts an explicit root, also later', async () => {
      await post({ trace_id: 'late-root', spans: [{ id: 'a', name: 'tool.call', parent_id: 'root' }] })
      await post({ trace_id: 'late-root', spans: [{ id: 'root', name: 'agent.run', status: 'error' }] })
      const { run: summary, spans } = await run('late-root')
      assert.deepEqual(
        spans.map(({ id, parent_id }) => [id, parent_id]),
        [
          ['root', null],
          ['a', 'root'],
        ],
      )
      assert.deepEqual([summary.status, summary.span_count], ['error', 2])
    })

    it('changes nothing on a repeated request', async () => {
      const body = {
        trace_id: 'again',
        spans: [{ id: 's', name: 'command.exec', start_ns: at(0), events: [{ id: 'e', name: 'x', time_ns: at(1) }] }],
        artifacts: [{ id: 'f', path: 'a.txt', size: 5 }],
      }
      expecting(201, await post(body))
      const first = await run('again')
      const answer = expecting<TraceAnswer>(200, await post(body))
      assert.equal(answer.created, false)
      assert.deepEqual(await run('again'), first)
    })

    it('merges later fields: present ones replace, absent ones stay, attributes by key', async () => {
      await post({
        trace_id: 'm',
        name: 'first',
        spans: [{ id: 's', name: 'x', status: 'running', attributes: { a: 1, b: 2 } }],
      })
      assert.equal((await run('m')).run.status, 'running')
      assert.equal((await run('m')).run.end_ns, null)
      await post({
        trace_id: 'm',
        spans: [{ id: 's', name: 'x', status: 'error', end_ns: at(9), attributes: { b: 3 } }],
      })
      const { run: summary, spans } = await run('m')
      assert.deepEqual([summary.name, summary.status, summary.failure_tag], ['first', 'error', null])
      assert.deepEqual([spans[1]?.attributes, spans[1]?.end_ns], [{ a: 1, b: 3 }, T0 + 9n])
    })

    it('counts tokens once if an enclosing span repeats them', async () => {
      const use = (tokens: number) => ({ 'gen_ai.usage.input_tokens': tokens, 'guard.cost_micro': tokens })
      await post({
        trace_id: 'once',
        spans: [
          { id: 'out', name: 'gen_ai.chat', attributes: use(5) },
          { id: 'mid', parent_id: 'out', name: 'tool.call' },
          { id: 'in', parent_id: 'mid', name: 'gen_ai.request', attributes: use(7) },
          { id: 'other', name: 'gen_ai.request', attributes: use(100) },
        ],
      })
      const { run: summary } = await run('once')
      assert.deepEqual([summary.input_tokens, summary.cost_micro], [107, 107])
      await post({ trace_id: 'once', spans: [{ id: 'top', name: 'gen_ai.x', attributes: use(1000) }] })
      await post({ trace_id: 'once', spans: [{ id: 'out', parent_id: 'top', name: 'gen_ai.chat' }] })
      assert.equal((await run('once')).run.input_tokens, 107)
    })

    it('treats a span with a model as a model request, unless a known operation differs', async () => {
      const use = { 'gen_ai.request.model': 'm-1', 'gen_ai.usage.input_tokens': 3 }
      await post({
        trace_id: 'by-model',
        spans: [
          { name: 'ask the model', attributes: use },
          { name: 'tool.call', attributes: use },
          { name: 'whole task', attributes: { ...use, 'gen_ai.operation.name': 'invoke_agent' } },
          { name: 'plan', attributes: { ...use, 'gen_ai.operation.name': 'plan' } },
          { name: 'any', attributes: { ...use, 'gen_ai.operation.name': 'no such' } },
          { name: 'any', attributes: { 'gen_ai.operation.name': 'no such', 'gen_ai.tool.name': 'x' } },
          { name: 'any', attributes: { 'gen_ai.operation.name': 'no such' } },
        ],
      })
      const { run: summary, spans } = await run('by-model')
      assert.deepEqual(
        spans.slice(1).map(({ kind }) => kind),
        ['model', 'tool', 'agent', 'other', 'model', 'tool', 'other'],
      )
      // all but the tool: what wraps calls counts where no call inside is told
      assert.equal(summary.input_tokens, 12)
    })

    it('derives a failure tag, prefers an explicit one, and derives again on null', async () => {
      await post({ trace_id: 'tag', spans: [{ id: 's', name: 'x', status: 'timeout' }] })
      const derived = (await run('tag')).run
      assert.deepEqual([derived.failure_tag, derived.failure_tag_source], ['timeout', 'derived'])
      assert.deepEqual(derived.failure_evidence?.span_id, 's')
      await post({ trace_id: 'tag', failure_tag: 'loop' })
      assert.deepEqual((await run('tag')).run.failure_tag_source, 'explicit')
      await post({ trace_id: 'tag', failure_tag: null })
      assert.equal((await run('tag')).run.failure_tag, 'timeout')
      await post({ trace_id: 'tag', spans: [{ id: 's', name: 'x', status: 'ok' }] })
      assert.equal((await run('tag')).run.failure_tag, null)
    })

    it('redacts secrets everywhere, and reports truncation', async () => {
      const secret = `sk-ant-api03-${'aB3'.repeat(31)}AA`
      const answer = expecting<TraceAnswer>(
        201,
        await post({
          trace_id: 'secret',
          name: `run ${secret}`,
          attributes: { password: 'hunter2' },
          spans: [
            { name: 'x', status_message: secret, attributes: { note: `key ${secret}`, long: 'y'.repeat(9_000) } },
          ],
          events: [{ name: 'e', attributes: { authorization: 'Bearer abcdefghijklmnop' } }],
          artifacts: [{ path: `/tmp/${secret}` }],
        }),
      )
      const { text } = await bench.send('GET', '/api/v1/runs/secret')
      assert.ok(!text.includes('sk-ant') && !text.includes('hunter2') && !text.includes('abcdefghijklmnop'))
      assert.ok(text.includes('[REDACTED:'))
      assert.deepEqual(
        answer.warnings.map(({ code, path }) => [code, path]),
        [['value_truncated', '/spans/0/attributes/long']],
      )
    })

    it('reads a compressed body and the project header', async () => {
      const body = gzipSync(JSON.stringify({ trace_id: 'zipped' }))
      expecting(201, await post(body, { 'content-encoding': 'gzip', 'x-guard-project-id': 'by-header' }))
      assert.equal((await run('zipped')).run.project_id, 'by-header')
    })

    it('retains a member named __proto__ and large integers', async () => {
      const body =
        '{"trace_id":"proto","spans":[{"name":"x","attributes":{"__proto__":{"a":1},"big":9007199254740993}}]}'
      expecting(201, await post(body))
      const { text } = await bench.send('GET', '/api/v1/runs/proto')
      assert.ok(text.includes('"__proto__":{"a":1}') && text.includes('9007199254740993'))
    })

    it('handles concurrent requests without loss', async () => {
      await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          bench.send('POST', '/api/v1/spans', { trace_id: 'many', id: `s${index}`, name: 'tool.call' }),
        ),
      )
      const { run: summary, spans } = await run('many')
      assert.deepEqual([summary.span_count, spans.length], [21, 21])
    })
  })
}
