import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { Gateway } from 'guard-gateway/core'
import { type FakeClock, fakeClock, foundation } from 'guard-gateway/test'
import { openCallTable } from '#lib/trace'
import { DEAD_MS, Instances } from '../../../plugins/cluster/instances.ts'
import { tables } from '../../../plugins/cluster/tables.ts'
import { sharedMemory } from '../../kit/shared-memory.ts'

describe('processes that share a storage', () => {
  let clock: FakeClock
  let gateways: Gateway[] = []
  const backend = () => sharedMemory()
  const join = async (shared: ReturnType<typeof backend>): Promise<Instances> => {
    const gateway = new Gateway({ clock })
    for (const plugin of [...foundation(), shared]) plugin.apply(gateway)
    for (const table of [...tables, openCallTable]) gateway.tables.add(table)
    await gateway.open()
    gateways.push(gateway)
    const instances = new Instances(gateway, '1.0.0')
    await instances.register()
    return instances
  }
  /** Lets time pass in which these look each second. */
  const pass = async (ms: number, ...living: readonly Instances[]): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 1_000) {
      clock.advance(1_000)
      for (const each of living) await each.beat()
    }
  }
  beforeEach(() => {
    clock = fakeClock()
    gateways = []
  })

  it('see one another', async () => {
    const shared = backend()
    const [one, other] = [await join(shared), await join(shared)]
    await one.beat()
    assert.deepEqual(new Set(one.alive.map(({ id }) => id)), new Set([one.id, other.id]))
    await other.leave()
    await one.beat()
    assert.deepEqual(
      one.alive.map(({ id }) => id),
      [one.id],
    )
  })

  it('have one that leads, and another one when it has died', async () => {
    const shared = backend()
    const [one, other] = [await join(shared), await join(shared)]
    await one.beat()
    await other.beat()
    assert.deepEqual([one.leads, other.leads], [true, false])
    await pass(DEAD_MS, other)
    assert.equal(other.leads, true)
    // it was only slow: it finds that out, and goes on as a new one
    const before = one.id
    assert.equal(await one.beat(), false)
    assert.notEqual(one.id, before)
    assert.equal(one.leads, false)
  })

  it('end what one left that has died, once', async () => {
    const shared = backend()
    const [dead, one, other] = [await join(shared), await join(shared), await join(shared)]
    const ended: string[] = []
    for (const each of [one, other]) each.onEnded(async (id) => void ended.push(id))
    for (const each of [one, other]) await each.beat()
    await pass(DEAD_MS / 2, one, other)
    assert.deepEqual(ended, [])
    await pass(DEAD_MS / 2, one, other)
    await one.beat()
    assert.deepEqual(ended, [dead.id])
  })

  it('take over from one that died while it ended what another one left', async () => {
    const shared = backend()
    const [dead, ending, last] = [await join(shared), await join(shared), await join(shared)]
    ending.onEnded(() => Promise.reject(new Error('killed')))
    const ended: string[] = []
    last.onEnded(async (id) => void ended.push(id))
    for (const each of [ending, last]) await each.beat()
    await assert.rejects(pass(DEAD_MS, ending), /killed/)
    await last.beat()
    assert.deepEqual(ended, [])
    await pass(DEAD_MS, last)
    assert.deepEqual(new Set(ended), new Set([dead.id, ending.id]))
  })

  it('are not taken for dead after the database was away for all of them', async () => {
    const shared = backend()
    const [one, other] = [await join(shared), await join(shared)]
    const ended: string[] = []
    for (const each of [one, other]) each.onEnded(async (id) => void ended.push(id))
    await pass(2_000, one, other)
    clock.advance(10 * DEAD_MS)
    await one.beat()
    assert.equal(await other.beat(), true)
    await pass(2_000, one, other)
    assert.deepEqual(ended, [])
    assert.equal(one.alive.length, 2)
  })

  it('do not compare their clocks', async () => {
    const shared = backend()
    const one = await join(shared)
    clock = fakeClock()
    clock.advance(86_400_000)
    const other = await join(shared)
    for (let turn = 0; turn < 3; turn++) {
      await one.beat()
      assert.equal(await other.beat(), true)
    }
    assert.equal(other.alive.length, 2)
  })
})
