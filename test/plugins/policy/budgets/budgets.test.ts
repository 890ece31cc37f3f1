import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Decision, GuardError, noUsage, type Rule, type Session } from 'guard-gateway/core'
import { maxCost } from 'guard-gateway/plugins/detectors/max-cost'
import { call, type Said } from '../../../kit/evidence.ts'
import { NOON } from '../../../kit/settled.ts'
import { type Bench, busy, newSession, startBench } from '../kit.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

const rule = (rule_type: string, threshold: number, params: object, over: Partial<Rule> = {}): object => ({
  rule_type,
  threshold,
  params,
  ...over,
})

const enforcing = (rules: readonly object[], time_zone = 'UTC') =>
  startBench({ default_mode: 'enforce', defaults: rules, time_zone }, [maxCost])

let sessions = 0
const session = (agent_id: string | null = 'builder'): Session =>
  newSession({ id: `ses_${++sessions}`, external_id: `window-${sessions}`, agent_id })

/** A request of its own session, that repeats no other. */
const asked = (bench: Bench, said: Said & { readonly agent?: string | null } = {}) => {
  const { agent = 'builder', ...rest } = said
  return call({
    at: bench.clock.now(),
    session: session(agent),
    extra: `request ${sessions}`,
    ...rest,
    over: { agent_id: agent, ...rest.over },
  })
}

const tokens = (total_tokens: number, cache_read_tokens = 0) => ({
  usage: { ...noUsage, input_tokens: total_tokens - cache_read_tokens, cache_read_tokens, total_tokens },
})

const reasonsOf = (decisions: readonly Decision[]): string =>
  decisions.map(({ decision }) => decision.charAt(0)).join('')

describe('budgets of a project', () => {
  it('count the requests of all its sessions, and say when they start over', async () => {
    const bench = await enforcing([rule('max_requests', 2, { scope: 'project', per: 'hour' })], 'Europe/Berlin')
    await bench.send(asked(bench))
    await bench.send(asked(bench, { agent: 'reviewer' }))
    const refused = await bench.send(asked(bench))
    assert.deepEqual([refused.decision, refused.status, refused.reason], ['block', 429, 'LIMIT_REQUESTS'])
    assert.equal(
      refused.message,
      'Guard blocked this request: the project has sent 2 of 2 requests this hour; the next hour begins at 14:00 Europe/Berlin. Wait until then, or raise the threshold of the rule.',
    )
    assert.deepEqual(
      [refused.matches[0]?.evidence, refused.matches[0]?.count, refused.matches[0]?.resets_at],
      ['budget', 2, NOON + HOUR],
    )
    // another project has its own
    assert.equal((await bench.send(asked(bench, { project: 'bakery' }))).decision, 'allow')
    bench.clock.advance(HOUR)
    assert.equal((await bench.send(asked(bench))).decision, 'allow')
    assert.equal((await bench.send(asked(bench))).decision, 'allow')
    assert.equal((await bench.send(asked(bench))).decision, 'block')
  })
  it('forward exactly so many of 200 that come at once over many sessions', async () => {
    const bench = await enforcing([rule('max_requests', 57, { scope: 'project', per: 'minute' })])
    const own = Array.from({ length: 12 }, () => session())
    const calls = Array.from({ length: 200 }, (_, n) => asked(bench, { session: own[n % own.length] ?? session() }))
    const decisions = await Promise.all(calls.map((one) => bench.ask(one)))
    assert.equal(decisions.filter(({ decision }) => decision === 'allow').length, 57)
    await Promise.all(calls.map((one, n) => bench.end(one, decisions[n] ?? assert.fail())))
    assert.equal((await bench.send(asked(bench))).decision, 'block')
    bench.clock.advance(MINUTE)
    assert.equal((await bench.send(asked(bench))).decision, 'allow')
  })
  it('count tokens and costs when requests end, and what is in progress with reserve', async () => {
    const bench = await enforcing([
      rule('max_tokens', 1000, { scope: 'project', per: 'day' }, { id: 'ended' }),
      rule('max_tokens', 1000, { scope: 'project', per: 'day', reserve: true }, { id: 'held', action: 'flag' }),
      rule('max_cost', 500, { scope: 'project', per: 'day' }),
    ])
    const first = asked(bench, { envelope: { max_tokens: 1000 } })
    const under = await bench.ask(first)
    const second = await bench.send(asked(bench), {
      ...tokens(400),
      cost: { cost_micro: 100, cost_source: 'priced', price_version: '1' },
    })
    assert.deepEqual(
      second.matches.map(({ rule_id }) => rule_id),
      ['held'],
    )
    await bench.end(first, under, {
      ...tokens(500),
      cost: { cost_micro: 400, cost_source: 'priced', price_version: '1' },
    })
    const third = await bench.send(asked(bench), tokens(0))
    assert.deepEqual([third.reason, third.matches.map(({ rule_id }) => rule_id)], ['LIMIT_COST', ['max_cost']])
    assert.match(
      third.message,
      /the project has cost 0\.000500 of 0\.000500 today; the next day begins at 2026-03-02 00:00 UTC/,
    )
  })
  it('leave blocked requests out, and those that failed with reserve', async () => {
    const bench = await enforcing([rule('max_requests', 3, { scope: 'project', per: 'week', reserve: true })])
    for (let n = 0; n < 5; n++) assert.equal((await bench.send(asked(bench), busy)).decision, 'allow')
    for (let n = 0; n < 3; n++) assert.equal((await bench.send(asked(bench))).decision, 'allow')
    for (let n = 0; n < 5; n++) assert.equal((await bench.send(asked(bench))).decision, 'block')
    // a Sunday: the week ends with it
    bench.clock.advance(12 * HOUR)
    assert.equal(
      reasonsOf([
        await bench.send(asked(bench)),
        await bench.send(asked(bench)),
        await bench.send(asked(bench)),
        await bench.send(asked(bench)),
      ]),
      'aaab',
    )
  })
  it('only flag in shadow mode', async () => {
    const bench = await startBench({
      defaults: [rule('max_requests', 1, { scope: 'project', per: 'month' })],
      time_zone: 'UTC',
    })
    assert.equal((await bench.send(asked(bench))).decision, 'allow')
    assert.equal((await bench.send(asked(bench))).decision, 'shadow_flag')
  })
})

