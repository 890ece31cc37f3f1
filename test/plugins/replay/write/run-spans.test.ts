import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { Gateway } from 'guard-gateway/core'
import { foundation } from 'guard-gateway/presets/foundation'
import { callRecords, newCallRecord } from '#lib/trace'
import { RunSpans } from '../../../../plugins/replay/write/run-spans.ts'
import type { SummedSpan } from '../../../../plugins/replay/write/span-table.ts'
import { spansOfCall, summedCall, summedSpan } from '../../../../plugins/replay/write/summed-span.ts'
import { aCall, settled } from '../../../kit/settled.ts'

const trace = { trace_id: 'a'.repeat(32), span_id: 'b'.repeat(16), parent_span_id: null }

describe('the summed spans of a model request', () => {
  it('equal its spans', () => {
    const tool_calls = ['x', 'y'].map((tool) => ({ id: null, tool, argument_hash: 'h' }))
    for (const calls of [[], tool_calls]) {
      const call = aCall({ trace })
      const done = settled({
        call,
        tool_calls: calls,
        cost: { cost_micro: 7, cost_source: 'priced', price_version: 'v' },
      })
      const record = newCallRecord(
        done,
        new Gateway().use(...foundation()).redact,
        { request: null, response: null },
        false,
      )
      assert.deepEqual(spansOfCall(summedCall(record, trace)), callRecords(record, trace).spans.map(summedSpan))
    }
  })
})

/** The sums of spans, computed independently. */
const counted = (spans: readonly SummedSpan[]) => {
  const byId = new Map(spans.map((span) => [span.id, span]))
  const above = new Set<string>()
  for (const span of byId.values()) {
    const seen = new Set([span.id])
    for (
      let at = span.use === null ? null : span.parent;
      at !== null && !seen.has(at);
      at = byId.get(at)?.parent ?? null
    ) {
      seen.add(at)
      above.add(at)
    }
  }
  const all = [...byId.values()]
  const sum = all.reduce((total, { id, use }) => total + (above.has(id) ? 0n : (use?.input ?? 0n)), 0n)
  return { sum, running: all.filter(({ end_ns }) => end_ns === null).length, size: all.length }
}

interface EndedCall {
  readonly parent: string | null
  readonly status: string
  readonly length: bigint
}

const endedCall = ({ parent, status, length }: EndedCall, index: number): SummedSpan => ({
  id: String(index),
  parent,
  status,
  start_ns: BigInt(index),
  end_ns: BigInt(index) + length,
  guarded: true,
  use: null,
})

const begunAs = (index: number) => ({ status: index % 3 === 0 ? 'error' : 'running', end_ns: null })

describe('the spans of a run', () => {
  it('has equal sums whether spans arrive ended, or running first', () => {
    const call = fc.record({
      parent: fc.constantFrom(null, 'run'),
      status: fc.constantFrom('ok', 'error'),
      length: fc.bigInt({ min: 0n, max: 9n }),
    })
    fc.assert(
      fc.property(fc.array(call, { maxLength: 12 }), (list) => {
        const ended = list.map(endedCall)
        const running = ended.map((span, index) => ({ ...span, ...begunAs(index) }))
        const [whole, begun] = [new RunSpans(), new RunSpans()]
        for (const span of ended) whole.set(span)
        for (const span of [...running, ...ended]) begun.set(span)
        assert.deepEqual(begun.sums, whole.sums)
      }),
      { seed: 11, numRuns: 500 },
    )
  })

  it('has equal sums in any order of arrivals and changes', () => {
    const span = fc.record({
      id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
      parent: fc.option(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'nowhere')),
      tokens: fc.option(fc.nat(100)),
      running: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(span, { maxLength: 14 }), (list) => {
        const spans = list
          // the parent of a span is always an earlier one, so that there is no cycle
          .map(({ parent, ...rest }) => ({ ...rest, parent: parent !== null && parent < rest.id ? parent : null }))
          .map(
            ({ id, parent, tokens, running }): SummedSpan => ({
              id,
              parent,
              status: 'ok',
              start_ns: 1n,
              end_ns: running ? null : 2n,
              guarded: false,
              use:
                tokens === null ? null : { input: BigInt(tokens), cached: BigInt(tokens) / 2n, output: 0n, cost: 0n },
            }),
          )
        const run = new RunSpans()
        const asked = new RunSpans()
        for (const [index, one] of spans.entries()) {
          run.set(one)
          asked.set(one)
          assert.equal(asked.sums.input, counted(spans.slice(0, index + 1)).sum)
        }
        const { sum, running, size } = counted(spans)
        assert.deepEqual([run.sums.input, run.sums.running, run.size], [sum, running, size])
      }),
      { seed: 7, numRuns: 500 },
    )
  })

  const use = { input: 1n, cached: 1n, output: 0n, cost: 0n }
  const chain = Array.from({ length: 50_000 }, (_, index) => {
    const parent = index === 0 ? null : String(index - 1)
    return { ...endedCall({ parent, status: 'ok', length: 1n }, index), use }
  })
  for (const [what, spans] of [
    ['children come before their parents, as exporters send them', chain.toReversed()],
    ['parents come before their children', chain],
  ] as const)
    it(`accepts a long and deep run: ${what}`, () => {
      const run = new RunSpans()
      for (const span of spans) run.set(span)
      assert.deepEqual([run.sums.input, run.sums.running, run.size], [1n, 0, 50_000])
    })

  it('terminates for cycles of parents', () => {
    const run = new RunSpans()
    const use = { input: 1n, cached: 1n, output: 0n, cost: 0n }
    for (const [id, parent] of [
      ['a', 'b'],
      ['b', 'a'],
      ['c', 'c'],
    ] as const)
      run.set({ id, parent, status: 'ok', start_ns: 1n, end_ns: 1n, guarded: false, use })
    assert.equal(run.size, 3)
  })
})
