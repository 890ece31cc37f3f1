import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Case, type CaseSample, kindsOf, nameOf } from '../../../bench/scale/gateways.ts'
import { figuresOf, latencyOf } from '../../../bench/scale/summary.ts'

const sample = (of: Partial<Case>, round: number, more: Partial<CaseSample>): CaseSample => ({
  ...{ requests: 100, failed: 0, errors: [], decisions: {}, p50_ms: 1, p99_ms: 2, wall_ms: 100 },
  ...{ gateway_us: 100, postgres_us: 50, provider_us: 10, transactions: 2, wal_bytes: 1_000, threads_us: {} },
  of: { store: 'sqlite', gateways: 1, routing: 'sticky', shape: 'chat_1k', budget: false, ...of },
  round,
  ...more,
})

describe('the figures of the scale suite', () => {
  it('compare one gateway on SQLite with each number on PostgreSQL, sticky and not', () => {
    const names = kindsOf([1, 2, 3]).map((kind) => nameOf({ ...kind, shape: 'chat_1k', budget: false }))
    assert.deepEqual(names, [
      'chat_1k, sqlite ×1',
      'chat_1k, postgres ×1',
      'chat_1k, postgres ×2, sticky',
      'chat_1k, postgres ×2, any',
      'chat_1k, postgres ×3, sticky',
      'chat_1k, postgres ×3, any',
    ])
  })
  it('are ratios within a round and under the same load', () => {
    const two: Partial<Case> = { store: 'postgres', gateways: 2 }
    const rounds = [0, 1, 2].flatMap((round) => {
      // the machine is slower in each round, and with a budget
      const slow = 1 + round
      const all = (budget: boolean, wall_ms: number) => [
        sample({ budget }, round, { wall_ms: wall_ms * slow, gateway_us: 100 * slow }),
        sample({ store: 'postgres', budget }, round, { wall_ms: 2 * wall_ms * slow, gateway_us: 150 * slow }),
        sample({ ...two, budget }, round, { wall_ms: wall_ms * slow, gateway_us: 200 * slow }),
      ]
      return [...all(false, 100), ...all(true, 1_000)]
    })
    const figures = figuresOf(rounds)
    assert.equal(figures.length, 6)
    for (const one of figures.filter(({ of }) => of.gateways === 2)) {
      assert.equal(one.served_to_sqlite, 1)
      assert.equal(one.served_to_one, 2)
      assert.equal(one.cpu_to_sqlite, 2)
      assert.equal(one.by_cpu, (2 * 150) / 200)
    }
    const free = figures.find(({ of }) => of.gateways === 2 && !of.budget)
    assert.equal(free?.requests_per_s, 500)
    assert.equal(free?.transactions, 2)
  })
  it('say nothing of PostgreSQL for SQLite, nor of the CPU of a server elsewhere', () => {
    const elsewhere = { postgres_us: null }
    const [sqlite, postgres] = figuresOf([sample({}, 0, {}), sample({ store: 'postgres' }, 0, elsewhere)])
    assert.deepEqual([sqlite?.postgres_us, sqlite?.transactions, postgres?.postgres_us], [null, 0, null])
  })
  it('take the added latency within a round', () => {
    const rounds = [0, 1, 2].flatMap((round) => [
      sample({}, round, { p50_ms: 1 + round, p99_ms: 3 }),
      sample({ store: 'postgres' }, round, { p50_ms: 2.5 + round, p99_ms: 7 }),
    ])
    const { added_p50_ms, added_p99_ms, sqlite_p50_ms, postgres_p50_ms } = latencyOf(rounds)
    assert.deepEqual([added_p50_ms, added_p99_ms, sqlite_p50_ms, postgres_p50_ms], [1.5, 4, 2, 3.5])
  })
})
