import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { langfuse } from 'guard-gateway/plugins/import-formats/langfuse'
import { writeJson } from '#lib/json'
import { importFile } from '#lib/trace-file'
import { readImport, recording, spanFacts, spansIn } from '../../kit/import-files.ts'

const read = (text: string) => readImport(langfuse, text)
const TRACE = 'a'.repeat(32)

/** Observations as `GET /api/public/traces/{id}` gives them. */
const observations = [
  {
    id: '1111111111111111',
    traceId: TRACE,
    type: 'SPAN',
    name: 'fix-bug',
    startTime: '2026-01-01T00:00:00.000Z',
    endTime: '2026-01-01T00:00:01.500Z',
    parentObservationId: null,
    level: 'DEFAULT',
    statusMessage: null,
  },
  {
    id: '2222222222222222',
    traceId: TRACE,
    type: 'GENERATION',
    name: 'answer',
    startTime: '2026-01-01T00:00:00.100Z',
    endTime: '2026-01-01T00:00:00.900Z',
    parentObservationId: '1111111111111111',
    model: 'gpt-5.4',
    input: [{ role: 'user', content: 'secret words' }],
    usageDetails: { input: 100, input_cached_tokens: 40, output: 20, total: 160 },
    costDetails: { input: 0.001, output: 0.002, total: 0.003 },
    level: 'DEFAULT',
  },
  {
    id: '3333333333333333',
    traceId: TRACE,
    type: 'TOOL',
    name: 'read_file',
    startTime: '2026-01-01T00:00:01.000Z',
    endTime: '2026-01-01T00:00:01.200Z',
    parentObservationId: '1111111111111111',
    level: 'ERROR',
    statusMessage: 'ENOENT',
  },
]
const trace = {
  id: TRACE,
  timestamp: '2026-01-01T00:00:00.000Z',
  name: 'Fix',
  sessionId: 's-1',
  tags: ['nightly'],
  input: 'secret words',
  totalCost: 0.003,
}

/** The same as blob storage has it. */
const exported = observations.map((row) =>
  Object.fromEntries(
    Object.entries({ ...row, sessionId: 's-1', traceName: 'Fix', tags: ['nightly'] }).map(([key, value]) => [
      key === 'model' ? 'provided_model_name' : key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      /Time$/.test(key) ? String(value).replace('T', ' ').replace('Z', '000') : value,
    ]),
  ),
)

describe('a file of Langfuse', () => {
  for (const [what, text] of [
    ['a trace of the API', JSON.stringify({ ...trace, observations })],
    ['a trace with its observations first', JSON.stringify({ observations, ...trace })],
    ['a trace of the interface', JSON.stringify({ trace, observations }, null, 2)],
    ['a list of traces', JSON.stringify([{ ...trace, observations }])],
    ['a JSON export', JSON.stringify(exported)],
    ['a JSONL export', exported.map((row) => JSON.stringify(row)).join('\n')],
    ['an answer with a list', JSON.stringify({ data: exported, meta: { page: 1 } })],
  ] as const)
    it(`is read: ${what}`, () => {
      assert.ok(langfuse.accepts(importFile(text)))
      const reading = read(text)
      assert.deepEqual(
        reading.runs.map(({ run, spans }) => [run.trace_id, run.session_id, run.name, run.tags, spans]),
        [[TRACE, 's-1', 'Fix', ['nightly'], 3]],
      )
      const spans = spansIn(reading)
      const names = [
        'gen_ai.request.model',
        'gen_ai.usage.input_tokens',
        'gen_ai.usage.output_tokens',
        'gen_ai.usage.cache_read.input_tokens',
      ]
      assert.deepEqual(
        spans.map((span) => ({ ...spanFacts(span, ...names), kind: span.kind, message: span.status_message ?? null })),
        [
          { name: 'fix-bug', status: 'ok', kind: undefined, message: null },
          {
            name: 'answer',
            status: 'ok',
            kind: 'model',
            message: null,
            'gen_ai.request.model': 'gpt-5.4',
            'gen_ai.usage.input_tokens': 140,
            'gen_ai.usage.output_tokens': 20,
            'gen_ai.usage.cache_read.input_tokens': 40,
          },
          { name: 'read_file', status: 'error', kind: 'tool', message: 'ENOENT' },
        ],
      )
      assert.deepEqual(
        spans.map(({ start_ns = 0n, end_ns }) => (end_ns ?? 0n) - start_ns),
        [1_500_000_000n, 800_000_000n, 200_000_000n],
      )
      assert.deepEqual(
        spans.map(({ parent_id }) => parent_id),
        [null, spans[0]?.id, spans[0]?.id],
      )
      assert.ok(!writeJson([...reading.records()]).includes('secret words'))
    })

  it('has ids of earlier versions hashed, alike every time', () => {
    const old = JSON.stringify([
      { id: 'o-1', traceId: 't-1', type: 'SPAN', startTime: '2026-01-01T00:00:00Z' },
      { id: 'o-2', traceId: 't-1', parentObservationId: 'o-1', type: 'EVENT', startTime: '2026-01-01T00:00:00Z' },
    ])
    const [parent, child] = spansIn(read(old))
    assert.equal(child?.parent_id, parent?.id)
    assert.deepEqual(read(old).runs, read(old).runs)
    assert.match(read(old).runs[0]?.run.trace_id ?? '', /^[0-9a-f]{32}$/)
  })

  const row = (more: object) => JSON.stringify([{ ...observations[0], ...more }])
  for (const [what, text, message] of [
    ['a cut file', JSON.stringify(exported).slice(0, -30), /^Line 1, column \d+: expected/],
    [
      'a cut line',
      exported
        .map((one) => JSON.stringify(one))
        .join('\n')
        .slice(0, -30),
      /^Line 3, column \d+: expected/,
    ],
    ['a row without an id', row({ id: null }), /^Line 1, \/0\/id: "id" must be a string/],
    ['a row without a trace', row({ traceId: null }), /^Line 1, \/0: "traceId" is missing/],
    [
      'traces alone',
      JSON.stringify([{ ...trace, traceId: null, type: 'SPAN' }]),
      /^Line 1, \/0: This is a trace without its observations/,
    ],
    ['a time that is none', row({ endTime: 'soon' }), /^Line 1, \/0\/endTime: "endTime" must be a time/],
    ['an end before the start', row({ endTime: '2025-01-01T00:00:00Z' }), /^Line 1, \/0: It ends before it starts/],
    [
      'observations that are no list',
      JSON.stringify({ ...trace, observations: {} }),
      /"observations" must be an array/,
    ],
    ['a row that is no object', '[1]', /^Line 1, \/0: There must be an object here/],
  ] as const)
    it(`is refused with its place for ${what}`, () => {
      assert.throws(() => read(text), { name: 'GuardError', message })
    })

  it('is none if it is of another program', () => {
    for (const text of [
      '',
      '{}',
      recording('trace-files')
        .split('\n')
        .find((line) => line.startsWith('[{"traceId"')) ?? '',
      '{"type":"SPAN"}',
    ])
      assert.ok(!langfuse.accepts(importFile(text)))
  })
})
