import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type ConformanceItem, type Desk, ids, item } from './items.ts'

/** Single rows: what goes in comes out, and patches compare before they set. */
export const rowTests = (desk: Desk): void => {
  const { put, get } = desk
  describe(`storage ${desk.id}: rows`, () => {
    it('returns values as they went in', async () => {
      const data = JSON.parse(
        '{"__proto__":{"x":1},"list":[1,"two",null,true],"deep":{"é":"\\u0000 \\ud83d\\ude00"}}',
      ) as Record<string, unknown>
      data.big = 12345678901234567890n
      const row = item('values', 'a"b\'c', {
        name: 'ünï\u0000 "x"',
        count: -3,
        total: 9223372036854775807n,
        ratio: 0.1,
        done: false,
        data,
      })
      assert.equal(await desk.store.put('conformance_items', row), true)
      assert.deepEqual(await get('values', 'a"b\'c'), row)
      await put('values', 'low', {
        total: -9223372036854775808n,
        count: Number.MAX_SAFE_INTEGER,
        ratio: 3,
        done: true,
        name: '',
        data: 'text',
      })
      assert.deepEqual(
        await get('values', 'low'),
        item('values', 'low', {
          total: -9223372036854775808n,
          count: Number.MAX_SAFE_INTEGER,
          ratio: 3,
          done: true,
          name: '',
          data: 'text',
        }),
      )
    })

    it('keeps apart rows that repeat one another and rows that do not', async () => {
      const texts = ['plain', "it's; '' --", '? ?1 :a @b $c', 'back\\slash', '', '\u0000', 'é', 'x'.repeat(99), null]
      const puts = [...texts, ...texts].flatMap((text, n) =>
        [0, 1, 2].map((time) => ({ table: 'conformance_notes' as const, put: { id: `${n}.${time}`, text } })),
      )
      await desk.store.write(puts)
      for (const { put } of puts) assert.deepEqual(await desk.store.get('conformance_notes', put.id), put)
      const values = [
        { count: 7, ratio: 2, done: true, data: [] },
        { count: 0, ratio: 0.5, done: false, data: [{}] },
        {},
      ]
      for (const [n, rest] of [...values, ...values].entries()) {
        for (const time of [0, 1, 2]) {
          await desk.put('repeated', `${n}.${time}`, rest)
          assert.deepEqual(await desk.get('repeated', `${n}.${time}`), item('repeated', `${n}.${time}`, rest))
        }
      }
    })

    it('keeps its own copy of json values', async () => {
      const data = { list: [1] }
      await put('copies', 'a', { data })
      data.list.push(2)
      assert.deepEqual((await get('copies', 'a'))?.data, { list: [1] })
    })

    it('answers undefined for a row that is not there', async () =>
      assert.equal(await get('values', 'none'), undefined))

    it('replaces the whole row at a second put and keeps its place', async () => {
      for (const id of ['a', 'b', 'c']) await put('places', id, { count: 1, name: id })
      await put('places', 'a', { ratio: 2 })
      assert.deepEqual(await get('places', 'a'), item('places', 'a', { ratio: 2 }))
      assert.equal(ids(await desk.store.find('conformance_items', { where: { group: 'places' } })), 'cba')
    })

    it('puts only where absent, if so told', async () => {
      assert.equal(await desk.store.put('conformance_items', item('absent', 'a', { count: 1 }), 'absent'), true)
      assert.equal(await desk.store.put('conformance_items', item('absent', 'a', { count: 2 }), 'absent'), false)
      assert.equal((await get('absent', 'a'))?.count, 1)
    })

    it('refuses a second row with the same unique columns, null apart', async () => {
      assert.equal(await put('unique', 'a', { name: 'one' }), true)
      assert.equal(await put('unique', 'b', { name: 'one' }), false)
      assert.equal(await desk.store.put('conformance_items', item('unique', 'b', { name: 'one' }), 'absent'), false)
      assert.equal(await get('unique', 'b'), undefined)
      assert.equal(await put('unique', 'b', { name: 'two' }), true)
      assert.equal(await desk.store.patch('conformance_items', ['unique', 'b'], { name: 'one' }), false)
      assert.equal(await put('unique', 'c'), true)
      assert.equal(await put('unique', 'd'), true)
      assert.equal(await desk.store.patch('conformance_items', ['unique', 'a'], { name: null }), true)
      assert.equal(await put('unique', 'b', { name: 'one' }), true)
    })
  })

  describe(`storage ${desk.id}: patches`, () => {
    const patch = (
      id: string,
      changes: Partial<ConformanceItem>,
      expected?: Parameters<typeof desk.store.patch<'conformance_items'>>[3],
    ) => desk.store.patch('conformance_items', ['patch', id], changes, expected)

    it('changes the given columns only', async () => {
      await put('patch', 'a', { name: 'n', count: 1, data: { x: 1, y: 2 } })
      assert.equal(await patch('a', { count: 2, data: { x: 3 }, name: null, total: 5n }), true)
      assert.deepEqual(await get('patch', 'a'), item('patch', 'a', { count: 2, data: { x: 3 }, total: 5n }))
      assert.equal(await patch('a', {}), true)
    })

    it('is false for a row that is not there', async () => {
      assert.equal(await patch('none', { count: 1 }), false)
      assert.equal(await patch('none', {}), false)
    })

    it('compares before it sets', async () => {
      await put('patch', 'b', { count: 1, done: true, total: 7n })
      assert.equal(await patch('b', { count: 2 }, { count: 2 }), false)
      assert.equal(await patch('b', { count: 2 }, { count: 1, done: true, total: 7n, name: null }), true)
      assert.equal(await patch('b', { count: 3 }, { count: { gte: 3 } }), false)
      assert.equal(await patch('b', { count: 3 }, { count: { gte: 2, lt: 3 }, total: { in: [1n, 7n] } }), true)
      assert.equal(await patch('b', { count: 4 }, { name: { not: null } }), false)
      assert.equal((await get('patch', 'b'))?.count, 3)
    })

    it('lets exactly one of many comparers win', async () => {
      await put('patch', 'c', { count: 0 })
      const won = await Promise.all(Array.from({ length: 20 }, (_, n) => patch('c', { count: n + 1 }, { count: 0 })))
      assert.equal(won.filter(Boolean).length, 1)
    })
  })
}
