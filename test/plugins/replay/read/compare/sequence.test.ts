import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Pace } from '#lib/time-slice'
import type { Trace, TraceSpan } from '#lib/trace'
import { buildSpanTree } from '#lib/trace'
import { compare } from '../../../../../plugins/replay/read/compare.ts'
import { aRun, aSpan, aTrace, START } from '../../../../kit/traces.ts'

/** A step: its tool or model, and what else is special. */
type Step = readonly [label: string, more?: Partial<TraceSpan>]

const runOf = (...steps: readonly Step[]): Trace =>
  aTrace({
    spans: steps.map(([label, more], at) => {
      const start_ns = START + BigInt(at * 100)
      const name = label.startsWith('gpt') ? 'gen_ai.request' : 'tool.call'
      return aSpan({ id: `s${at}`, parent_id: 'root', name, label, start_ns, end_ns: start_ns + 10n, ...more })
    }),
  })

const compared = async (left: Trace, right: Trace) => {
  const { spans, first_difference, summary } = await compare(left, right, 'sequence')
  const rows = spans.map(({ key, presence, right: other }) => [key, presence, other?.span_id ?? null])
  return { rows, text: first_difference?.text, first_difference, summary, spans }
}

const hashed = (hash: string): Partial<TraceSpan> => ({ attributes: { 'guard.argument_hash': hash } })

describe('two runs compared as sequences', () => {
  it('shift nothing after an extra call', async () => {
    const left = runOf(['gpt'], ['read'], ['gpt'], ['edit'], ['gpt'])
    const right = runOf(['gpt'], ['gpt'], ['read'], ['gpt'], ['edit'], ['gpt'])
    const { rows, summary } = await compared(left, right)
    assert.equal(summary.right_only, 1)
    assert.equal(summary.label_changed, 0)
    assert.equal(new Set(rows.map(([key]) => key)).size, rows.length)
    assert.deepEqual(rows.at(-1), ['gen_ai.request#3', 'both', 's5'])
  })

  it('pair calls with equal arguments rather than those at the same place', async () => {
    const left = runOf(['bash', hashed('a')], ['bash', hashed('b')])
    const right = runOf(['bash', hashed('x')], ['bash', hashed('a')], ['bash', hashed('b')])
    assert.deepEqual((await compared(left, right)).rows.slice(1), [
      ['+tool.call#1', 'right', 's0'],
      ['tool.call#1', 'both', 's1'],
      ['tool.call#2', 'both', 's2'],
    ])
  })

  it('report other arguments, attributes, tokens and cost', async () => {
    const paid = (tokens: bigint, cost: bigint, more: object): Partial<TraceSpan> => ({
      input_tokens: tokens,
      output_tokens: 1n,
      cost_micro: cost,
      attributes: { temperature: 0, 'gen_ai.response.id': String(tokens), ...more },
    })
    const left = runOf(['gpt', paid(10n, 5n, { list: [1n] })], ['bash', hashed('a')])
    const right = runOf(['gpt', paid(30n, 4n, { temperature: 1, list: [1n], 'gen_ai.new': 1 })], ['bash', hashed('b')])
    const { spans, summary } = await compared(left, right)
    const [, model, tool] = spans
    assert.deepEqual([model?.tokens_delta, model?.cost_delta_micro], [20n, -1n])
    assert.deepEqual(model?.attributes_changed, ['gen_ai.new', 'temperature'])
    assert.deepEqual(model?.attribute_changes, [
      { name: 'gen_ai.new', left: null, right: 1 },
      { name: 'temperature', left: 0, right: 1 },
    ])
    const long = { attributes: { text: 'x'.repeat(500), parts: { a: [1n] } } }
    const [, cut] = (await compared(runOf(['gpt', { attributes: {} }]), runOf(['gpt', long]))).spans
    assert.deepEqual(cut?.attribute_changes, [
      { name: 'parts', left: null, right: '{"a":["1n"]}' },
      { name: 'text', left: null, right: 'x'.repeat(200) },
    ])
    assert.deepEqual([model?.arguments_changed, tool?.arguments_changed], [false, true])
    assert.equal(summary.arguments_changed, 1)
  })

  it('leave out durations that the gateway does not know', async () => {
    const seen = { kind: 'tool', owner: 'gateway', status: 'unset', start_ns: START, end_ns: null } as const
    const [, row] = (await compared(runOf(['bash', seen]), runOf(['bash', seen]))).spans
    assert.deepEqual([row?.left?.duration_ns, row?.duration_delta_ns], [null, null])
  })
})

