import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { ImportAnswer } from '../../../../plugins/replay/import/import.ts'
import { type Bench, type Bundle, expecting, refused, startReplay } from '../kit.ts'

const T0 = 1_780_000_000_000_000_001n

let bench: Bench
before(async () => {
  bench = await startReplay()
  const span = (id: string, parent_id: string | null, ns: bigint) => ({
    id,
    parent_id,
    name: 'tool.call',
    start_ns: String(T0 + ns),
    end_ns: String(T0 + ns + 5n),
    attributes: { 'tool.name': id, n: 1 },
    events: [{ id: `e-${id}`, name: 'tool.result', time_ns: String(T0 + ns + 1n) }],
  })
  const body = {
    trace_id: 'original',
    project_id: 'shop',
    status: 'ok',
    name: 'A run',
    tags: ['x'],
    spans: [span('a', null, 0n), span('b', 'a', 2n)],
    events: [{ id: 'own', name: 'file.change', time_ns: String(T0) }],
    artifacts: [{ id: 'f', span_id: 'b', path: 'a.txt', size: 3 }],
  }
  expecting(201, await bench.send('POST', '/api/v1/traces', body))
  await bench.send('POST', '/api/v1/runs/original/pin')
})
after(() => bench.close())

const exported = async (id: string, format: string): Promise<string> =>
  (await bench.send('GET', `/api/v1/runs/${id}/export?format=${format}`)).text
const send = (file: string | Buffer, query = '', headers: Record<string, string> = {}) =>
  bench.send('POST', `/api/v1/runs/import${query}`, file, { 'content-type': 'application/octet-stream', ...headers })
const run = async (id: string | undefined): Promise<Bundle> =>
  expecting(200, await bench.send('GET', `/api/v1/runs/${id}`))

/** A run without the fields that an import reassigns. */
const content = ({ run: { attributes, ...summary }, spans, events, artifacts }: Bundle) => {
  const places = new Map(spans.map(({ id }, index) => [id, index]))
  const place = (id: string | null) => (id === null ? null : places.get(id))
  const { name, status, start_ns, end_ns, total_tokens, span_count, event_count, artifact_count, tags } = summary
  return {
    run: { name, status, start_ns, end_ns, total_tokens, span_count, event_count, artifact_count, tags },
    spans: spans.map(({ name, kind, label, status, start_ns, end_ns, parent_id, events }) => [
      name,
      kind,
      label,
      status,
      start_ns,
      end_ns,
      place(parent_id),
      events.map(({ name, time_ns }) => [name, time_ns]),
    ]),
    events: events.map(({ name, time_ns }) => [name, time_ns]),
    artifacts: artifacts.map(({ path, size, span_id }) => [path, size, place(span_id)]),
  }
}

