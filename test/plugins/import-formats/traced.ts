import assert from 'node:assert/strict'
import type { ImportReading } from '#lib/export-format'
import { writeJson } from '#lib/json'
import { spanFacts, spansIn } from '../../kit/import-files.ts'

/** Ids of the two runs that `test/exporters/program.mjs.txt` exports. */
export const TRACES = ['a1000000000000000000000000000002', 'a1000000000000000000000000000007'] as const

const T0 = BigInt(Date.UTC(2026, 0, 1)) * 1_000_000n

/** That a reading holds the runs of `test/exporters/program.mjs.txt`, whatever format they came in. */
export const assertTraced = (reading: ImportReading): void => {
  assert.deepEqual(
    reading.runs.map(({ run, spans, events }) => [run.trace_id, run.agent_name, run.session_id, spans, events]),
    TRACES.map((id) => [id, 'agent', 's-1', 4, 2]),
  )
  for (const run of [0, 1]) {
    const spans = spansIn(reading, run)
    const root = spans[0]
    const names = [
      'gen_ai.request.model',
      'gen_ai.usage.input_tokens',
      'gen_ai.usage.output_tokens',
      'gen_ai.tool.name',
    ]
    const model = {
      status: 'ok',
      name: 'chat gpt-5.4',
      'gen_ai.request.model': 'gpt-5.4',
      'gen_ai.usage.output_tokens': 20,
    }
    assert.deepEqual(
      spans.map((span) => spanFacts(span, ...names)),
      [
        { status: 'ok', name: 'fix-bug' },
        { ...model, 'gen_ai.usage.input_tokens': 100 },
        { status: 'error', name: 'execute_tool read_file', 'gen_ai.tool.name': 'read_file' },
        { ...model, 'gen_ai.usage.input_tokens': 150 },
      ],
    )
    assert.deepEqual(
      spans.map(({ start_ns = 0n, end_ns }) => [(start_ns - T0) / 1_000_000n, ((end_ns ?? 0n) - T0) / 1_000_000n]),
      [
        [0n, 500n],
        [10n, 210n],
        [220n, 250n],
        [260n, 460n],
      ],
    )
    assert.ok(spans.slice(1).every(({ parent_id }) => parent_id === root?.id))
    assert.deepEqual(
      spans.map(({ status_message }) => status_message ?? null),
      [null, null, 'ENOENT', null],
    )
  }
  assert.ok(!writeJson([...reading.records()]).includes('secret words'))
  assert.ok(reading.warnings.some(({ code }) => code === 'content_dropped'))
}
