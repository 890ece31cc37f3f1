import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { GuardError } from 'guard-gateway/core'
import { json } from 'guard-gateway/plugins/export-formats/json'
import { buildSpanTree, type Trace } from '#lib/trace'
import { importFile } from '#lib/trace-file'
import { exportFormatConforms } from '../../conformance/export-format.ts'
import { exported, readBy } from '../../kit/exchange.ts'
import { assertsSchema } from '../../kit/schemas.ts'
import { anArtifact, anEvent, aSpan, aTrace, START, traces } from '../../kit/traces.ts'

exportFormatConforms(json)

const assertTraceV1 = assertsSchema('trace')

/** The trace again from its records as read, with what only the server sets taken from the original. */
const rebuilt = (trace: Trace): Trace => {
  const [read = assert.fail()] = readBy(json, exported(json, trace)).runs
  const spans = new Map(trace.spans.map((span) => [span.id, span]))
  const events = new Map([...trace.spans.flatMap((span) => span.events), ...trace.events].map((one) => [one.id, one]))
  const artifacts = new Map(trace.artifacts.map((artifact) => [artifact.id, artifact]))
  return buildSpanTree({ ...trace.run, ...read.run }, trace.spans[0]?.id ?? '', {
    spans: read.spans.map((span) => ({ ...aSpan(spans.get(span.id)), ...span })),
    events: read.events.map((event) => ({ ...anEvent(events.get(event.id ?? '')), ...event })),
    artifacts: read.artifacts.map((artifact) => ({ ...anArtifact(artifacts.get(artifact.id ?? '')), ...artifact })),
  })
}

const file = (over: object): string => JSON.stringify({ schema: 'trace.v1', run: { trace_id: 't' }, ...over }, null, 2)

const refusal = (text: string): GuardError => {
  try {
    readBy(json, text)
  } catch (error) {
    if (error instanceof GuardError) return error
    throw error
  }
  assert.fail('was not refused')
}

describe('json export', () => {
  it('is a trace.v1 bundle', () => {
    fc.assert(
      fc.property(traces, (trace) => assertTraceV1(JSON.parse(exported(json, trace)))),
      { seed: 21, numRuns: 100 },
    )
  })

  it('names generator and time, if given', () => {
    const generator = { name: 'guard-gateway', version: '1.2.3' }
    const exported_at = '2026-11-21T10:00:00Z'
    const bundle = JSON.parse(exported(json, aTrace(), { exported_at, generator }))
    assertTraceV1(bundle)
    assert.deepEqual([bundle.exported_at, bundle.generator, bundle.redacted], [exported_at, generator, true])
    assert.ok(!('exported_at' in JSON.parse(exported(json, aTrace()))))
  })

  it('writes spans depth first with their events, and the run’s events separately', () => {
    const trace = aTrace({
      spans: [aSpan({ id: 'b', start_ns: START + 2n }), aSpan({ id: 'c', parent_id: 'b' }), aSpan({ id: 'a' })],
      events: [anEvent({ id: 'e1', span_id: 'c' }), anEvent({ id: 'e2' })],
    })
    const bundle = JSON.parse(exported(json, trace))
    assert.deepEqual(
      bundle.spans.map((span: { id: string; parent_id: string | null }) => [span.id, span.parent_id]),
      [
        ['root', null],
        ['a', 'root'],
        ['b', 'root'],
        ['c', 'b'],
      ],
    )
    assert.equal(bundle.spans[3].events[0].id, 'e1')
    assert.equal(bundle.events[0].id, 'e2')
    assert.equal(bundle.run.id, bundle.run.trace_id)
  })

  it('writes nanoseconds with every digit', () => {
    assert.match(exported(json, aTrace()), /"start_ns":1782000000123456789,"end_ns":1782000000123457789/)
  })

  it('is the same text after import and export', () => {
    fc.assert(
      fc.property(traces, (trace) => {
        const settled = { ...trace, spans: trace.spans.map(({ declared_parent_id: _, ...span }) => span) }
        assert.equal(exported(json, rebuilt(settled)), exported(json, settled))
      }),
      { seed: 22, numRuns: 200 },
    )
  })
})

