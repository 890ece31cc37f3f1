import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { GuardError } from 'guard-gateway/core'
import { jsonl } from 'guard-gateway/plugins/export-formats/jsonl'
import { exportFormatConforms } from '../../conformance/export-format.ts'
import { exported, readBy } from '../../kit/exchange.ts'
import { assertsSchema } from '../../kit/schemas.ts'
import { anArtifact, anEvent, aSpan, aTrace, START, traces } from '../../kit/traces.ts'

exportFormatConforms(jsonl)

const assertLine = assertsSchema('jsonl')

const small = aTrace({
  spans: [aSpan({ id: 'a', start_ns: START + 1n, name: 'tool.call' })],
  events: [
    anEvent({ id: 'of-a', span_id: 'a' }),
    anEvent({ id: 'of-root', span_id: 'root' }),
    anEvent({ id: 'of-run' }),
  ],
  artifacts: [anArtifact({ span_id: 'a' })],
})

const refusal = (...lines: readonly string[]): GuardError => {
  try {
    readBy(jsonl, lines.join('\n'))
  } catch (error) {
    if (error instanceof GuardError) return error
    throw error
  }
  assert.fail('was not refused')
}

const runLine = '{"type":"run","schema":"trace.v1","trace_id":"t"}'
const spanLine = '{"type":"span","trace_id":"t","id":"s","name":"n"}'

describe('jsonl export', () => {
  it('has one record per line, valid by jsonl.v1', () => {
    fc.assert(
      fc.property(traces, (trace) => {
        const text = exported(jsonl, trace)
        assert.ok(text.endsWith('\n'))
        for (const line of text.slice(0, -1).split('\n')) assertLine(JSON.parse(line))
      }),
      { seed: 31, numRuns: 100 },
    )
  })

  it('begins with the run; events follow their span, then the run’s events and artifacts', () => {
    const lines = exported(jsonl, small)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.deepEqual(
      lines.map(({ type, id }) => [type, id]),
      [
        ['run', 'trace-1'],
        ['span', 'root'],
        ['event', 'of-root'],
        ['span', 'a'],
        ['event', 'of-a'],
        ['event', 'of-run'],
        ['artifact', 'art_1'],
      ],
    )
    assert.ok(lines.every(({ trace_id }) => trace_id === 'trace-1'))
  })
})

describe('jsonl import', () => {
  it('accepts lines in any order, CRLF, blank lines and a byte order mark', () => {
    const lines = exported(jsonl, small).trim().split('\n').reverse()
    const shuffled = readBy(jsonl, `\uFEFF\r\n${lines.join('\r\n\r\n')}`)
    const straight = readBy(jsonl, exported(jsonl, small))
    assert.deepEqual(shuffled.runs[0]?.run, straight.runs[0]?.run)
    assert.deepEqual(shuffled.runs[0]?.spans.toReversed(), straight.runs[0]?.spans)
    assert.deepEqual(shuffled.runs[0]?.events.toReversed(), straight.runs[0]?.events)
  })

  it('accepts several runs with mixed lines', () => {
    const other = runLine.replace('"t"', '"u"')
    const { runs } = readBy(jsonl, [spanLine, spanLine.replace('"t"', '"u"'), other, runLine].join('\n'))
    assert.deepEqual(
      runs.map(({ run, spans }) => [run.trace_id, spans.length]),
      [
        ['u', 1],
        ['t', 1],
      ],
    )
  })

  it('names the line of a span with an unknown parent', () => {
    const { warnings } = readBy(jsonl, [runLine, '', spanLine.replace('"n"', '"n","parent_id":"gone"')].join('\n'))
    assert.deepEqual(
      warnings.map(({ code, line, path }) => [code, line, path]),
      [['orphan_parent', 3, '/parent_id']],
    )
  })

  const refused: readonly (readonly [string, readonly string[], string, number])[] = [
    ['a record without its run', [runLine, spanLine.replace('"t"', '"x"')], 'INVALID_IMPORT', 2],
    ['a record without a trace id', [runLine, '{"type":"span","id":"s","name":"n"}'], 'INVALID_IMPORT', 2],
    ['a run in two lines', [runLine, spanLine, runLine], 'DUPLICATE_ID', 3],
    ['a span id twice', [spanLine, runLine, spanLine], 'DUPLICATE_ID', 3],
    ['a record of another type', [runLine, '{"type":"note","trace_id":"t"}'], 'INVALID_IMPORT', 2],
    ['a run of another version', [runLine.replace('v1', 'v9')], 'UNKNOWN_SCHEMA', 1],
    ['a line that is no object', [runLine, '[]'], 'INVALID_IMPORT', 2],
    ['a damaged line', [runLine, '', '{"type":"span",'], 'INVALID_JSON', 3],
    [
      'an artifact with its content',
      [runLine, '{"type":"artifact","trace_id":"t","path":"p","data":""}'],
      'ARTIFACT_CONTENT',
      2,
    ],
    ['a file without records', ['', ' '], 'INVALID_IMPORT', 1],
  ]
  for (const [what, lines, code, line] of refused) {
    it(`rejects ${what}: ${code} in line ${line}`, () => {
      const error = refusal(...lines)
      assert.deepEqual([error.code, error.place.line], [code, line])
    })
  }
})