describe('POST /api/v1/runs/import', () => {
  for (const format of ['json', 'jsonl', 'otel'])
    it(`restores an export in the format ${format}, under new ids`, async () => {
      const before = await run('original')
      const { imported } = expecting<ImportAnswer>(201, await send(await exported('original', format)))
      const [one] = imported
      assert.deepEqual([one?.remapped, one?.source_trace_id], [true, 'original'])
      const after = await run(one?.trace_id)
      assert.deepEqual(content(after), content(before))
      assert.deepEqual(await run('original'), before)
      assert.deepEqual(
        [after.run.origin, after.run.pinned, after.run.source_trace_id !== null],
        ['import', false, true],
      )
      assert.ok(after.spans.every(({ id, owner }) => owner === 'client' && before.spans.every((old) => old.id !== id)))
    })

  it('retains free ids, and names an identical run', async () => {
    const file = (await exported('original', 'json')).replaceAll('"original"', '"elsewhere"')
    const [first] = expecting<ImportAnswer>(201, await send(file, '?project_id=mine')).imported
    assert.deepEqual([first?.trace_id, first?.remapped], ['elsewhere', false])
    const { run: summary, spans } = await run('elsewhere')
    assert.deepEqual([summary.project_id, spans.map(({ id }) => id).slice(1)], ['mine', ['a', 'b']])
    const [second] = expecting<ImportAnswer>(201, await send(file)).imported
    assert.ok(typeof second?.identical_to === 'string' && second.identical_to !== second.trace_id)
  })

  for (const id of ['.', '..', 'import', 'compare'])
    it(`assigns another id to a run without a valid page address: ${id}`, async () => {
      const file = JSON.stringify({ schema: 'trace.v1', run: { trace_id: id } })
      const [one] = expecting<ImportAnswer>(201, await send(file, '?on_conflict=fail')).imported
      assert.deepEqual([one?.remapped, one?.source_trace_id], [true, id])
      assert.equal((await run(one?.trace_id)).run.source_trace_id, id)
    })

  it('skips or fails on request', async () => {
    const file = await exported('original', 'jsonl')
    const { imported, skipped } = expecting<ImportAnswer>(200, await send(file, '?on_conflict=skip'))
    assert.deepEqual([imported, skipped], [[], [{ source_trace_id: 'original', existing_trace_id: 'original' }]])
    refused(409, 'TRACE_EXISTS', await send(file, '?on_conflict=fail'))
    refused(400, 'INVALID_FILTER', await send(file, '?on_conflict=x'))
    refused(400, 'UNKNOWN_FILTER', await send(file, '?mode=x'))
    refused(400, 'INVALID_ID', await send(file, '?project_id=a%20b'))
  })

  it('imports several runs of a file atomically', async () => {
    const line = (trace_id: string, more: object = {}) =>
      `${JSON.stringify({ type: 'run', schema: 'trace.v1', trace_id, ...more })}\n`
    const span = (trace_id: string, end: string) =>
      `${JSON.stringify({ type: 'span', trace_id, id: 's', name: 'x', start_ns: '10', end_ns: end })}\r\n\n`
    const answer = expecting<ImportAnswer>(201, await send(`\uFEFF${span('p', '11')}${line('p')}${line('q')}`))
    assert.deepEqual(
      answer.imported.map(({ trace_id, spans }) => [trace_id, spans]),
      [
        ['p', 1],
        ['q', 0],
      ],
    )
    refused(400, 'INVALID_TIME', await send(`${line('r')}${span('t', '1')}${line('t')}`))
    refused(404, 'RUN_NOT_FOUND', await bench.send('GET', '/api/v1/runs/r'))
  })

  it('redacts secrets, derives derived fields, and retains explicit ones', async () => {
    const secret = `sk-ant-api03-${'aB3'.repeat(31)}AA`
    const file = {
      schema: 'trace.v1',
      run: {
        trace_id: 'told',
        status: 'error',
        failure_tag: 'loop',
        failure_tag_source: 'derived',
        pinned: true,
        total_tokens: 9,
      },
      spans: [{ id: 's', name: 'x', status: 'timeout', attributes: { note: secret } }],
    }
    expecting(201, await send(JSON.stringify(file)))
    const { run: summary, spans } = await run('told')
    assert.deepEqual([summary.failure_tag, summary.total_tokens, summary.pinned], ['timeout', 0, false])
    assert.ok(!JSON.stringify(spans.map(({ attributes }) => attributes)).includes('sk-ant'))
  })

  it('rejects a secret as an id or project', async () => {
    const secret = `sk-ant-api03-${'aB3'.repeat(31)}AA`
    const file = { schema: 'trace.v1', run: { trace_id: 'secret-ids' } }
    refused(400, 'INVALID_ID', await send(JSON.stringify(file), `?project_id=${secret}`))
    for (const more of [
      { events: [{ name: 'x', request_id: secret }] },
      { events: [{ name: 'x', span_id: secret }] },
      { artifacts: [{ path: 'x', span_id: secret }] },
    ])
      refused(400, 'INVALID_ID', await send(JSON.stringify({ ...file, ...more })))
    refused(404, 'RUN_NOT_FOUND', await bench.send('GET', '/api/v1/runs/secret-ids'))
  })

  it('keeps ids that look like secrets under hashes', async () => {
    const suspect = 'test_0b6d8a52-7f0c-4d8e-9f57-1c2d3e4f5a6b'
    const file = {
      schema: 'trace.v1',
      run: { trace_id: suspect, session_id: suspect, project_id: suspect },
      spans: [
        { id: suspect, name: 'outer', start_ns: '1780000000000000001' },
        { id: 'inner', parent_id: suspect, name: 'inner', start_ns: '1780000000000000001' },
      ],
      events: [{ name: 'x', span_id: suspect, request_id: suspect, time_ns: '1780000000000000001' }],
    }
    expecting(201, await send(JSON.stringify(file)))
    const { status, text } = await bench.send('GET', `/api/v1/runs/${suspect}`)
    assert.equal(status, 200)
    assert.ok(text.includes('"inner"') && !text.includes(suspect))
  })

  it('accepts a compressed file', async () => {
    const file = gzipSync(await exported('original', 'json'))
    expecting(201, await send(file, '', { 'content-encoding': 'gzip' }))
  })

  it('rejects other files, with line and code', async () => {
    refused(400, 'INVALID_IMPORT', await send('hello'))
    refused(400, 'INVALID_IMPORT', await send(Buffer.from([0xff, 0xfe, 0xfd])))
    refused(400, 'INVALID_IMPORT', await bench.send('POST', '/api/v1/runs/import'))
    refused(400, 'UNKNOWN_SCHEMA', await send('{"schema":"trace.v9","run":{"trace_id":"x"}}'))
    refused(
      400,
      'INVALID_ID',
      await send(`{"schema":"trace.v1","run":{"trace_id":"sk-ant-api03-${'aB3'.repeat(31)}AA"}}`),
    )
    const line = refused(400, 'INVALID_JSON', await send('{"type":"run","schema":"trace.v1","trace_id":"x"}\n{"type":'))
    assert.equal(line.line, 2)
  })
})
