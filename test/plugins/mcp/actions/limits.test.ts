import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { Gateway } from 'guard-gateway/core'
import { memory } from 'guard-gateway/plugins/storage/memory'
import { foundation } from 'guard-gateway/presets/foundation'
import { type Limits, type LimitUse, MemoryLimits } from '../../../../plugins/mcp/actions/limits.ts'
import { limitTable } from '../../../../plugins/mcp/actions/tables.ts'
import { StoredLimits } from '../../../../plugins/mcp/policy/index.ts'
import { fakeClock } from '../../../kit/clock.ts'

const use = (more: Partial<LimitUse> = {}): LimitUse => ({
  rule_id: 'r',
  kind: 'server',
  key: 'fs',
  calls: 2,
  per_ms: 1000,
  ...more,
})
let time = 0
/** Both clocks are set at once. */
const clock = { now: () => time, tick: () => time }
const takeAt = (limits: Limits, uses: readonly LimitUse[], at: number) => {
  time = at
  return limits.take(uses)
}
const exceededAt = (limits: Limits, uses: readonly LimitUse[], at: number) => {
  time = at
  return limits.exceeded(uses)
}
let made = 0
const fresh = (): string => `key${++made}`

describe('limits', () => {
  let gateway: Gateway
  before(async () => {
    gateway = new Gateway({ clock }).use(...foundation(), memory())
    gateway.tables.add(limitTable)
    await gateway.open()
  })
  after(() => gateway.close())

  const kinds: readonly (readonly [string, LimitUse['kind'], () => Limits])[] = [
    ['in memory', 'session', () => new MemoryLimits(() => clock.now())],
    ['of a session', 'session', () => new StoredLimits(gateway)],
    ['of a server', 'server', () => new StoredLimits(gateway)],
    ['of a tool', 'tool', () => new StoredLimits(gateway)],
  ]
  for (const [name, kind, make] of kinds) {
    it(`${name} slide: a call fits as soon as the oldest one that counts is a period old`, async () => {
      const limits = make()
      const one = [use({ kind, key: fresh() })]
      const wait = async (at: number) => (await takeAt(limits, one, at))?.wait_ms ?? 0
      assert.deepEqual([await wait(0), await wait(900)], [0, 0])
      assert.equal(await wait(901), 99)
      assert.equal(await wait(999), 1)
      assert.equal(await wait(1000), 0)
      assert.equal(await wait(1001), 899)
      assert.equal(await wait(1900), 0)
    })
    it(`${name} hold nobody up for longer than two periods where the clock is set back`, async () => {
      const limits = make()
      const one = [use({ kind, key: fresh(), calls: 1 })]
      await takeAt(limits, one, 10_000)
      assert.equal((await takeAt(limits, one, 9_500))?.wait_ms, 1_500)
      assert.equal(await takeAt(limits, one, 8_999), undefined)
      assert.equal((await takeAt(limits, one, 9_000))?.wait_ms, 999)
    })
    it(`${name} never let more calls into any period than they say`, async () => {
      const gaps = fc.array(fc.integer({ min: 0, max: 700 }), { maxLength: 25 })
      await fc.assert(
        fc.asyncProperty(gaps, async (waits) => {
          const limits = make()
          const one = [use({ kind, key: fresh(), calls: 3 })]
          const forwarded: number[] = []
          let at = 0
          for (const gap of waits) {
            at += gap
            const lost = await takeAt(limits, one, at)
            const inPeriod = forwarded.filter((time) => time > at - 1000).length
            assert.equal(lost === undefined, inPeriod < 3)
            if (lost === undefined) forwarded.push(at)
            else assert.equal((await exceededAt(limits, one, at + lost.wait_ms)).length, 0)
          }
        }),
        { numRuns: 25, seed: 3 },
      )
    })
    it(`${name} count nothing where they are only asked`, async () => {
      const limits = make()
      const one = [use({ kind, key: fresh(), calls: 1 })]
      assert.deepEqual([await exceededAt(limits, one, 0), await exceededAt(limits, one, 0)], [[], []])
      await takeAt(limits, one, 0)
      assert.equal((await exceededAt(limits, one, 1))[0]?.wait_ms, 999)
    })
    it(`${name} count against all of several, or against none`, async () => {
      const limits = make()
      const wide = use({ kind, key: fresh(), calls: 5 })
      const narrow = use({ kind, key: wide.key, rule_id: 'narrow', calls: 1 })
      await takeAt(limits, [wide, narrow], 0)
      assert.equal((await takeAt(limits, [wide, narrow], 1))?.use.rule_id, 'narrow')
      for (let call = 0; call < 4; call++) assert.equal(await takeAt(limits, [wide], 2), undefined)
      assert.equal((await takeAt(limits, [wide], 3))?.use.rule_id, 'r')
    })
    it(`${name} hold when all calls come at once`, async () => {
      const limits = make()
      const one = [use({ kind, key: fresh(), calls: 7 })]
      const taken = await Promise.all(Array.from({ length: 50 }, () => takeAt(limits, one, 5)))
      assert.equal(taken.filter((lost) => lost === undefined).length, 7)
    })
  }
  it('of a session last as long as they say, however the wall clock is set', async () => {
    const set = fakeClock()
    const limits = new StoredLimits(new Gateway({ clock: set }).use(...foundation()))
    const one = [use({ kind: 'session', key: fresh(), calls: 1 })]
    assert.equal(await limits.take(one), undefined)
    for (const jump of [40 * 86_400_000, -80 * 86_400_000]) {
      set.jump(jump)
      assert.equal((await limits.take(one))?.wait_ms, 1000)
    }
    set.advance(999)
    assert.equal((await limits.take(one))?.wait_ms, 1)
    set.advance(1)
    assert.equal(await limits.take(one), undefined)
  })
  it('of servers hold between processes that share the storage', async () => {
    const one = [use({ key: fresh(), calls: 4 })]
    const processes = [new StoredLimits(gateway), new StoredLimits(gateway), new StoredLimits(gateway)]
    const taken = await Promise.all(processes.flatMap((limits) => [takeAt(limits, one, 1), takeAt(limits, one, 1)]))
    assert.ok(taken.filter((lost) => lost === undefined).length <= 4)
    const row = (await gateway.storage.find('mcp_limits')).rows[0]
    assert.equal(row?.times.length, taken.filter((lost) => lost === undefined).length)
  })
  it('of servers count nothing where that of the session gives its last room away meanwhile', async () => {
    const limits = new StoredLimits(gateway)
    const own = use({ kind: 'session', key: fresh(), calls: 1 })
    const shared = use({ key: fresh(), calls: 1 })
    const [first, second] = await Promise.all([limits.take([own, shared]), limits.take([own])])
    assert.deepEqual([first?.use, second?.use], [undefined, own])
    assert.equal((await limits.exceeded([shared])).length, 1)
  })
  it('of callers under ever new names are forgotten when they are over', async () => {
    const limits = new StoredLimits(gateway)
    const count = async () => (await gateway.storage.find('mcp_limits', { limit: 500 })).rows.length
    const named = () => [use({ kind: 'client', key: fresh(), calls: 2, per_ms: 10 })]
    for (let made = 0; made < 20; made++) await takeAt(limits, named(), 1_000_000)
    const young = await count()
    const kept = named()
    await takeAt(limits, kept, 1_000_009)
    for (let made = 0; made < 8; made++) await takeAt(limits, named(), 1_000_011)
    assert.ok((await count()) <= young - 20 + 9, String(await count()))
    await takeAt(limits, kept, 1_000_011)
    assert.equal((await exceededAt(limits, kept, 1_000_011)).length, 1)
  })
  it('refuse a call after five lost races', async () => {
    const limits = new StoredLimits(gateway)
    const one = [use({ key: fresh(), calls: 100 })]
    const { write } = gateway.storage
    let tried = 0
    gateway.storage.write = async () => {
      tried++
      return false
    }
    try {
      assert.equal((await takeAt(limits, one, 1))?.wait_ms, 1000)
      assert.equal(tried, 5)
    } finally {
      gateway.storage.write = write
    }
  })
  it('of a session end with it; those of a server do not', async () => {
    const limits = new StoredLimits(gateway)
    const own = [use({ kind: 'session', key: 'mcp_9', calls: 1 })]
    const shared = [use({ key: fresh(), calls: 1 })]
    await takeAt(limits, own, 0)
    await takeAt(limits, shared, 0)
    limits.endSession('mcp_9')
    assert.equal(await takeAt(limits, own, 1), undefined)
    assert.equal((await takeAt(limits, shared, 1))?.wait_ms, 999)
  })
})
