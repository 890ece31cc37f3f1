import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { jsonl } from 'guard-gateway/plugins/export-formats/jsonl'
import { otel } from 'guard-gateway/plugins/export-formats/otel'
import { otlpLines } from 'guard-gateway/plugins/import-formats/otlp-lines'
import { importFile } from '#lib/trace-file'
import { exported } from '../../kit/exchange.ts'
import { readImport, recording } from '../../kit/import-files.ts'
import { aTrace } from '../../kit/traces.ts'
import { assertTraced } from './traced.ts'

const lines = recording('trace-files')
  .split('\n')
  .filter((line) => line.startsWith('{"resourceSpans"'))
const read = (text: string) => readImport(otlpLines, text)
const accepts = (text: string) => otlpLines.accepts(importFile(text))

describe('a file of OTLP requests', () => {
  for (const [what, text] of [
    ['on lines', lines.join('\n')],
    ['on lines that Windows ended, with a mark in front', `\uFEFF${lines.join('\r\n')}\r\n`],
    ['one behind the other', lines.join('')],
    ['written with indentation', lines.map((line) => JSON.stringify(JSON.parse(line), null, 2)).join('\n')],
    [
      'with logs and metrics between them',
      [lines[0], '{"resourceLogs":[]}', '{"resourceMetrics":[{}]}', lines[1]].join('\n'),
    ],
    ['some of which were sent twice', [...lines, ...lines].join('\n')],
  ] as const)
    it(`is read ${what}`, () => {
      assert.ok(accepts(text))
      assertTraced(read(text))
    })

  it('warns of spans that were sent twice', () => {
    const { warnings } = read([...lines, ...lines].join('\n'))
    assert.match(
      warnings.find(({ code }) => code === 'duplicate_dropped')?.message ?? '',
      /^8 spans come more than once/,
    )
  })

  it('may hold own exports, which come back as they were', () => {
    const file = exported(otel, aTrace())
    const [one] = read(`${file}\n{"resourceSpans":[]}`).runs
    assert.equal(one?.run.trace_id, aTrace().run.trace_id)
    assert.deepEqual(one, otel.read?.(importFile(file)).runs[0])
  })

  it('is none if it is one request, or something else', () => {
    for (const text of [lines[0] ?? '', '', exported(jsonl, aTrace()), `[${lines.join(',')}]`])
      assert.ok(!accepts(text))
  })

  for (const [what, text, message] of [
    ['a last line that breaks off', lines.join('\n').slice(0, -50), /^Line 2, column \d+: expected/],
    ['text behind the last line', `${lines.join('\n')}\nend`, /^Line 3, column 1: expected/],
    [
      'a span without an id',
      `${lines[0]}\n${lines[1]?.replace('"spanId":"b', '"spanId":"x')}`,
      /^Line 2, \/resourceSpans\/0\/scopeSpans\/0\/spans\/0\/?\S*: "spanId" must be 16 hex digits/,
    ],
    [
      'two spans of one id',
      `${lines[0]}\n${lines[0]?.replaceAll('fix-bug', 'x').replaceAll('gpt-5.4', 'y')}`,
      /^Line 2, \/resourceSpans\/0\/scopeSpans\/0\/spans\/0: There are two records of kind span/,
    ],
    [
      'a span that ends before it starts',
      `{"resourceSpans":[]}\n{\n"resourceSpans":[{"scopeSpans":[{"spans":[\n${JSON.stringify({ traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), name: 'x', startTimeUnixNano: '5', endTimeUnixNano: '4' })}]}]}]}`,
      /^Line 4, \/resourceSpans\/0\/scopeSpans\/0\/spans\/0: It ends before it starts/,
    ],
    [
      'spans that are no list',
      '{"resourceSpans":[]}\n{"resourceSpans":[{"scopeSpans":[{"spans":{}}]}]}',
      /^Line 2, \/resourceSpans\/0\/scopeSpans\/0\/spans: "spans" must be an array/,
    ],
  ] as const)
    it(`is refused with its line for ${what}`, () => {
      assert.throws(() => read(text), { name: 'GuardError', message })
    })
})
