import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { Pace } from '#lib/time-slice'
import { buildSpanTree, type Run, type Trace, type TraceSpan } from '#lib/trace'
import { compare } from '../../../../plugins/replay/read/compare.ts'
import { anEvent, aRun, aSpan, aTrace, START, traces } from '../../../kit/traces.ts'

/** A span with this name and start, which lasts 10 ns. */
const call = (id: string, name: string, ns: number, over: Partial<TraceSpan> = {}): TraceSpan => {
  const start_ns = START + BigInt(ns)
  return aSpan({ id, name, kind: 'tool', start_ns, end_ns: start_ns + 10n, ...over })
}
const traceOf = (...spans: readonly TraceSpan[]): Trace => aTrace({ spans })
const keys = async (left: Trace, right: Trace, align?: 'name' | 'label'): Promise<string[]> =>
  (await compare(left, right, align)).spans.map(({ key, presence }) => `${key} ${presence}`)

describe('two runs compared: pairing spans', () => {
  it('numbers spans within their name by start, in any tree', async () => {
    const flat = traceOf(call('b', 'tool.call', 2), call('a', 'tool.call', 1))
    const nested = traceOf(call('a', 'tool.call', 1, { parent_id: 'b' }), call('b', 'tool.call', 2))
    const ids = ({ spans }: Awaited<ReturnType<typeof compare>>) =>
      spans.map(({ key, left, right }) => [key, left?.span_id, right?.span_id])
    assert.deepEqual(ids(await compare(flat, nested)), [
      ['agent.run#1', 'root', 'root'],
      ['tool.call#1', 'a', 'a'],
      ['tool.call#2', 'b', 'b'],
    ])
  })

  it('lists spans of both sides, left only and right only', async () => {
    const left = traceOf(call('1', 'a', 1), call('2', 'b', 2))
    const right = traceOf(call('1', 'a', 1), call('2', 'c', 2))
    assert.deepEqual(await keys(left, right), ['agent.run#1 both', 'a#1 both', 'c#1 right', 'b#1 left'])
    assert.deepEqual((await compare(left, right)).summary, {
      both: 2,
      left_only: 1,
      right_only: 1,
      status_changed: 0,
      label_changed: 0,
      arguments_changed: 0,
    })
  })

  it('puts right-only spans after their predecessor', async () => {
    const left = traceOf(call('1', 'a', 1), call('2', 'b', 2))
    const right = traceOf(call('1', 'a', 1), call('x', 'x', 2), call('y', 'x', 3), call('2', 'b', 4), call('z', 'z', 5))
    assert.deepEqual(await keys(left, right), [
      'agent.run#1 both',
      'a#1 both',
      'x#1 right',
      'x#2 right',
      'b#1 both',
      'z#1 right',
    ])
  })

  it('puts them first without a predecessor', async () => {
    const right = { ...traceOf(), spans: traceOf(call('1', 'first', 1)).spans.toReversed() }
    assert.deepEqual(await keys(traceOf(), right), ['first#1 right', 'agent.run#1 both'])
  })

  it('pairs by name and label on request, so that an extra call shifts nothing', async () => {
    const left = traceOf(
      call('1', 'tool.call', 1, { label: 'read_file' }),
      call('2', 'tool.call', 2, { label: 'bash' }),
    )
    const right = traceOf(
      call('1', 'tool.call', 1, { label: 'bash' }),
      call('2', 'tool.call', 2, { label: 'read_file' }),
    )
    assert.deepEqual((await compare(left, right)).summary.label_changed, 2)
    const labelled = await compare(left, right, 'label')
    assert.equal(labelled.summary.label_changed, 0)
    assert.deepEqual(
      labelled.spans.map(({ key, name, occurrence }) => [key, name, occurrence]),
      [
        ['agent.run#1', 'agent.run', 1],
        ['tool.call[read_file]#1', 'tool.call', 1],
        ['tool.call[bash]#1', 'tool.call', 1],
      ],
    )
  })

  it('gives every span its own row, even if names look like keys', async () => {
    const spans = [
      call('1', 'a', 1),
      call('2', 'a#1', 2),
      call('3', 'a', 3),
      call('4', 'a[x]', 4),
      call('5', 'a', 5, { label: 'x' }),
    ]
    for (const align of ['name', 'label'] as const) {
      const { summary, spans: rows } = await compare(traceOf(...spans), traceOf(), align)
      assert.equal(summary.left_only, 5)
      assert.equal(new Set(rows.map(({ key }) => key)).size, 6)
    }
  })
})

const none = { error: null, tokens: null, cost_micro: null }

