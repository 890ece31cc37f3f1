import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { noUsage } from 'guard-gateway/core'
import { maxCost } from 'guard-gateway/plugins/detectors/max-cost'
import { newId } from '#lib/ids'
import { Calendar } from '../../../../plugins/lib/time.ts'
import { Budgets } from '../../../../plugins/policy/budgets/budgets.ts'
import { call } from '../../../kit/evidence.ts'
import { type Bench, busy, newSession, startBench } from '../kit.ts'

const HOUR = 3_600_000
const trace = (n: number) => n.toString(16).padStart(32, '0')

const rules = [{ rule_type: 'max_cost', threshold: 1e9, params: { scope: 'agent', per: 'month' } }]

/** Requests of as many traces, 20 minutes apart, with what each has used; one of each trace is blocked for its session is paused. */
const fill = async (bench: Bench, traces: number): Promise<void> => {
  for (let n = 0; n < traces; n++) {
    const agent_id = n % 2 === 0 ? 'builder' : null
    const over = { agent_id, trace: { trace_id: trace(n), span_id: '1'.repeat(16), parent_span_id: null } as never }
    const asked = (id: string, paused = false) =>
      call({
        at: bench.clock.now(),
        session: newSession({ id: newId('ses_', bench.clock.now()), external_id: id, agent_id, paused }),
        extra: id,
        over,
      })
    const usage = { ...noUsage, total_tokens: 100 + n, cache_read_tokens: n }
    await bench.send(asked(`a${n}`), { usage, cost: { cost_micro: 7, cost_source: 'priced', price_version: '1' } })
    await bench.send(asked(`b${n}`), busy)
    await bench.send(asked(`c${n}`, true))
    bench.clock.advance(HOUR / 3)
  }
}

/** As a gateway would count after a restart. */
const counted = async (bench: Bench, per: 'hour' | 'month', at = bench.clock.now()) => {
  const budgets = new Budgets(bench.gateway, new Calendar('Asia/Kathmandu'))
  await budgets.ready({ pers: [per] }, at)
  const of = (scope: 'agent' | 'project', agent_id: string | null) => {
    const {
      period: _period,
      outcomes: _outcomes,
      ...used
    } = budgets.totals({ scope, per }, { project_id: 'shop', agent_id, at })
    return used
  }
  return { project: of('project', null), builder: of('agent', 'builder'), nameless: of('agent', null) }
}

describe('requests whose records are removed', () => {
  it('stay in every period that they came in, each once', async () => {
    const bench = await startBench({ defaults: rules, time_zone: 'Asia/Kathmandu' }, [maxCost])
    const begun = bench.clock.now()
    await fill(bench, 12)
    const before = await counted(bench, 'month')
    assert.deepEqual([before.project.requests, before.project.failed, before.project.tokens], [24, 12, 1266])
    const hours = await Promise.all([0, 1, 2, 3].map((n) => counted(bench, 'hour', begun + n * HOUR)))
    const gone = [0, 1, 2, 3, 4, 7].map(trace)
    await bench.gateway.hooks.forget.promise(gone)
    const { rows } = await bench.gateway.storage.find('calls', { where: { trace_id: { in: gone } } })
    assert.deepEqual(rows, [])
    assert.deepEqual(await counted(bench, 'month'), before)
    for (const [n, hour] of hours.entries()) assert.deepEqual(await counted(bench, 'hour', begun + n * HOUR), hour)
    await bench.gateway.hooks.forget.promise(gone)
    assert.deepEqual(await counted(bench, 'month'), before)
  })
  it('are passed over where no rule is about a period, and where they are too old for one', async () => {
    const plain = await startBench({}, [maxCost])
    await fill(plain, 2)
    await plain.gateway.hooks.forget.promise([trace(0), trace(1)])
    const rollups = async (bench: Bench) => (await bench.gateway.storage.find('usage_rollups')).rows
    assert.deepEqual(await rollups(plain), [])
    assert.equal((await plain.gateway.storage.find('calls')).rows.length, 6)
    const bench = await startBench({ defaults: rules, time_zone: 'UTC' }, [maxCost])
    await fill(bench, 2)
    bench.clock.advance(40 * 24 * HOUR)
    await fill(bench, 1)
    await bench.gateway.hooks.forget.promise([trace(0), trace(1)])
    assert.deepEqual(
      (await rollups(bench)).map(({ requests, agent_id }) => [requests, agent_id]),
      [[2, 'builder']],
    )
    bench.clock.advance(40 * 24 * HOUR)
    await bench.gateway.hooks.forget.promise([])
    assert.deepEqual(await rollups(bench), [])
  })
})
