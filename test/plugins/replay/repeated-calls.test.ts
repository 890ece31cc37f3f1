import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { TraceSpan } from '#lib/trace'
import { countedSpans } from '../../../plugins/replay/read/counted-spans.ts'
import { RunSpans } from '../../../plugins/replay/write/run-spans.ts'
import { summedSpan } from '../../../plugins/replay/write/summed-span.ts'
import { aSpan, aTrace, START } from '../../kit/traces.ts'

interface Told extends Partial<TraceSpan> {
  readonly scope?: string
  readonly reply?: string | null
  readonly from?: number
  readonly to?: number | null
}

const call = (id: string, { scope = 'sdk', reply = 'r1', from = 0, to = 10, ...more }: Told = {}): TraceSpan =>
  aSpan({
    ...{ id, kind: 'model', label: 'gpt', name: 'chat', parent_id: 'root', input_tokens: 100n, output_tokens: 7n },
    start_ns: START + BigInt(from),
    end_ns: to === null ? null : START + BigInt(to),
    attributes: { 'otel.scope.name': scope, ...(reply === null ? {} : { 'gen_ai.response.id': reply }) },
    ...more,
  })

/** Input of the run as the spans arrive, the sums asked for after each or at the end. */
const inputOf = (spans: readonly TraceSpan[], asks = false): bigint => {
  const run = new RunSpans()
  for (const span of spans) {
    run.set(summedSpan(span))
    if (asks) assert.ok(run.sums.input >= 0n)
  }
  return run.sums.input
}

const countedIn = (spans: readonly TraceSpan[]): readonly string[] =>
  countedSpans(aTrace({ spans: [...spans] }).spans).map(({ id }) => id)

/** Checks which calls count, in sums and lists, in both orders of arrival. */
const counts = (spans: readonly TraceSpan[], ids: readonly string[]): void => {
  assert.deepEqual(countedIn(spans).toSorted(), ids)
  const input = spans.reduce((sum, { id, input_tokens }) => sum + (ids.includes(id) ? (input_tokens ?? 0n) : 0n), 0n)
  const root = aSpan()
  for (const order of [[root, ...spans], [...spans, root], [root, ...spans].toReversed()])
    for (const asks of [false, true]) assert.equal(inputOf(order, asks), input)
}

const wrapper = call('wrapper', { scope: 'framework', to: 12 })
const inner = call('inner', { from: 1 })

describe('a call that two instrumentations tell of beside each other', () => {
  it('counts once, the span closest to the call', () => {
    counts([wrapper, inner], ['inner'])
    counts([inner, wrapper, call('third', { scope: 'http', from: 2, to: 9 })], ['third'])
  })

  it('counts once where the gateway has seen it below one of them', () => {
    const seen = call('seen', { owner: 'gateway', parent_id: 'inner', from: 2, to: 9, attributes: {} })
    counts([wrapper, inner, seen], ['seen'])
    counts([wrapper, inner, { ...seen, parent_id: 'wrapper' }], ['seen'])
  })

  it('counts as before where spans are nested', () => {
    const below = { ...inner, parent_id: 'wrapper' }
    counts([wrapper, below], ['inner'])
    counts([wrapper, below, call('beside', { scope: 'http', from: 2, to: 9 })], ['inner'])
  })
})

describe('two calls', () => {
  for (const [what, more] of [
    ['with replies of their own', { reply: 'r2' }],
    ['whose replies are not known', { reply: null }],
    ['of one instrumentation', { scope: 'framework' }],
    ['after each other', { from: 13, to: 20 }],
    ['with other counts', { output_tokens: 8n }],
    ['of which the gateway has seen one', { owner: 'gateway' }],
  ] as const)
    it(`count twice ${what}`, () => counts([wrapper, call('inner', { from: 1, ...more })], ['inner', 'wrapper']))

  it('count twice where each is told of twice', () => {
    const pair = [call('w2', { scope: 'framework', reply: 'r2' }), call('i2', { reply: 'r2', from: 1 })]
    counts([wrapper, inner, ...pair], ['i2', 'inner'])
  })

  it('count all where an id is of more spans than tell of one call', () => {
    const many = Array.from({ length: 9 }, (_, at) => call(`c${at}`, { scope: `s${at}` }))
    counts(
      many,
      many.map(({ id }) => id),
    )
  })
})

describe('sums of repeated calls', () => {
  it('are equal in any order of arrival and equal to the list', () => {
    const one = fc.record({
      at: fc.nat(5),
      parent: fc.nat(5),
      scope: fc.constantFrom('a', 'b', 'c'),
      reply: fc.constantFrom('r1', 'r2', null),
      from: fc.nat(4),
      length: fc.option(fc.nat(4)),
      tokens: fc.constantFrom(1n, 1n, 2n),
    })
    fc.assert(
      fc.property(
        fc.uniqueArray(one, { selector: ({ at }) => at, maxLength: 6 }),
        fc.infiniteStream(fc.nat()),
        (list, keys) => {
          const spans = list.map(({ at, parent, scope, reply, from, length, tokens }) =>
            call(`s${at}`, {
              ...{ scope, reply, from, to: length === null ? null : from + length, input_tokens: tokens },
              parent_id: parent < at && list.some((other) => other.at === parent) ? `s${parent}` : 'root',
            }),
          )
          const all = [aSpan(), ...spans]
          const shuffled = all.map((span) => [keys.next().value ?? 0, span] as const).toSorted(([a], [b]) => a - b)
          const listed = countedSpans(aTrace({ spans }).spans).reduce(
            (sum, span) => sum + (span.input_tokens ?? 0n),
            0n,
          )
          for (const asks of [false, true])
            assert.equal(
              inputOf(
                shuffled.map(([, span]) => span),
                asks,
              ),
              listed,
            )
        },
      ),
      { seed: 5, numRuns: 1_000 },
    )
  })

  it('follow a span that changes', () => {
    const run = new RunSpans()
    for (const span of [aSpan(), wrapper, inner]) run.set(summedSpan(span))
    assert.equal(run.sums.input, 100n)
    run.set(summedSpan(call('inner', { from: 1, reply: 'r2' })))
    assert.equal(run.sums.input, 200n)
    run.set(summedSpan(inner))
    assert.equal(run.sums.input, 100n)
  })

  it('take memory that is counted', () => {
    const bytes = (spans: readonly TraceSpan[]): number => {
      const run = new RunSpans()
      for (const span of spans) run.set(summedSpan(span))
      return run.bytes
    }
    assert.ok(bytes([inner]) > bytes([call('inner', { from: 1, reply: null })]))
  })
})