describe('budgets of an agent', () => {
  it('are each agent’s own; requests without an agent share one', async () => {
    const bench = await enforcing([rule('max_requests', 1, { scope: 'agent', per: 'day' })])
    const of = async (agent: string | null) => bench.send(asked(bench, { agent }))
    assert.equal((await of('builder')).decision, 'allow')
    assert.equal((await of('reviewer')).decision, 'allow')
    assert.equal((await of(null)).decision, 'allow')
    assert.match((await of('builder')).message, /: the agent has sent 1 of 1 requests today;/)
    assert.match((await of(null)).message, /: whoever names no agent has sent 1 of 1 requests today;/)
    // what it does in another project is counted there
    assert.equal((await bench.send(asked(bench, { project: 'bakery' }))).decision, 'allow')
  })
})

describe('cache_weight', () => {
  it('counts tokens that were read from a cache by their weight, in a session and beyond it', async () => {
    const bench = await enforcing([
      rule('max_tokens', 1000, { cache_weight: 0.1 }, { id: 'session' }),
      rule('max_tokens', 1500, { cache_weight: 0, scope: 'project', per: 'day' }, { id: 'day', action: 'flag' }),
      rule('max_tokens', 1000, { scope: 'thread', cache_weight: 0.1 }, { id: 'thread', action: 'flag' }),
    ])
    const own = session()
    const send = (extra: string, total: number, cached: number) =>
      bench.send(asked(bench, { session: own, extra }), tokens(total, cached))
    assert.deepEqual((await send('a', 5000, 4500)).matches, [])
    // 500 and a tenth of 4,500
    assert.deepEqual((await send('b', 1050, 1000)).matches, [])
    const third = await send('c', 0, 0)
    assert.deepEqual([third.reason, third.matches[0]?.count], ['LIMIT_TOKENS', 1100])
    assert.equal((await bench.send(asked(bench), tokens(950))).decision, 'allow')
    assert.deepEqual(
      (await bench.send(asked(bench))).matches.map(({ rule_id, count }) => [rule_id, count]),
      [['day', 1500]],
    )
  })
})

describe('the clock', () => {
  it('set back continues with an earlier period, whose spending counts; none is lost', async () => {
    const bench = await enforcing([rule('max_requests', 2, { scope: 'project', per: 'day' })])
    await bench.send(asked(bench))
    await bench.send(asked(bench))
    assert.equal((await bench.send(asked(bench))).decision, 'block')
    bench.clock.jump(24 * HOUR)
    await bench.send(asked(bench))
    bench.clock.jump(-24 * HOUR)
    assert.equal((await bench.send(asked(bench))).decision, 'block')
    bench.clock.jump(-5 * 24 * HOUR)
    assert.equal((await bench.send(asked(bench))).decision, 'allow')
    bench.clock.jump(6 * 24 * HOUR)
    assert.equal(reasonsOf([await bench.send(asked(bench)), await bench.send(asked(bench))]), 'ab')
  })
  it('moves on while a request is on its way: it belongs to the period in which it arrived', async () => {
    const bench = await enforcing([rule('max_requests', 1, { scope: 'project', per: 'minute' })])
    const late = asked(bench)
    await bench.send(asked(bench))
    bench.clock.advance(MINUTE)
    assert.equal((await bench.send(asked(bench))).decision, 'allow')
    assert.equal((await bench.send(late)).decision, 'block')
  })
})

describe('a record that cannot be read', () => {
  const failing = async (rules: readonly object[]) => {
    const bench = await enforcing(rules)
    const { sum } = bench.gateway.storage
    const broken = { sum: () => Promise.reject(new GuardError('STORAGE_UNAVAILABLE', 'The disk is gone.')) }
    Object.assign(bench.gateway.storage, broken)
    return { ...bench, mend: () => Object.assign(bench.gateway.storage, { sum }) }
  }
  const daily = rule('max_requests', 1, { scope: 'project', per: 'day' })

  it('refuses requests under such a rule, until it can be read', async () => {
    const bench = await failing([daily])
    for (let n = 0; n < 2; n++) await assert.rejects(() => bench.send(asked(bench)), { code: 'STORAGE_UNAVAILABLE' })
    bench.mend()
    assert.equal((await bench.send(asked(bench))).decision, 'allow')
    assert.equal((await bench.send(asked(bench))).decision, 'block')
  })
  it('lets those pass that may without a record; the rule is named as one that failed', async () => {
    const bench = await failing([daily, rule('max_requests', 1, {}, { id: 'own' })])
    bench.gateway.service('store').need().onFailure = 'forward'
    await assert.rejects(() => bench.send(asked(bench)), { code: 'STORAGE_UNAVAILABLE' })
    const shadow = () => asked(bench, { over: { mode_override: 'shadow' } })
    const { decision, faults } = await bench.send(shadow())
    assert.deepEqual([decision, faults], ['allow', ['max_requests']])
    assert.ok(bench.faults.some(({ where }) => where === 'policy:beyond'))
  })
})
