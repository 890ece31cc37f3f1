import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { SecondChanceCache } from '../../../plugins/sessions/second-chance-cache.ts'

interface Thing {
  readonly name: string
  open: number
}
const thing = (name: string, open = 0): Thing => ({ name, open })
const absent = async () => undefined

describe('the cache of live things', () => {
  it('drops by age where all were used, and forgets a use that is long past', () => {
    const recent = new SecondChanceCache<Thing>(2)
    for (const name of ['a', 'b']) recent.set(name, thing(name))
    for (const name of ['a', 'b']) recent.get(name)
    recent.set('c', thing('c'))
    assert.deepEqual([recent.size, recent.get('a')], [2, undefined])
    recent.set('d', thing('d'))
    assert.deepEqual([recent.size, recent.get('b'), recent.get('d')?.name], [2, undefined, 'd'])
  })

  it('drops one that was not used', () => {
    const recent = new SecondChanceCache<Thing>(2)
    recent.set('a', thing('a'))
    recent.set('b', thing('b'))
    recent.get('a')
    recent.set('c', thing('c'))
    assert.deepEqual([recent.get('a')?.name, recent.get('b'), recent.get('c')?.name], ['a', undefined, 'c'])
  })

  it('never drops one that is held, and drops the next instead', () => {
    const recent = new SecondChanceCache<Thing>(2, ({ open }) => open > 0)
    const held = recent.set('held', thing('held', 1))
    recent.set('free', thing('free'))
    recent.set('new', thing('new'))
    assert.equal(recent.get('held'), held)
    assert.equal(recent.get('free'), undefined)
    assert.equal(recent.size, 2)
  })

  it('grows rather than drop held ones, and shrinks when they are let go', () => {
    const recent = new SecondChanceCache<Thing>(1, ({ open }) => open > 0)
    const things = ['a', 'b', 'c'].map((name) => recent.set(name, thing(name, 1)))
    assert.equal(recent.size, 3)
    for (const each of things) each.open = 0
    recent.set('d', thing('d'))
    recent.set('e', thing('e'))
    assert.equal(recent.size, 3)
    assert.equal(recent.get('e')?.name, 'e')
  })

  it('reads once for all who ask at once', async () => {
    const recent = new SecondChanceCache<Thing>(10)
    let reads = 0
    const read = async () => {
      reads++
      await Promise.resolve()
      return thing('read')
    }
    const found = await Promise.all([
      recent.load('x', read),
      recent.load('x', read),
      recent.obtain('x', read, () => thing('made')),
    ])
    assert.equal(reads, 1)
    assert.ok(found[0])
    assert.ok(found.every((one) => one === found[0]))
  })

  it('makes what cannot be read, once for all who ask at once', async () => {
    const recent = new SecondChanceCache<Thing>(10)
    const [one, other] = await Promise.all([
      recent.obtain('x', absent, () => thing('one')),
      recent.obtain('x', absent, () => thing('other')),
    ])
    assert.equal(one, other)
    assert.equal(one.name, 'one')
  })

  it('keeps what was put while it was being read', async () => {
    const recent = new SecondChanceCache<Thing>(10)
    const loading = recent.load('x', async () => thing('stale'))
    const put = recent.set('x', thing('put'))
    assert.equal(await loading, put)
  })
  it('shrinks, except for values that were used since the last time or are held', () => {
    const cache = new SecondChanceCache<number>(10, (value) => value === 1)
    for (const value of [1, 2, 3, 4, 5]) cache.set(`${value}`, value)
    cache.get('2')
    cache.shrink(0, (value) => value === 3)
    assert.deepEqual([...cache.values()], [1, 2, 3])
    cache.shrink(2, () => false)
    assert.deepEqual([...cache.values()], [1, 3])
  })
})
