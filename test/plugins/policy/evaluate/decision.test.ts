import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Rule } from 'guard-gateway/core'
import { user } from '../../../kit/conversation.ts'
import { call } from '../../../kit/evidence.ts'
import { always, detecting, newSession, startBench } from '../kit.ts'

const decided = async (
  defaults: readonly Partial<Rule>[],
  mode: 'shadow' | 'enforce' = 'enforce',
  more: Parameters<typeof startBench>[1] = [],
) => {
  const bench = await startBench({ defaults, default_mode: mode }, more)
  const session = newSession()
  return { ...bench, session, decision: await bench.send(call({ session, items: [user('a')] })) }
}

describe('what matching rules decide', () => {
  it('is nothing where none matches', async () => {
    const { decision, session } = await decided([always('r', { threshold: 2 })])
    assert.deepEqual(
      [decision.decision, decision.reason, decision.rule_id, decision.status],
      ['allow', null, null, undefined],
    )
    assert.deepEqual([session.row.requests, session.row.flagged, session.row.blocked], [1, 0, 0])
  })
  it('is never a block in shadow', async () => {
    const { decision, session } = await decided([always('r')], 'shadow')
    assert.deepEqual([decision.decision, decision.reason, decision.status], ['shadow_flag', 'LOOP_EXACT', undefined])
    assert.deepEqual([session.row.requests, session.row.flagged, session.row.blocked], [1, 1, 0])
  })
  it('is a block in enforce, for action block only', async () => {
    for (const action of ['flag', 'steer', 'page-someone']) {
      assert.equal((await decided([always('r', { action })])).decision.decision, 'shadow_flag', action)
    }
    const { decision, session } = await decided([always('r')])
    assert.deepEqual([decision.decision, decision.status, decision.rule_id], ['block', 429, 'r'])
    assert.deepEqual([session.row.requests, session.row.flagged, session.row.blocked], [0, 0, 1])
  })
  it('tells the way out that its detector has, also one of somebody’s own', async () => {
    const said = async (kind: 'loop' | 'outcome' | 'budget') => {
      const own = detecting('own', () => 'too much', kind)
      const { decision } = await decided([always('r', { rule_type: 'own' })], 'enforce', [own])
      return decision.message.slice('Guard blocked this request: too much. '.length)
    }
    assert.equal(await said('budget'), 'Raise the threshold of the rule, or begin a new session.')
    assert.equal(await said('loop'), 'Send a new instruction, or resume the session.')
    assert.equal(await said('outcome'), 'Resume the session when its cause is gone.')
  })
  it('gives the reason of the first match that blocks, and tells all matches', async () => {
    const rules = [always('noted', { action: 'flag' }), always('first'), always('second')]
    const enforced = (await decided(rules)).decision
    assert.equal(enforced.rule_id, 'first')
    assert.deepEqual(
      enforced.matches.map((match) => match.rule_id),
      ['noted', 'first', 'second'],
    )
    assert.equal((await decided(rules, 'shadow')).decision.rule_id, 'noted')
    assert.equal((await decided([...rules].reverse())).decision.rule_id, 'second')
  })
  it('tells with each match the rule it came from', async () => {
    const { decision } = await decided([always('r', { window_size: 5 })])
    assert.deepEqual(decision.matches[0], {
      rule_id: 'r',
      rule_type: 'exact_repeat',
      code: 'LOOP_EXACT',
      action: 'block',
      threshold: 1,
      window_size: 5,
      message: '1 identical requests in the last 1',
      evidence: 'session',
      count: 1,
      where: [{ request: decision.row?.id }],
      results_equal: true,
    })
  })
  it('leaves disabled rules and unknown types out', async () => {
    const { decision, faults } = await decided([
      always('off', { enabled: false }),
      always('unknown', { rule_type: 'from_another_world' }),
    ])
    assert.equal(decision.decision, 'allow')
    assert.deepEqual(faults, [])
  })
  it('survives a detector that throws: a fault, no match, and the others speak', async () => {
    const broken = detecting('broken', () => {
      throw new Error('out of order')
    })
    const { decision, faults } = await decided([always('bad', { rule_type: 'broken' }), always('good')], 'enforce', [
      broken,
    ])
    assert.equal(decision.rule_id, 'good')
    assert.deepEqual(decision.faults, ['bad'])
    assert.deepEqual(
      faults.map(({ where }) => where),
      ['detector:broken'],
    )
  })
  it('takes a bare text for a finding, and cuts a long one', async () => {
    const wordy = detecting('wordy', () => 'word '.repeat(200))
    const { decision } = await decided([always('w', { rule_type: 'wordy' })], 'enforce', [wordy])
    assert.equal(decision.matches[0]?.evidence, 'session')
    assert.ok(decision.message.startsWith('Guard blocked this request: word word'))
    assert.ok(decision.message.length <= 300)
  })
  it('tells a detector without an entry in the catalogue how to continue', async () => {
    const own = detecting('own', () => 'I do not like it')
    const { decision } = await decided([always('o', { rule_type: 'own' })], 'enforce', [own])
    assert.equal(
      decision.message,
      'Guard blocked this request: I do not like it. Send a new instruction, or resume the session.',
    )
  })
  it('gives detectors their params, defaults filled in', async () => {
    const seen: unknown[] = []
    const curious = {
      ...detecting('curious', ({ rule }) => void seen.push(rule.params)),
    }
    await decided([always('c', { rule_type: 'curious' })], 'enforce', [curious])
    assert.deepEqual(seen, [{}])
  })
})

describe('the mode of a request', () => {
  const asked = async (header: 'shadow' | 'enforce' | null, fallback?: 'shadow' | 'enforce') => {
    const { gateway } = await startBench(fallback === undefined ? {} : { default_mode: fallback })
    const one = call({ over: { mode_override: header } })
    await gateway.hooks.request.promise(one)
    return one.mode
  }
  it('is shadow unless something says otherwise', async () => assert.equal(await asked(null), 'shadow'))
  it('is the configured default where nothing else is said', async () =>
    assert.equal(await asked(null, 'enforce'), 'enforce'))
  it('is the one of the header, where one is honoured', async () => {
    assert.equal(await asked('shadow', 'enforce'), 'shadow')
    assert.equal(await asked('enforce'), 'enforce')
  })
})

describe('a pause', () => {
  it('goes before all rules, in any mode, and evaluates none', async () => {
    let evaluated = 0
    const counting = detecting('counting', () => void evaluated++)
    const bench = await startBench({ defaults: [always('r'), always('c', { rule_type: 'counting' })] }, [counting])
    const session = newSession({ paused: true })
    const decision = await bench.send(call({ session, items: [user('a')] }))
    assert.deepEqual(
      [decision.decision, decision.status, decision.reason, decision.rule_id, decision.matches],
      ['block', 409, 'PAUSED_SESSION', '', []],
    )
    assert.equal(evaluated, 0)
    assert.deepEqual([session.row.requests, session.row.blocked], [0, 1])
  })
})
