import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { MemoryBudget } from '#lib/memory-budget'
import { BodyCache } from '../../../../plugins/lib/request-reader/body-cache.ts'

const MIB = 1024 * 1024

/** Keeps so many bodies of this size, each under a name of its own, with states that weigh this much; gives the names that are still known. */
const kept = (count: number, bytes: number, weight: number): number[] => {
  const bodies = new BodyCache<number>((state) => state, new MemoryBudget(48 * MIB))
  const body = Buffer.alloc(bytes)
  const names = Array.from({ length: count }, (_, index) => index)
  for (const name of names) bodies.set(`${name}`, body, weight, undefined)
  return names.filter((name) => bodies.get(`${name}`).length > 0)
}

describe('cached bodies', () => {
  it('take what the budget has, the least recently used ones out', () => {
    assert.equal(kept(48, MIB, 0).length, 48)
    assert.deepEqual(
      kept(49, MIB, 0),
      Array.from({ length: 41 }, (_, index) => index + 8),
    )
  })
  it('count with what is known of them', () => {
    assert.deepEqual(kept(10, MIB, 7 * MIB), [5, 6, 7, 8, 9])
  })
  it('count the state that took the place of another', () => {
    const bodies = new BodyCache<number>((state) => state, new MemoryBudget(48 * MIB))
    const body = Buffer.alloc(MIB)
    bodies.set('a', body, 0, undefined)
    for (const state of [7 * MIB, 7 * MIB]) bodies.set('b', body, state, bodies.get('b')[0])
    for (let index = 0; index < 39; index++) bodies.set(`${index}`, body, 0, undefined)
    assert.equal(bodies.get('a').length, 1)
    bodies.set('one more', body, 0, undefined)
    assert.deepEqual([bodies.get('a').length, bodies.get('38').length], [0, 1])
  })
  it('take more than 48 MiB of a larger budget only while they are used', () => {
    let now = 0
    const budget = new MemoryBudget(96 * MIB)
    const bodies = new BodyCache<number>(
      (state) => state,
      budget,
      () => now,
    )
    const body = Buffer.alloc(MIB)
    const cached = () => budget.held / MIB
    for (let index = 0; index < 80; index++) bodies.set(`${index}`, body, 0, undefined)
    assert.equal(cached(), 80)
    // sessions in turns beyond the budget: each body is copied once, and evicts those that were used longest ago
    for (let index = 80; index < 200; index++) bodies.set(`${index}`, body, 0, undefined)
    assert.ok(cached() <= 96)
    now += 1001
    for (let index = 0; index < 10; index++) bodies.set(`later ${index}`, body, 0, undefined)
    assert.ok(cached() <= 48)
    assert.equal(bodies.get('later 0').length, 1)
  })
  it('are not kept if one takes more than a sixth of it', () => {
    assert.deepEqual(kept(1, 8 * MIB, 0), [0])
    assert.deepEqual(kept(1, 8 * MIB + 1, 0), [])
  })
  it('are freed at once, but for 4 MiB of buffers that later bodies are put into', () => {
    const bodies = new BodyCache<number>((state) => state, new MemoryBudget(48 * MIB))
    const body = Buffer.alloc(MIB, 'x')
    const buffers = new Set<Buffer | undefined>()
    const keep = (name: string, weight: number) => {
      bodies.set(name, body, weight, undefined)
      buffers.add(bodies.get(name)[0]?.bytes)
    }
    for (let index = 0; index < 49; index++) keep(`${index}`, 0)
    assert.equal(buffers.size, 49)
    keep('heavy', 40 * MIB)
    assert.equal(buffers.size, 49)
    assert.equal([...buffers].filter((bytes) => bytes?.length === 0).length, 44)
    for (let index = 0; index < 5; index++) bodies.set(`later ${index}`, body, 0, undefined)
    assert.ok(bodies.get('later 4')[0]?.bytes.equals(body))
  })
  it('are freed all together, and kept again', () => {
    const bodies = new BodyCache<number>((state) => state, new MemoryBudget(48 * MIB))
    const body = Buffer.alloc(MIB, 'x')
    // more than there is room for, so that some buffers wait for another body
    for (let index = 0; index < 52; index++) bodies.set(`${index}`, body, 0, undefined)
    const buffers = Array.from({ length: 8 }, (_, index) => bodies.get(`${index + 40}`)[0]?.bytes)
    bodies.clear()
    assert.deepEqual(
      buffers.map((bytes) => bytes?.length),
      buffers.map(() => 0),
    )
    assert.equal(bodies.get('51').length, 0)
    for (let index = 0; index < 49; index++) bodies.set(`${index}`, body, 0, undefined)
    assert.deepEqual([bodies.get('7').length, bodies.get('8').length], [0, 1])
    assert.ok(bodies.get('48')[0]?.bytes.equals(body))
  })
})
