import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { zipkin } from 'guard-gateway/plugins/import-formats/zipkin'
import { importFile } from '#lib/trace-file'
import { readImport, recording, spanFacts, spansIn } from '../../kit/import-files.ts'
import { assertTraced } from './traced.ts'

const file =
  recording('trace-files')
    .split('\n')
    .find((line) => line.startsWith('[{"traceId"')) ?? ''
const read = (text: string) => readImport(zipkin, text)
const span = (more: object = {}) => ({ traceId: 'a1', id: 'b1', name: 'x', timestamp: 1_000, duration: 5, ...more })
const readSpans = (...spans: readonly object[]) => read(JSON.stringify(spans))

describe('a file of Zipkin', () => {
  it('is read as its exporter wrote it, and as a list of traces', () => {
    assertTraced(read(file))
    assertTraced(read(`[${file}]`))
  })

  it('has ids of 64 bits filled up, and a shared span in two', () => {
    const server = { kind: 'SERVER', shared: true, localEndpoint: { serviceName: 'server' } }
    const reading = readSpans(span({ kind: 'CLIENT' }), span(server), span({ id: 'b2', parentId: 'b1' }))
    assert.deepEqual(
      reading.runs.map(({ run, spans }) => [run.trace_id, spans]),
      [['a1'.padStart(32, '0'), 3]],
    )
    const [client, shared, child] = spansIn(reading)
    assert.deepEqual([client?.parent_id, shared?.parent_id, child?.parent_id], [null, client?.id, client?.id])
  })

  it('has the failures of other tracers', () => {
    const spans = spansIn(
      readSpans(
        span({ tags: { error: 'true' } }),
        span({ id: 'b2', tags: { error: '' } }),
        span({ id: 'b3', tags: { error: 'false' } }),
      ),
    )
    assert.deepEqual(
      spans.map((one) => spanFacts(one).status),
      ['error', 'error', 'ok'],
    )
  })

  it('is known by its beginning', () => {
    assert.ok(zipkin.accepts(importFile(file.slice(0, 200))))
    for (const text of ['', '[]', '{"traceId":"a"}', '[{"id":"a"}]']) assert.ok(!zipkin.accepts(importFile(text)), text)
  })

  for (const [what, text, message] of [
    ['a cut file', file.slice(0, -20), /^Line 1, column \d+: expected/],
    ['a span without an id', '[\n{"traceId":"a"}\n]', /^Line 2, \/0\/id: "id" must be 1 to 16 hex digits/],
    [
      'a time that is a text',
      JSON.stringify([span(), span({ id: 'b2', timestamp: 'now' })]),
      /^Line 1, \/1\/timestamp: "timestamp" must be microseconds/,
    ],
    ['a negative duration', JSON.stringify([span({ duration: -1 })]), /^Line 1, \/0: It ends before it starts/],
    [
      'two spans of one id',
      JSON.stringify([span(), span({ name: 'y' })]),
      /^Line 1, \/1: There are two records of kind span/,
    ],
    ['tags that are no object', JSON.stringify([span({ tags: [1] })]), /^Line 1, \/0\/tags: "tags" must be an object/],
  ] as const)
    it(`is refused with its line and path for ${what}`, () => {
      assert.throws(() => read(text), { name: 'GuardError', message })
    })
})
