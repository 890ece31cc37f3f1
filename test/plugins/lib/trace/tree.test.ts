import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { Pace } from '#lib/time-slice'
import { buildSpanTree, buildSpanTreePaced, type Records } from '#lib/trace'
import { anArtifact, anEvent, aRun, aSpan, START, traces } from '../../../kit/traces.ts'

const treeOf = (records: Partial<Records>) =>
  buildSpanTree(aRun(), 'root', { spans: [], events: [], artifacts: [], ...records })

/** Each span as `id`, indented by depth. */
const outline = (records: Partial<Records>): string[] =>
  treeOf(records).spans.map(({ id, depth }) => '.'.repeat(depth) + id)

const at = (ns: number): { start_ns: bigint } => ({ start_ns: START + BigInt(ns) })

describe('a run as a tree', () => {
  it('starts with the root, wherever it was written', () => {
    assert.deepEqual(outline({ spans: [aSpan({ id: 'a', start_ns: 0n }), aSpan()] }), ['root', '.a'])
  })

  it('goes depth first, siblings by time', () => {
    const spans = [
      aSpan({ id: 'late', ...at(9) }),
      aSpan(),
      aSpan({ id: 'late.1', parent_id: 'late', ...at(3) }),
      aSpan({ id: 'early', ...at(2) }),
      aSpan({ id: 'early.2', parent_id: 'early', ...at(8) }),
      aSpan({ id: 'early.1', parent_id: 'early', ...at(4) }),
    ]
    assert.deepEqual(outline({ spans }), ['root', '.early', '..early.1', '..early.2', '.late', '..late.1'])
  })

  it('breaks ties of time by the order of writing', () => {
    const spans = ['c', 'a', 'b'].map((id) => aSpan({ id }))
    assert.deepEqual(outline({ spans: [aSpan(), ...spans] }), ['root', '.c', '.a', '.b'])
  })

  it('names the parent of every span but the root', () => {
    const { spans } = treeOf({ spans: [aSpan(), aSpan({ id: 'a' }), aSpan({ id: 'b', parent_id: 'a', ...at(1) })] })
    assert.deepEqual(
      spans.map(({ id, parent_id, declared_parent_id }) => [id, parent_id, declared_parent_id]),
      [
        ['root', null, undefined],
        ['a', 'root', undefined],
        ['b', 'a', undefined],
      ],
    )
  })

  it('puts a span with an unknown parent below the root and keeps what it named', () => {
    const { spans } = treeOf({ spans: [aSpan({ parent_id: 'elsewhere' }), aSpan({ id: 'a', parent_id: 'gone' })] })
    assert.deepEqual(
      spans.map(({ parent_id, declared_parent_id }) => [parent_id, declared_parent_id]),
      [
        [null, 'elsewhere'],
        ['root', 'gone'],
      ],
    )
  })

  it('puts every member of a circle below the root, and leaves what hangs on one where it is', () => {
    const spans = [
      aSpan(),
      aSpan({ id: 'hanger', parent_id: 'a', ...at(1) }),
      aSpan({ id: 'a', parent_id: 'b', ...at(2) }),
      aSpan({ id: 'b', parent_id: 'a', ...at(3) }),
      aSpan({ id: 'self', parent_id: 'self', ...at(4) }),
    ]
    assert.deepEqual(outline({ spans }), ['root', '.a', '..hanger', '.b', '.self'])
    const declared = treeOf({ spans }).spans.map((span) => span.declared_parent_id)
    assert.deepEqual(declared, [undefined, 'b', undefined, 'a', 'self'])
  })

  it('gives each span its events by time, and the run those of no span it has', () => {
    const event = (id: string, span_id: string | null, ns: number) =>
      anEvent({ id, span_id, time_ns: START + BigInt(ns) })
    const artifacts = [anArtifact()]
    const events = [
      event('2', 'root', 2),
      event('late', 'gone', 9),
      event('1', 'root', 1),
      event('run', null, 5),
      event('tie', 'root', 2),
    ]
    const trace = treeOf({ spans: [aSpan()], events, artifacts })
    assert.deepEqual(
      trace.spans[0]?.events.map(({ id }) => id),
      ['1', '2', 'tie'],
    )
    assert.deepEqual(
      trace.events.map(({ id }) => id),
      ['run', 'late'],
    )
    assert.deepEqual(trace.artifacts, artifacts)
  })

  it('refuses records without their root', () => {
    assert.throws(() => treeOf({ spans: [aSpan({ id: 'a' })] }), /trace-1 has no span root/)
  })

  it('holds every span once, below its parent, whatever the parents', () => {
    fc.assert(
      fc.property(traces, ({ spans }) => {
        const depths = new Map<string | null, number>([[null, -1]])
        for (const span of spans) {
          assert.ok(!depths.has(span.id))
          assert.equal(span.depth, (depths.get(span.parent_id) ?? Number.NaN) + 1)
          depths.set(span.id, span.depth)
        }
      }),
      { seed: 51, numRuns: 300 },
    )
  })

  for (const [shape, parentOf] of [
    ['a chain', (n: number) => (n === 0 ? 'root' : `s${n - 1}`)],
    ['a row', () => 'root'],
    ['one circle', (n: number) => `s${(n + 1) % 50_000}`],
  ] as const) {
    it(`takes 50,000 spans in ${shape}`, () => {
      const spans = Array.from({ length: 50_000 }, (_, n) => aSpan({ id: `s${n}`, parent_id: parentOf(n) }))
      const trace = treeOf({ spans: [aSpan(), ...spans] })
      assert.equal(trace.spans.length, 50_001)
      assert.equal(new Set(trace.spans.map(({ id }) => id)).size, 50_001)
      assert.equal(trace.spans.at(-1)?.depth, shape === 'a chain' ? 50_000 : 1)
    })
  }

  it('is the same made in turns, others having theirs after each span', async () => {
    const spans = [aSpan(), ...Array.from({ length: 100 }, (_, n) => aSpan({ id: `s${n}`, parent_id: `s${n >> 1}` }))]
    const records = { spans, events: [anEvent()], artifacts: [anArtifact()] }
    let now = 0
    const pace = new Pace(() => (now += 5))
    let rests = 0
    pace.rest = async () => void rests++
    assert.deepEqual(await buildSpanTreePaced(aRun(), 'root', records, pace), buildSpanTree(aRun(), 'root', records))
    assert.ok(rests >= 100, String(rests))
  })
})
