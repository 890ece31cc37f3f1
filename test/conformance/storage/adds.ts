import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Addends, Change } from 'guard-gateway/core'
import { type ConformanceItem, type Desk, ids, item } from './items.ts'

const MOST = Number.MAX_SAFE_INTEGER

/** Sums that are kept in a row. */
export const addTests = (desk: Desk): void => {
  const { put, get } = desk
  const adding = (id: string, add: Addends<ConformanceItem>): Change => ({
    table: 'conformance_items',
    key: ['add', id],
    add,
  })
  const add = (id: string, count: number): Promise<boolean> => desk.store.write([adding(id, { count })])
  const countOf = async (id: string) => (await get('add', id))?.count

  describe(`storage ${desk.id}: adding`, () => {
    it('inserts the row, and adds to the one that is there', async () => {
      assert.equal(await add('new', 3), true)
      assert.deepEqual(await get('add', 'new'), item('add', 'new', { count: 3 }))
      assert.equal(await add('new', 4), true)
      assert.equal(await countOf('new'), 7)
    })
    it('takes null for nothing and leaves the other columns alone', async () => {
      const rest = { name: 'n', total: 5n, ratio: 0.5, done: true, data: { x: 1 }, words: ['addable'] }
      await put('add', 'old', rest)
      await add('old', 2)
      const { words: _, ...others } = rest
      assert.deepEqual(await get('add', 'old'), item('add', 'old', { ...others, count: 2 }))
      if (desk.store.capabilities.search === 'tokens')
        assert.equal(ids(await desk.store.find('conformance_items', { search: ['addable'] })), 'old')
    })
    it('takes numbers below zero, and zero', async () => {
      await add('less', -5)
      await add('less', 0)
      await add('less', 2)
      assert.equal(await countOf('less'), -3)
    })
    it('loses nothing of what comes at the same time', async () => {
      await Promise.all(Array.from({ length: 200 }, (_, n) => add('many', n)))
      assert.equal(await countOf('many'), 19_900)
    })
    it('adds each time that a batch names the row, in the order of the changes', async () => {
      const before: Change = { table: 'conformance_items', put: item('add', 'twice', { count: 10 }) }
      const expected: Change = {
        table: 'conformance_items',
        key: ['add', 'twice'],
        patch: { done: true },
        expected: { count: 13 },
      }
      const batch = [before, adding('twice', { count: 1 }), adding('twice', { count: 2 }), expected] as const
      assert.equal(await desk.store.write(batch), true)
      assert.deepEqual(await get('add', 'twice'), item('add', 'twice', { count: 13, done: true }))
    })
    it('adds nothing where a condition of its batch fails, before or after it', async () => {
      await add('kept', 1)
      const failing: Change = { table: 'conformance_items', key: ['add', 'none'], patch: { count: 2 } }
      for (const id of ['kept', 'never']) {
        assert.equal(await desk.store.write([failing, adding(id, { count: 1 })]), false)
        assert.equal(await desk.store.write([adding(id, { count: 1 }), failing]), false)
      }
      assert.equal(await countOf('kept'), 1)
      assert.equal(await get('add', 'never'), undefined)
    })
    it('is exact up to the last safe integer, and stops there', async () => {
      await add('large', MOST - 1)
      await add('large', 1)
      assert.equal(await countOf('large'), MOST)
      for (let n = 0; n < 1_100; n += 100) await Promise.all(Array.from({ length: 100 }, () => add('large', MOST)))
      assert.equal(await countOf('large'), MOST)
      await add('large', -1)
      assert.equal(await countOf('large'), MOST - 1)
      for (let n = 0; n < 3; n++) await add('large', -MOST)
      assert.equal(await countOf('large'), -MOST)
    })
    it('keeps rows apart whatever their keys hold', async () => {
      const odd = ["'; drop table x", 'a\u0000b', '\u{1f600}', ' ', '', '__proto__', 'x'.repeat(5_000)]
      for (const id of [...odd, ...odd]) await add(id, 1)
      for (const id of odd) assert.equal(await countOf(id), 1 + 1, JSON.stringify(id.slice(0, 20)))
    })
    it('shows in sums, filters and orders at once', async () => {
      for (const [id, count] of [
        ['o1', 5],
        ['o2', 1],
        ['o1', 5],
      ] as const)
        await desk.store.write([{ table: 'conformance_items', key: ['added', id], add: { count } }])
      const where = { group: 'added' }
      assert.equal(ids(await desk.store.find('conformance_items', { where, order: ['count', 'asc'] })), 'o2o1')
      assert.equal(ids(await desk.store.find('conformance_items', { where: { ...where, count: 10 } })), 'o1')
      const sums = await desk.store.sum('conformance_items', { where, by: [], of: ['count'] })
      assert.deepEqual(sums, [{ by: {}, rows: 2, sums: { count: 11 } }])
    })
    it('is refused of what is no integer, and of columns that hold none', async () => {
      const refused = (add: object, error: object) =>
        assert.rejects(desk.store.write([{ table: 'conformance_items', key: ['add', 'bad'], add } as Change]), error)
      for (const count of [0.5, Number.NaN, Infinity, 2 ** 53, 1n, '1', null]) await refused({ count }, TypeError)
      await refused({}, TypeError)
      for (const column of ['ratio', 'total', 'name', 'done', 'data', 'id', 'no_such'])
        await refused({ [column]: 1 }, { code: 'UNKNOWN_COLUMN' })
      assert.equal(await get('add', 'bad'), undefined)
    })
  })
}
