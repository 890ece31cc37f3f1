import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Detector, Finding, Plugin } from 'guard-gateway/core'
import { Type } from 'typebox'
import { user } from '../../../kit/conversation.ts'
import { call } from '../../../kit/evidence.ts'
import { always, detecting, newSession, startBench } from '../kit.ts'

const found: Finding = { message: 'it said no', evidence: 'stream', count: 1 }

/** A detector that finds each `no`, or fails at it. */
const hearing = (id: string, fails = false): Plugin => {
  const entry: Detector = {
    ...detecting(id, () => undefined, 'outcome'),
    params: Type.Object({ cut: Type.Optional(Type.Boolean()) }, { additionalProperties: false }),
    stream: () => ({
      push: (text) => {
        if (!text.includes('no')) return undefined
        if (fails) throw new Error('deaf')
        return found
      },
    }),
  }
  return { name: `detector/${id}`, apply: (gateway) => void gateway.detectors.add(entry) }
}

const rules = [
  always('deaf', { rule_type: 'deaf' }),
  always('keen', { rule_type: 'keen', params: { cut: true } }),
  always('calm', { rule_type: 'calm', action: 'flag', params: { cut: true } }),
]
const started = async (mode: 'enforce' | 'shadow', some: readonly object[] = rules) => {
  const bench = await startBench({ default_mode: mode, defaults: some }, [
    hearing('deaf', true),
    hearing('keen'),
    hearing('calm'),
  ])
  const { watch } = await bench.ask(call({ session: newSession(), items: [user('a')] }))
  return { bench, watch }
}

describe('rules that listen', () => {
  it('speak once a reply, each for itself', async () => {
    const { watch } = await started('shadow')
    watch?.text('yes')
    assert.deepEqual(watch?.matches, [])
    watch?.text('no')
    watch?.text('no, no')
    assert.deepEqual(
      watch?.matches.map(({ rule_id, message }) => [rule_id, message]),
      [
        ['keen', 'it said no'],
        ['calm', 'it said no'],
      ],
    )
    assert.equal(watch?.over, false)
  })
  it('end a reply only in enforce mode, where the rule blocks and says cut', async () => {
    const { watch } = await started('enforce')
    watch?.text('no')
    assert.equal(watch?.over, true)
    const { watch: calm } = await started('enforce', rules.slice(2))
    calm?.text('no')
    assert.deepEqual([calm?.matches.length, calm?.over], [1, false])
  })
  it('are reported and heard no more if they fail', async () => {
    const { bench, watch } = await started('shadow')
    watch?.text('no')
    watch?.text('no')
    assert.deepEqual(
      bench.faults.map(({ where }) => where),
      ['detector:deaf'],
    )
  })
  it('cost nothing where there are none: nobody listens', async () => {
    const { watch } = await started('enforce', [{ rule_type: 'exact_repeat' }])
    assert.equal(watch, undefined)
  })
})
