import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { jaeger } from 'guard-gateway/plugins/import-formats/jaeger'
import { readJson, writeJson } from '#lib/json'
import { importFile } from '#lib/trace-file'
import { readImport, spanFacts, spansIn } from '../../kit/import-files.ts'
import { assertTraced, TRACES } from './traced.ts'

const read = (text: string) => readImport(jaeger, text)
const T0 = Date.UTC(2026, 0, 1) * 1_000

const tags = (values: Readonly<Record<string, string | number | boolean>>) =>
  Object.entries(values).map(([key, value]) => ({
    key,
    type: typeof value === 'number' ? 'int64' : typeof value === 'boolean' ? 'bool' : 'string',
    value,
  }))

/** A span as Jaeger's query service gives it. */
const span = (
  traceID: string,
  spanID: string,
  parent: string | null,
  name: string,
  [start = 0, end = 0],
  values: Parameters<typeof tags>[0],
) => ({
  traceID,
  spanID,
  flags: 1,
  operationName: name,
  references: parent === null ? [] : [{ refType: 'CHILD_OF', traceID, spanID: parent }],
  startTime: T0 + start * 1_000,
  duration: (end - start) * 1_000,
  tags: tags({ 'otel.scope.name': 'agent-tracer', ...values }),
  logs: name.startsWith('chat')
    ? [{ timestamp: T0 + (start + 50) * 1_000, fields: tags({ event: 'first-token', 'chunk.index': 0 }) }]
    : [],
  processID: 'p1',
  warnings: null,
})

const traced = (traceID: string) => {
  const model = (id: string, start: number, input: number) =>
    span(traceID, id, '1', 'chat gpt-5.4', [start, start + 200], {
      'span.kind': 'client',
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'gpt-5.4',
      'gen_ai.usage.input_tokens': input,
      'gen_ai.usage.output_tokens': 20,
      'gen_ai.input.messages':
        'secret words of many people that nobody shall read, however long the text may be in the end',
    })
  return {
    traceID,
    spans: [
      span(traceID, '1', null, 'fix-bug', [0, 500], { 'session.id': 's-1' }),
      model('2', 10, 100),
      span(traceID, '3', '1', 'execute_tool read_file', [220, 250], {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'read_file',
        error: true,
        'otel.status_code': 'ERROR',
        'otel.status_description': 'ENOENT',
      }),
      model('4', 260, 150),
    ],
    processes: { p1: { serviceName: 'agent', tags: tags({ 'service.version': '1.2.3' }) } },
    warnings: null,
  }
}

const file = JSON.stringify({ data: TRACES.map(traced), total: 0, limit: 0, offset: 0, errors: null })

describe('a file of Jaeger', () => {
  it('is read as its interface gives it, and indented', () => {
    assertTraced(read(file))
    assertTraced(read(JSON.stringify(JSON.parse(file), null, 2)))
  })

  it('has short ids filled up, text that was a number, references to other traces as links', () => {
    const references = [{ refType: 'FOLLOWS_FROM', traceID: 'c', spanID: 'd' }]
    const typed = [{ key: 'gen_ai.usage.input_tokens', type: 'int64', value: '12' }]
    const one = { ...span('a', 'b', null, 'x', [0, 1], {}), references, tags: typed }
    const reading = read(JSON.stringify({ data: [{ traceID: 'a', spans: [one], processes: {} }] }))
    assert.equal(reading.runs[0]?.run.trace_id, 'a'.padStart(32, '0'))
    const [found = assert.fail()] = spansIn(reading)
    assert.deepEqual(readJson(writeJson(spanFacts(found, 'gen_ai.usage.input_tokens', 'otel.links'))), {
      name: 'x',
      status: 'ok',
      'gen_ai.usage.input_tokens': 12,
      'otel.links': [{ trace_id: 'c'.padStart(32, '0'), span_id: 'd'.padStart(16, '0'), attributes: {} }],
    })
  })

  it('is known by its beginning', () => {
    assert.ok(jaeger.accepts(importFile(file.slice(0, 300))))
    for (const text of ['', '{"data":[]}', '{"traceID":"a"}', '[{"traceID":"a"}]'])
      assert.ok(!jaeger.accepts(importFile(text)))
  })

  const broken = (more: object) =>
    JSON.stringify({
      data: [{ traceID: 'a', spans: [{ ...span('a', 'b', null, 'x', [0, 1], {}), ...more }], processes: {} }],
    })
  for (const [what, text, message] of [
    ['a cut file', file.slice(0, -40), /^Line 1, column \d+: expected/],
    [
      'an id that is none',
      broken({ spanID: 'xyz' }),
      /^Line 1, \/data\/0\/spans\/0\/spanID: "spanID" must be 1 to 16 hex digits/,
    ],
    ['an id that is too long', broken({ traceID: 'a'.repeat(33) }), /\/data\/0\/spans\/0\/traceID: "traceID" must be/],
    ['a negative duration', broken({ duration: -5 }), /^Line 1, \/data\/0\/spans\/0: It ends before it starts/],
    [
      'a time that is a text',
      broken({ startTime: '2026' }),
      /\/data\/0\/spans\/0\/startTime: "startTime" must be microseconds/,
    ],
    ['tags that are no list', broken({ tags: {} }), /\/data\/0\/spans\/0\/tags: "tags" must be an array/],
    ['spans that are no list', '{"data":[{"traceID":"a","spans":{}}]}', /\/data\/0\/spans: "spans" must be an array/],
    ['no span', '{"data":[{"traceID":"a","spans":[]}]}', /^Line 1: There is no span in the file/],
  ] as const)
    it(`is refused with its path for ${what}`, () => {
      assert.throws(() => read(text), { name: 'GuardError', message })
    })
})
