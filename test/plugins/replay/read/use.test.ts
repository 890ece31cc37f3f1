import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TraceSpan } from '#lib/trace'
import { buildSpanTree } from '#lib/trace'
import { countedSpans } from '../../../../plugins/replay/read/counted-spans.ts'
import { addUse, mergeUse, percentile, type Use } from '../../../../plugins/replay/read/use.ts'
import { useRows } from '../../../../plugins/replay/read/use-rows.ts'
import { aRun, aSpan, aTrace, START } from '../../../kit/traces.ts'

const span = (id: string, kind: TraceSpan['kind'], label: string | null, more: Partial<TraceSpan> = {}): TraceSpan =>
  aSpan({ id, kind, label, name: kind, parent_id: 'root', end_ns: START + 10n, ...more })

const countedIn = (...spans: readonly TraceSpan[]): readonly string[] =>
  countedSpans(aTrace({ spans }).spans).map(({ id }) => id)

describe('calls of a run', () => {
  it('are counted once where spans of one call are nested', () => {
    const model = span('m', 'model', 'gpt')
    assert.deepEqual(countedIn(model, span('inner', 'model', 'other', { parent_id: 'm' })), ['inner'])
    const tool = span('t', 'tool', 'read_file')
    assert.deepEqual(countedIn(tool, span('proxied', 'tool', 'read_file', { parent_id: 't' })), ['proxied'])
    const below = span('s', 'other', null, { parent_id: 't' })
    assert.deepEqual(countedIn(tool, below, span('deep', 'tool', 'read_file', { parent_id: 's' })), ['deep'])
    assert.deepEqual(countedIn(tool, span('bash', 'tool', 'bash', { parent_id: 't' })), ['t', 'bash'])
    assert.deepEqual(countedIn(model, tool, span('m2', 'model', 'gpt')), ['m', 't', 'm2'])
  })

  it('are counted in linear time, flat or nested', () => {
    const flat = Array.from({ length: 30_000 }, (_, at) => span(`s${at}`, 'tool', `tool ${at}`))
    const deep = flat.map((one, at): TraceSpan => ({ ...one, parent_id: at === 0 ? 'root' : `s${at - 1}` }))
    for (const spans of [flat, deep]) {
      const tree = buildSpanTree(aRun(), 'root', { spans: [aSpan(), ...spans], events: [], artifacts: [] })
      assert.equal(countedSpans(tree.spans).length, 30_000)
    }
  })
})

describe('use by model and tool', () => {
  it('sums calls, errors, tokens and cost, and keeps known durations', () => {
    const table = new Map<string, Use>()
    const attributes = { 'gen_ai.usage.cache_read.input_tokens': 4 }
    const use = { input_tokens: 10n, output_tokens: 2n, cost_micro: 7n, attributes }
    const none = { tokens: 0, input_tokens: 0, cached_tokens: 0, cost_micro: 0 }
    addUse(
      table,
      aTrace({
        spans: [
          span('1', 'model', 'gpt', use),
          span('2', 'model', 'gpt', { ...use, status: 'timeout', end_ns: START + 30n }),
          span('3', 'tool', 'bash', { owner: 'gateway', status: 'unset', end_ns: null }),
          span('4', 'tool', 'bash', { status: 'running', end_ns: null }),
          span('5', 'command', null),
          span('6', 'policy', 'x'),
        ],
      }).spans,
    )
    mergeUse(
      table,
      new Map([
        [
          'model gpt',
          {
            ...{ kind: 'model', name: 'gpt', calls: 1, errors: 1, durations_ns: [5], tokens: 1, cost_micro: 1 },
            ...{ input_tokens: 1, cached_tokens: 1 },
          },
        ],
      ]),
    )
    assert.deepEqual(
      [...table.values()],
      [
        {
          ...{ kind: 'model', name: 'gpt', calls: 3, errors: 2, durations_ns: [10, 30, 5], tokens: 25, cost_micro: 15 },
          ...{ input_tokens: 21, cached_tokens: 9 },
        },
        { kind: 'tool', name: 'bash', calls: 2, errors: 0, durations_ns: [], ...none },
        { kind: 'command', name: null, calls: 1, errors: 0, durations_ns: [10], ...none },
      ],
    )
  })

  it('is a list with percentiles, the costliest model first, then tools', () => {
    const table = new Map<string, Use>()
    const spans = [
      span('1', 'tool', 'bash'),
      span('2', 'model', 'cheap', { input_tokens: 10n, output_tokens: 5n, cost_micro: 1n }),
      span('3', 'model', 'dear', { input_tokens: 1n, output_tokens: 1n, cost_micro: 9n, status: 'error' }),
    ]
    addUse(table, aTrace({ spans }).spans)
    const rows = useRows(table)
    assert.deepEqual(
      rows.map(({ name, errors, p50_ns, p95_ns, output_tokens }) => [name, errors, p50_ns, p95_ns, output_tokens]),
      [
        ['dear', 1, 10, 10, 1],
        ['cheap', 0, 10, 10, 5],
        ['bash', 0, 10, 10, 0],
      ],
    )
  })

  it('has percentiles of the nearest rank', () => {
    const values = Array.from({ length: 20 }, (_, at) => at + 1)
    assert.deepEqual([percentile(values, 0.5), percentile(values, 0.95), percentile([3], 0.95)], [10, 19, 3])
    assert.equal(percentile([], 0.5), undefined)
  })
})