const steps: readonly Step[] = [['gpt'], ['read'], ['gpt'], ['edit'], ['npm test']]

const times = (count: number, ...cycle: readonly Step[]): readonly Step[] =>
  Array.from({ length: count }, () => cycle).flat()

/** Steps of the left after the common ones, of the right, and what is said. */
const partings: readonly (readonly [readonly Step[], readonly Step[], string])[] = [
  [[], times(6, ['npm test']), 'left ends, right repeats npm test six times'],
  [[['gpt'], ['read']], [], 'left has gpt, right ends'],
  [[], times(3, ['gpt'], ['grep']), 'left ends, right has grep three times'],
  [[], times(4, ['edit'], ['npm test']), 'left ends, right repeats edit four times'],
  [[], times(1_200, ['npm test']), 'left ends, right repeats npm test 1,200 times'],
  [[['gpt-2']], [['grep'], ['gpt-2']], 'left goes on with gpt-2, right has grep'],
  [[['gpt-4']], [['gpt-5']], 'left has gpt-4, right has gpt-5'],
  [[['bash', hashed('a')]], [['bash', hashed('b')]], 'both call bash, with other arguments'],
  [[['bash']], [['bash', { status: 'error' }]], 'bash ends as ok on the left, as error on the right'],
]

describe('the first difference of two runs', () => {
  for (const [left, right, text] of partings)
    it(`is told in one sentence: ${text}`, async () => {
      const { first_difference } = await compared(runOf(...steps, ...left), runOf(...steps, ...right))
      assert.equal(first_difference?.text, `They part at step 6: ${text}.`)
      assert.equal(first_difference?.step, 6)
    })

  it('is the same seen from the other side', async () => {
    const more = times(6, ['npm test'])
    const there = await compared(runOf(...steps), runOf(...steps, ...more))
    const back = await compared(runOf(...steps, ...more), runOf(...steps))
    assert.equal(back.text, 'They part at step 6: left repeats npm test six times, right ends.')
    assert.deepEqual([there.first_difference?.right_span_id, back.first_difference?.left_span_id], ['s5', 's5'])
  })

  it('is none between equal steps, whatever they took', async () => {
    const slower = steps.map(([label]): Step => [label, { end_ns: START + 10_000n }])
    assert.equal((await compared(runOf(...steps), runOf(...slower))).first_difference, null)
  })
})

describe('two long runs compared as sequences', () => {
  it('are compared whole, in turns with other work', async () => {
    const long = (labelOf: (at: number) => string): Trace => {
      const spans = Array.from({ length: 50_000 }, (_, at) =>
        aSpan({ id: `s${at}`, parent_id: 'root', name: 'tool.call', label: labelOf(at), start_ns: START + BigInt(at) }),
      )
      return buildSpanTree(aRun(), 'root', { spans: [aSpan(), ...spans], events: [], artifacts: [] })
    }
    const [left, right] = [long((at) => `tool ${at % 300}`), long((at) => `tool ${(at * 7) % 300}`)]
    let rests = 0
    const pace = new Pace()
    const rest = pace.rest.bind(pace)
    pace.rest = () => {
      rests++
      return rest()
    }
    const { summary } = await compare(left, right, 'sequence', pace)
    assert.equal(summary.both + summary.left_only, 50_001)
    assert.equal(summary.both + summary.right_only, 50_001)
    assert.ok(rests > 10, String(rests))
  })
})
