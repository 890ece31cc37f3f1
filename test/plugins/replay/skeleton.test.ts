import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { callRecords, Gateway } from 'guard-gateway/core'
import { callRecord } from '../../../plugins/recorder/rows.ts'
import { boneOf, callBones } from '../../../plugins/replay/bones.ts'
import { type Bone, Skeleton } from '../../../plugins/replay/skeleton.ts'
import { aCall, settled } from '../../kit/settled.ts'

const trace = { trace_id: 'a'.repeat(32), span_id: 'b'.repeat(16), parent_span_id: null }

describe('the bones of a model request', () => {
  it('are those of its spans', () => {
    const tool_calls = ['x', 'y'].map((tool) => ({ id: null, tool, argument_hash: 'h' }))
    for (const calls of [[], tool_calls]) {
      const call = aCall({ trace })
      const done = settled({
        call,
        tool_calls: calls,
        cost: { cost_micro: 7, cost_source: 'priced', price_version: 'v' },
      })
      const record = callRecord(done, new Gateway().redact, { request: null, response: null }, false)
      assert.deepEqual(callBones(record, trace), callRecords(record, trace).spans.map(boneOf))
    }
  })
})

/** What the sums of some bones are, counted anew. */
const counted = (bones: readonly Bone[]) => {
  const byId = new Map(bones.map((bone) => [bone.id, bone]))
  const above = new Set<string>()
  for (const bone of byId.values()) {
    const seen = new Set([bone.id])
    for (
      let at = bone.use === null ? null : bone.parent;
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

const endedCall = ({ parent, status, length }: EndedCall, index: number): Bone => ({
  id: String(index),
  parent,
  status,
  start_ns: BigInt(index),
  end_ns: BigInt(index) + length,
  guarded: true,
  use: null,
})

const begunAs = (index: number) => ({ status: index % 3 === 0 ? 'error' : 'running', end_ns: null })

describe('a skeleton', () => {
  it('has the same sums whether spans come ended, or running first', () => {
    const call = fc.record({
      parent: fc.constantFrom(null, 'run'),
      status: fc.constantFrom('ok', 'error'),
      length: fc.bigInt({ min: 0n, max: 9n }),
    })
    fc.assert(
      fc.property(fc.array(call, { maxLength: 12 }), (list) => {
        const ended = list.map(endedCall)
        const running = ended.map((bone, index) => ({ ...bone, ...begunAs(index) }))
        const [whole, begun] = [new Skeleton(), new Skeleton()]
        for (const bone of ended) whole.set(bone)
        for (const bone of [...running, ...ended]) begun.set(bone)
        assert.deepEqual(begun.sums, whole.sums)
      }),
      { seed: 11, numRuns: 500 },
    )
  })

  it('keeps the same sums, in whatever order spans come and change', () => {
    const bone = fc.record({
      id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
      parent: fc.option(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'nowhere')),
      tokens: fc.option(fc.nat(100)),
      running: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(bone, { maxLength: 14 }), (list) => {
        const bones = list
          // a later span may stand below an earlier one only, so that there is no circle
          .map(({ parent, ...rest }) => ({ ...rest, parent: parent !== null && parent < rest.id ? parent : null }))
          .map(
            ({ id, parent, tokens, running }): Bone => ({
              id,
              parent,
              status: 'ok',
              start_ns: 1n,
              end_ns: running ? null : 2n,
              guarded: false,
              use: tokens === null ? null : { input: BigInt(tokens), output: 0n, cost: 0n },
            }),
          )
        const skeleton = new Skeleton()
        const asked = new Skeleton()
        for (const [index, one] of bones.entries()) {
          skeleton.set(one)
          asked.set(one)
          assert.equal(asked.sums.input, counted(bones.slice(0, index + 1)).sum)
        }
        const { sum, running, size } = counted(bones)
        assert.deepEqual([skeleton.sums.input, skeleton.sums.running, skeleton.size], [sum, running, size])
      }),
      { seed: 7, numRuns: 500 },
    )
  })

  const use = { input: 1n, output: 0n, cost: 0n }
  const chain = Array.from({ length: 50_000 }, (_, index) => {
    const parent = index === 0 ? null : String(index - 1)
    return { ...endedCall({ parent, status: 'ok', length: 1n }, index), use }
  })
  for (const [what, bones] of [
    ['children come before their parents, as exporters send them', chain.toReversed()],
    ['parents come before their children', chain],
  ] as const)
    it(`takes a long and deep run whose ${what}`, () => {
      const skeleton = new Skeleton()
      for (const bone of bones) skeleton.set(bone)
      assert.deepEqual([skeleton.sums.input, skeleton.sums.running, skeleton.size], [1n, 0, 50_000])
    })

  it('ends with circles of parents', () => {
    const skeleton = new Skeleton()
    const use = { input: 1n, output: 0n, cost: 0n }
    for (const [id, parent] of [
      ['a', 'b'],
      ['b', 'a'],
      ['c', 'c'],
    ] as const)
      skeleton.set({ id, parent, status: 'ok', start_ns: 1n, end_ns: 1n, guarded: false, use })
    assert.equal(skeleton.size, 3)
  })
})
