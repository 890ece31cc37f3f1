import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { Attempt, Gateway, Notice, Settled } from 'guard-gateway/core'
import { aCall, aDecision, aMatch, settled } from 'guard-gateway/test'
import { rested, startNotify } from '../kit.ts'

const heardFrom = async (test: TestContext) => {
  const { gateway } = await startNotify(test)
  const heard: Notice[] = []
  gateway.hooks.notice.tap('heard', (notice) => heard.push(notice))
  return { gateway, heard }
}
const settle = async (gateway: Gateway, ...all: readonly Settled[]): Promise<void> => {
  for (const one of all) await gateway.hooks.settle.promise(one)
  await rested()
}
const call = aCall({ agent_id: 'builder', project_id: 'shop' })
const loop = aMatch({ code: 'LOOP_EXACT', message: 'the same request came 3 times', evidence: 'session' })
const budget = aMatch({ code: 'LIMIT_COST', message: 'all is spent', evidence: 'budget' })
const blocked = aDecision({ decision: 'block', reason: 'LOOP_EXACT', matches: [loop] })

describe('requests that rules have matched', () => {
  it('are told of, those that were blocked and loops that were flagged', async (test) => {
    const { gateway, heard } = await heardFrom(test)
    await settle(
      gateway,
      settled({ call, decision: blocked }),
      settled({
        call,
        decision: aDecision({ decision: 'shadow_flag', reason: 'LIMIT_COST', matches: [budget, loop] }),
      }),
    )
    assert.deepEqual(
      heard.map(({ event, text }) => [event, text]),
      [
        [
          'blocked',
          'A request of agent "builder" in project "shop" was blocked (LOOP_EXACT): the same request came 3 times.',
        ],
        [
          'flagged',
          'A request of agent "builder" in project "shop" was flagged (LOOP_EXACT): the same request came 3 times.',
        ],
      ],
    )
    assert.equal(heard[0]?.project_id, 'shop')
  })
  it('are not told of where something else tells of it: allowed, a budget that flags, a pause, a retry', async (test) => {
    const { gateway, heard } = await heardFrom(test)
    const decisions = [
      aDecision({ decision: 'allow' }),
      aDecision({ decision: 'shadow_flag', reason: 'LIMIT_COST', matches: [budget] }),
      { ...blocked, pause_reason: 'loop: the same' },
      { ...blocked, repeats: 'guardreq_1' },
      ...['PAUSED_SESSION', 'ENDED_SESSION', 'PAUSED_AGENT'].map((reason) => ({ ...blocked, reason, matches: [] })),
    ]
    await settle(gateway, ...decisions.map((decision) => settled({ call, decision })))
    assert.deepEqual(heard, [])
  })
})

const attempt = (status: number | null, error: string | null = null): Attempt =>
  ({ upstream: 'anthropic', status, error }) as Attempt

describe('an upstream', () => {
  const tried = (...attempts: Attempt[]) => settled({ call, decision: aDecision({ decision: 'allow' }), attempts })
  it('is told of when it has failed three times in a row, once until it works', async (test) => {
    const { gateway, heard } = await heardFrom(test)
    await settle(gateway, tried(attempt(500)), tried(attempt(200)), tried(attempt(500)), tried(attempt(503)))
    assert.equal(heard.length, 0)
    await settle(gateway, tried(attempt(null, 'ECONNREFUSED'), attempt(529)))
    assert.deepEqual(
      heard.map(({ event, subject, text }) => [event, subject, text]),
      [
        [
          'upstream_failing',
          'anthropic',
          'Upstream "anthropic" has failed 3 times in a row, the last time with ECONNREFUSED.',
        ],
      ],
    )
    await settle(gateway, tried(attempt(200)), tried(attempt(500), attempt(500), attempt(500)))
    assert.equal(heard.length, 2)
  })
  it('has not failed where the client has left, or the request was wrong', async (test) => {
    const { gateway, heard } = await heardFrom(test)
    const gone = tried(attempt(null, 'CLIENT_GONE'))
    await settle(gateway, gone, gone, gone, tried(attempt(400), attempt(401), attempt(404), attempt(429)))
    assert.deepEqual(heard, [])
  })
})