describe('json import', () => {
  it('needs a run id, and only a name for each record', () => {
    const text = '\uFEFF{"schema":"trace.v1","run":{"id":"t"},"spans":[{"id":"s","name":"n"}],"events":[{"name":"e"}]}'
    const { runs } = readBy(json, text)
    assert.deepEqual(runs, [
      {
        run: { trace_id: 't' },
        spans: [{ id: 's', name: 'n' }],
        events: [{ name: 'e', span_id: null }],
        artifacts: [],
      },
    ])
  })

  it('accepts nanoseconds as text or integer', () => {
    const span = { id: 's', name: 'n', start_ns: '1782000000123456789' }
    assert.equal(readBy(json, file({ spans: [span] })).runs[0]?.spans[0]?.start_ns, START)
    const text = file({ spans: [span] }).replace('"1782000000123456789"', '1782000000123456789')
    assert.equal(readBy(json, text).runs[0]?.spans[0]?.start_ns, START)
  })

  it('ignores fields that only the server sets', () => {
    const run = { trace_id: 't', pinned: true, recorded_ns: 1, origin: 'mcp', span_count: 9, cost_micro: 5 }
    const span = { id: 's', name: 'n', owner: 'gateway', kind: 'nonsense' }
    const [read] = readBy(json, file({ run, spans: [span] })).runs
    assert.deepEqual(read?.run, { trace_id: 't' })
    assert.deepEqual(read?.spans, [{ id: 's', name: 'n' }])
  })

  it('retains an explicit failure tag, and derives others', () => {
    const tagOf = (failure_tag_source?: string) =>
      readBy(json, file({ run: { trace_id: 't', failure_tag: 'loop', failure_tag_source } })).runs[0]?.run.failure_tag
    assert.deepEqual([tagOf('explicit'), tagOf(), tagOf('derived')], ['loop', 'loop', undefined])
  })

  it('puts a span with an unknown parent below the root, with a note', () => {
    const { runs, warnings } = readBy(
      json,
      file({ spans: [{ id: 's', name: 'n', parent_id: 'gone', attributes: { a: 1 } }] }),
    )
    assert.deepEqual(runs[0]?.spans[0], {
      id: 's',
      name: 'n',
      parent_id: null,
      attributes: { 'import.original_parent_id': 'gone', a: 1 },
    })
    assert.deepEqual(
      warnings.map(({ code, line, path }) => [code, line, path]),
      [['orphan_parent', 10, '/spans/0/parent_id']],
    )
  })

  const span = (over: object): object => ({
    spans: [
      { id: 'a', name: 'n' },
      { id: 'b', name: 'n', ...over },
    ],
  })
  const refused: readonly (readonly [
    what: string,
    text: string,
    code: string,
    line: number,
    path: string | undefined,
  ])[] = [
    ['a span id twice', file(span({ id: 'a' })), 'DUPLICATE_ID', 12, '/spans/1/id'],
    ['a span that is its own parent', file(span({ parent_id: 'b' })), 'PARENT_CYCLE', 14, '/spans/1/parent_id'],
    [
      'a circle of parents',
      file({
        spans: [
          { id: 'a', name: 'n', parent_id: 'b' },
          { id: 'b', name: 'n', parent_id: 'a' },
        ],
      }),
      'PARENT_CYCLE',
      10,
      '/spans/0/parent_id',
    ],
    ['an end before its start', file(span({ start_ns: 2, end_ns: 1 })), 'INVALID_TIME', 15, '/spans/1/end_ns'],
    ['a time below 0', file(span({ start_ns: -1 })), 'INVALID_TIME', 14, '/spans/1/start_ns'],
    ['a time that a double cannot hold', file(span({ start_ns: 1.5 })), 'INVALID_IMPORT', 14, '/spans/1/start_ns'],
    ['a schema of another version', file({ schema: 'trace.v2' }), 'UNKNOWN_SCHEMA', 2, '/schema'],
    ['no schema', '{\n"run": {"trace_id": "t"}}', 'UNKNOWN_SCHEMA', 1, ''],
    ['no run', '{"schema": "trace.v1"}', 'INVALID_IMPORT', 1, '/run'],
    ['a run without an id', file({ run: {} }), 'INVALID_IMPORT', 3, '/run'],
    ['an id with blanks', file({ run: { trace_id: 'a b' } }), 'INVALID_ID', 4, '/run/trace_id'],
    [
      'an unknown failure tag',
      file({ run: { trace_id: 't', failure_tag: 'x' } }),
      'INVALID_FAILURE_TAG',
      5,
      '/run/failure_tag',
    ],
    ['a span without a name', file({ spans: [{ id: 'a' }] }), 'INVALID_IMPORT', 7, '/spans/0'],
    ['spans that are no array', file({ spans: {} }), 'INVALID_IMPORT', 6, '/spans'],
    ['a span that is no object', file({ spans: [3] }), 'INVALID_IMPORT', 7, '/spans/0'],
    ['attributes that are no object', file(span({ attributes: [] })), 'INVALID_IMPORT', 14, '/spans/1/attributes'],
    ['a status that is no word', file(span({ status: 'Very Odd' })), 'INVALID_IMPORT', 14, '/spans/1/status'],
    ['an odd severity', file({ events: [{ name: 'e', severity: 'loud' }] }), 'INVALID_IMPORT', 9, '/events/0/severity'],
    ['an odd hash', file({ artifacts: [{ path: 'p', sha256: 'x' }] }), 'INVALID_IMPORT', 9, '/artifacts/0/sha256'],
    ['a size below 0', file({ artifacts: [{ path: 'p', size: -1 }] }), 'INVALID_IMPORT', 9, '/artifacts/0/size'],
    ['tags that are no strings', file({ run: { trace_id: 't', tags: [1] } }), 'INVALID_IMPORT', 5, '/run/tags'],
    [
      'an event id twice',
      file({
        events: [
          { id: 'e', name: 'e' },
          { id: 'e', name: 'e' },
        ],
      }),
      'DUPLICATE_ID',
      12,
      '/events/1/id',
    ],
    ['text behind the bundle', `${file({})}\n}`, 'INVALID_JSON', 7, undefined],
  ]
  for (const [what, text, code, line, path] of refused) {
    it(`rejects ${what}: ${code}`, () => {
      const error = refusal(text)
      assert.deepEqual([error.code, error.place.line, error.place.path], [code, line, path])
    })
  }

  for (const member of ['content', 'contents', 'data', 'body', 'base64']) {
    it(`rejects an artifact with ${member}`, () => {
      const error = refusal(file({ artifacts: [{ path: 'p', [member]: '' }] }))
      assert.deepEqual([error.code, error.place.path], ['ARTIFACT_CONTENT', `/artifacts/0/${member}`])
    })
  }

  it('does not accept other formats, but accepts damaged bundles', () => {
    const { accepts } = json
    assert.ok(accepts(importFile('{"run": {"trace_id": "t"}, "schema": "trace.v2", "spans": [{"a": "}]')))
    for (const text of [
      '{"type":"run","schema":"trace.v1"}',
      '{"resourceSpans":[]}',
      '[]',
      '',
      '{',
      '{"a"',
      '{"\\u12":1}',
    ]) {
      assert.ok(!accepts(importFile(text)), text)
    }
  })

  it('retains names that objects inherit', () => {
    const text = '{"schema":"trace.v1","run":{"trace_id":"t","attributes":{"__proto__":{"x":18446744073709551617}}}}'
    const attributes = readBy(json, text).runs[0]?.run.attributes
    assert.deepEqual(Object.keys(attributes ?? {}), ['__proto__'])
    assert.match(
      exported(json, aTrace({}, { attributes: attributes ?? {} })),
      /\{"__proto__":\{"x":18446744073709551617\}\}/,
    )
  })
})