describe('two runs compared: what changed', () => {
  it('reports changes of status, label and duration', async () => {
    const left = traceOf(call('l', 'a', 1, { label: 'x' }))
    const right = traceOf(call('r', 'a', 5, { label: 'y', status: 'error', end_ns: START + 20n }))
    assert.deepEqual((await compare(left, right)).spans[1], {
      key: 'a#1',
      name: 'a',
      occurrence: 1,
      presence: 'both',
      left: { ...none, span_id: 'l', status: 'ok', duration_ns: 10n, label: 'x' },
      right: { ...none, span_id: 'r', status: 'error', duration_ns: 15n, label: 'y' },
      status_changed: true,
      label_changed: true,
      arguments_changed: false,
      attributes_changed: [],
      attribute_changes: [],
      duration_delta_ns: 5n,
      tokens_delta: null,
      cost_delta_micro: null,
    })
  })

  it('reports no change for a missing side', async () => {
    const [, row] = (await compare(traceOf(call('l', 'a', 1, { label: 'x', status: 'error' })), traceOf())).spans
    assert.deepEqual(
      [row?.right, row?.status_changed, row?.label_changed, row?.duration_delta_ns],
      [null, false, false, null],
    )
  })

  it('has no duration for a running span', async () => {
    const running = traceOf(call('l', 'a', 1, { status: 'running', end_ns: null }))
    const [, row] = (await compare(running, traceOf(call('r', 'a', 1)))).spans
    assert.deepEqual([row?.left?.duration_ns, row?.duration_delta_ns], [null, null])
    const open = aTrace({}, { status: 'running', end_ns: null, duration_ns: null })
    assert.equal((await compare(open, traceOf())).deltas.duration_ns, null)
  })

  it('subtracts left from right, exactly', async () => {
    const totals: Partial<Run> = {
      duration_ns: 2n ** 53n + 1n,
      input_tokens: 1n,
      output_tokens: 2n,
      total_tokens: 3n,
      cost_micro: 4n,
    }
    const more: Partial<Run> = {
      duration_ns: 2n ** 54n + 4n,
      input_tokens: 3n,
      output_tokens: 6n,
      total_tokens: 9n,
      cost_micro: 2n ** 60n,
    }
    const left = aTrace({}, { ...totals, span_count: 5, event_count: 7 })
    const right = aTrace({}, { ...more, span_count: 4, event_count: 9, status: 'error', failure_tag: 'loop' })
    const comparison = await compare(left, right)
    assert.deepEqual(comparison.deltas, {
      duration_ns: 9_007_199_254_740_995n,
      input_tokens: 2n,
      output_tokens: 4n,
      total_tokens: 6n,
      cost_micro: 1_152_921_504_606_846_972n,
      span_count: -1,
      event_count: 2,
    })
    assert.deepEqual([comparison.status_changed, comparison.failure_tag_changed], [true, true])
    assert.deepEqual([comparison.left.trace_id, 'attributes' in comparison.left], ['trace-1', false])
  })

  it('counts events of spans and run by name, sorted', async () => {
    const event = (id: string, name: string, span_id: string | null) => anEvent({ id, name, span_id })
    const left = aTrace({ events: [event('1', 'b', 'root'), event('2', 'b', null), event('3', 'a', null)] })
    const right = aTrace({ events: [event('1', 'b', null), event('2', 'c', null)] })
    assert.deepEqual((await compare(left, right)).events_by_name, [
      { name: 'a', left: 1, right: 0, delta: -1 },
      { name: 'b', left: 2, right: 1, delta: -1 },
      { name: 'c', left: 0, right: 1, delta: 1 },
    ])
  })

  it('warns only of runs of two projects', async () => {
    const [warning] = (await compare(aTrace({}, { project_id: 'p' }), aTrace({}, { project_id: 'q' }))).warnings
    assert.equal(warning?.code, 'different_projects')
    assert.deepEqual((await compare(aTrace(), aTrace())).warnings, [])
  })
})

describe('two runs compared: laws', () => {
  const negative = (delta: bigint | number | null) =>
    delta === null ? null : typeof delta === 'bigint' ? -delta : 0 - delta

  it('negates every delta when sides are swapped', async () => {
    await fc.assert(
      fc.asyncProperty(traces, traces, async (one, other) => {
        const [there, back] = [await compare(one, other), await compare(other, one)]
        const negated = Object.entries(there.deltas).map(([name, delta]) => [name, negative(delta)])
        assert.deepEqual(Object.entries(back.deltas), negated)
        const rows = new Map(back.spans.map((row) => [row.key, row]))
        for (const row of there.spans) {
          assert.equal(rows.get(row.key)?.duration_delta_ns ?? null, negative(row.duration_delta_ns))
        }
        assert.deepEqual(
          back.events_by_name.map(({ delta }) => delta),
          there.events_by_name.map(({ delta }) => negative(delta)),
        )
      }),
      { seed: 61, numRuns: 200 },
    )
  })

  it('finds no difference between a run and itself, and includes every span', async () => {
    await fc.assert(
      fc.asyncProperty(traces, traces, async (one, other) => {
        const same = await compare(one, one)
        assert.deepEqual([same.summary.both, same.summary.status_changed], [one.spans.length, 0])
        assert.deepEqual(
          same.spans.map(({ left }) => left?.span_id),
          one.spans.map(({ id }) => id),
        )
        const { both, left_only, right_only } = (await compare(one, other, 'label')).summary
        assert.deepEqual([both + left_only, both + right_only], [one.spans.length, other.spans.length])
      }),
      { seed: 62, numRuns: 200 },
    )
  })

  it('handles runs of 30,000 spans', async () => {
    const spans = Array.from({ length: 30_000 }, (_, n) => call(`s${n}`, 'tool.call', n))
    const trace = buildSpanTree(aRun(), 'root', { spans: [aSpan(), ...spans], events: [], artifacts: [] })
    assert.equal((await compare(trace, trace)).summary.both, 30_001)
    assert.equal((await compare(aTrace(), trace)).summary.right_only, 30_000)
  })

  it('yields to other work on long runs', async () => {
    const spans = Array.from({ length: 100 }, (_, n) => call(`s${n}`, 'tool.call', n))
    let now = 0
    const pace = new Pace(() => (now += 5))
    let rests = 0
    pace.rest = async () => void rests++
    await compare(aTrace(), traceOf(...spans), 'name', pace)
    // numbering, keying, joining and counting, span by span
    assert.ok(rests >= 400, String(rests))
  })
})
