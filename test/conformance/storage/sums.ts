import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import type { Group, Sum } from 'guard-gateway/core'
import type { ConformanceItem, Desk } from './items.ts'

/** Sums, alone and by group. */
export const sumTests = (desk: Desk): void => {
  describe(`storage ${desk.id}: sums`, () => {
    const sum = async <B extends keyof ConformanceItem & string, O extends keyof ConformanceItem & string>(
      asked: Sum<ConformanceItem, B, O>,
    ) => sorted(await desk.store.sum('conformance_items', { where: { group: 'sums' }, ...asked }))
    before(async () => {
      const rows = [
        { count: 3, done: true, name: 'a', total: 1n },
        { count: 1, done: false, name: 'b', total: 2n },
        { count: null, done: true, name: 'c', total: 3n },
        { count: -4, done: true, total: 4n },
        { count: 2 ** 40, done: null, total: 5n },
      ]
      for (const [n, row] of rows.entries()) await desk.put('sums', String(n), row)
      await desk.put('other sums', '0', { count: 100, done: true })
    })

    it('add a column up, null as nothing, and count the rows', async () => {
      assert.deepEqual(await sum({ by: [], of: ['count'] }), [{ by: {}, rows: 5, sums: { count: 2 ** 40 } }])
      assert.deepEqual(await sum({ by: [], of: [] }), [{ by: {}, rows: 5, sums: {} }])
    })
    it('keep rows apart that differ in a column, null among its values', async () => {
      assert.deepEqual(await sum({ by: ['done'], of: ['count'] }), [
        { by: { done: false }, rows: 1, sums: { count: 1 } },
        { by: { done: null }, rows: 1, sums: { count: 2 ** 40 } },
        { by: { done: true }, rows: 3, sums: { count: -1 } },
      ])
      const pairs = await sum({ by: ['group', 'name'], of: ['count'] })
      assert.deepEqual(
        pairs.map(({ by, rows }) => [by.group, by.name, rows]),
        [
          ['sums', 'a', 1],
          ['sums', 'b', 1],
          ['sums', 'c', 1],
          ['sums', null, 2],
        ],
      )
    })
    it('take the rows alone that meet every test', async () => {
      const where = { group: 'sums', done: true }
      assert.deepEqual(await sum({ where: { ...where, count: { gte: 0 } }, by: [], of: ['count'] }), [
        { by: {}, rows: 1, sums: { count: 3 } },
      ])
      assert.deepEqual(await sum({ where: { ...where, name: { in: ['a', 'c', 'z'] } }, by: [], of: ['count'] }), [
        { by: {}, rows: 2, sums: { count: 3 } },
      ])
      assert.deepEqual(await sum({ where: { group: 'no such' }, by: [], of: ['count'] }), [])
      assert.deepEqual(await sum({ where: { group: 'no such' }, by: ['done'], of: ['count'] }), [])
    })
    it('come to the same along any order that an index serves', async () => {
      const expected = await sum({ by: ['done'], of: ['count'] })
      for (const order of [
        ['count', 'asc'],
        ['count', 'desc'],
        ['recorded', 'desc'],
      ] as const)
        assert.deepEqual(await sum({ order, by: ['done'], of: ['count'] }), expected)
      assert.deepEqual(
        await sum({
          where: { group: 'sums', total: { gte: 2n, lt: 5n } },
          order: ['total', 'asc'],
          by: [],
          of: ['count'],
        }),
        [{ by: {}, rows: 3, sums: { count: -3 } }],
      )
    })
    it('see what was written, changed and removed before', async () => {
      const where = { group: 'sums late' }
      await desk.put('sums late', 'a', { count: 1 })
      await desk.put('sums late', 'b', { count: 2 })
      await desk.store.patch('conformance_items', ['sums late', 'a'], { count: 10 })
      await desk.store.write([{ table: 'conformance_items', key: ['sums late', 'b'], remove: true }])
      assert.deepEqual(await sum({ where, by: [], of: ['count'] }), [{ by: {}, rows: 1, sums: { count: 10 } }])
    })
    it('are refused of columns that cannot be added up, grouped by or walked along', async () => {
      const refused = (asked: object) =>
        assert.rejects(() => desk.store.sum('conformance_items', { by: [], of: [], ...asked }), {
          code: 'FILTER_UNSUPPORTED',
        })
      await refused({ of: ['name'] })
      await refused({ of: ['total'] })
      await refused({ by: ['data'] })
      await refused({ by: ['ratio'] })
      await refused({ order: ['ratio', 'asc'] })
      await refused({ where: { data: 1 } })
      await assert.rejects(() => desk.store.sum('conformance_items', { by: ['no_such'] as never, of: [] }), {
        code: 'UNKNOWN_COLUMN',
      })
    })
  })
}

const sorted = <B extends string, O extends string>(groups: readonly Group<B, O>[]): readonly Group<B, O>[] =>
  [...groups].sort((one, other) => (JSON.stringify(one.by) < JSON.stringify(other.by) ? -1 : 1))
