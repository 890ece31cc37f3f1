import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import type { Query } from 'guard-gateway/core'
import { type ConformanceItem, type Desk, ids } from './items.ts'

type Asked = Query<ConformanceItem>

/** Filters, orders, pages and cursors. */
export const findingTests = (desk: Desk): void => {
  const { put } = desk
  describe(`storage ${desk.id}: finding`, () => {
    const find = (query: Asked) => desk.store.find('conformance_items', query)
    before(async () => {
      const counts = [3, 1, null, 2, 3, null, 1]
      for (const [n, count] of counts.entries()) {
        const even = n % 2 === 0
        await put('find', 'abcdefg'.charAt(n), {
          count,
          done: even,
          total: BigInt(n),
          name: even ? 'ABCDEFG'.charAt(n) : null,
          ratio: n / 2,
        })
      }
    })

    it('gives the newest 50 first', async () => {
      for (let n = 0; n < 60; n++) await put('many', String(n))
      const { rows, next_cursor, truncated } = await find({ where: { group: 'many' } })
      assert.deepEqual([rows.length, rows[0]?.id, rows[49]?.id, truncated], [50, '59', '10', false])
      assert.notEqual(next_cursor, null)
    })

    it('filters by every test', async () => {
      const where = async (test: object) => ids(await find({ where: { group: 'find', ...test } }))
      assert.equal(await where({ count: 3 }), 'ea')
      assert.equal(await where({ count: null }), 'fc')
      assert.equal(await where({ count: { not: null } }), 'gedba')
      assert.equal(await where({ count: { in: [1, 2] } }), 'gdb')
      assert.equal(await where({ count: { in: [] } }), '')
      assert.equal(await where({ count: { gte: 2 } }), 'eda')
      assert.equal(await where({ count: { gte: 1, lt: 3 } }), 'gdb')
      assert.equal(await where({ done: true }), 'geca')
      assert.equal(await where({ done: { in: [false] } }), 'fdb')
      assert.equal(await where({ total: { gte: 2n, lt: 5n } }), 'edc')
      assert.equal(await where({ total: { in: [0n, 6n] } }), 'ga')
      assert.equal(await where({ ratio: { lt: 1 } }), 'ba')
      assert.equal(await where({ name: { gte: 'C' }, done: true, count: 3 }), 'e')
      assert.equal(await where({ count: {} }), 'gfedcba')
    })

    it('orders by a column, nulls last, ties by the order of first put', async () => {
      const ordered = async (direction: 'asc' | 'desc') =>
        ids(await find({ where: { group: 'find' }, order: ['count', direction] }))
      assert.equal(await ordered('asc'), 'bgdaecf')
      assert.equal(await ordered('desc'), 'eadgbfc')
      assert.equal(ids(await find({ where: { group: 'find' }, order: ['recorded', 'asc'] })), 'abcdefg')
      assert.equal(ids(await find({ where: { group: 'find' }, order: ['id', 'desc'] })), 'gfedcba')
    })

    it('orders texts by code points, whatever their length in UTF-16', async () => {
      for (const id of ['\u{1f600}', '\uffee', 'z', 'é', 'ab', 'a', '\ud7ff']) await put('texts', id)
      const order = ['id', 'asc'] as const
      assert.equal(ids(await find({ where: { group: 'texts' }, order })), 'aabzé\ud7ff\uffee\u{1f600}')
      assert.equal(ids(await find({ where: { group: 'texts', id: { gte: '\uffee' } }, order })), '\uffee\u{1f600}')
    })

    const inPages = async (order: NonNullable<Asked['order']>, limit: number): Promise<string> => {
      let seen = ''
      let cursor: string | null = null
      do {
        const page: Awaited<ReturnType<typeof find>> = await find({
          where: { group: 'find' },
          order,
          limit,
          ...(cursor === null ? {} : { cursor }),
        })
        assert.ok(page.rows.length <= limit)
        seen += ids(page)
        cursor = page.next_cursor
      } while (cursor !== null)
      return seen
    }

    it('pages through everything exactly once, in every order and with filters', async () => {
      const orders = [
        ['recorded', 'asc'],
        ['recorded', 'desc'],
        ['count', 'asc'],
        ['count', 'desc'],
        ['total', 'desc'],
        ['id', 'asc'],
      ] as const
      for (const order of orders) {
        const all = ids(await find({ where: { group: 'find' }, order }))
        for (const limit of [1, 2, 3, 7])
          assert.equal(await inPages(order, limit), all, `${order.join(' ')} by ${limit}`)
      }
    })

    it('pages on undisturbed while rows come and change', async () => {
      for (const id of ['a', 'b', 'c', 'd']) await put('moving', id)
      const { rows, next_cursor } = await find({ where: { group: 'moving' }, limit: 2 })
      assert.equal(rows.map((row) => row.id).join(''), 'dc')
      await put('moving', 'e')
      await put('moving', 'b', { count: 1 })
      assert.equal(ids(await find({ where: { group: 'moving' }, limit: 9, cursor: String(next_cursor) })), 'ba')
    })

    it('finds by a column that most rows leave null, with and without a value', async () => {
      for (const id of ['p', 'q', 'r', 's']) await put('rare', id, { done: id === 'q' || id === 's' ? true : null })
      const rare = (query: Asked) => find({ ...query, where: { group: 'rare', ...query.where } })
      assert.equal(ids(await rare({ where: { done: true } })), 'sq')
      assert.equal(ids(await rare({ where: { done: true }, order: ['recorded', 'asc'] })), 'qs')
      assert.equal(ids(await rare({ where: { done: null } })), 'rp')
      assert.equal(ids(await rare({ where: { done: { not: null } } })), 'sq')
      const all = await find({ where: { done: null }, limit: 10_000 })
      assert.ok(all.rows.length > 50 && all.rows.every(({ done }) => done === null))
      const { rows, next_cursor } = await find({ where: { done: true }, limit: 1 })
      const rest = await find({ where: { done: true }, cursor: String(next_cursor) })
      assert.ok([...rows, ...rest.rows].every(({ done }) => done === true))
      await put('rare', 'p', { done: true })
      await put('rare', 's')
      assert.equal(ids(await rare({ where: { done: true } })), 'qp')
    })

    it('gives a cursor for every row where asked, and none else', async () => {
      const where = { group: 'find' }
      for (const order of [
        ['recorded', 'desc'],
        ['count', 'asc'],
        ['total', 'desc'],
      ] as const) {
        const all = await find({ where, order, cursors: true })
        assert.equal(all.cursors?.length, all.rows.length)
        for (const [at, cursor] of (all.cursors ?? []).entries())
          assert.equal(ids(await find({ where, order, cursor })), ids({ rows: all.rows.slice(at + 1) }))
      }
      assert.equal((await find({ where })).cursors, undefined)
    })

    it('refuses a cursor of another query', async () => {
      const { next_cursor } = await find({ where: { group: 'find' }, limit: 1 })
      const cursor = String(next_cursor)
      const refused = { code: 'INVALID_CURSOR' }
      await assert.rejects(find({ where: { group: 'other' }, cursor }), refused)
      await assert.rejects(find({ where: { group: 'find' }, order: ['count', 'asc'], cursor }), refused)
      await assert.rejects(
        find({ where: { group: 'find' }, cursor: `${cursor.slice(0, 8)}A${cursor.slice(9)}` }),
        refused,
      )
      await assert.rejects(find({ where: { group: 'find' }, cursor: 'x' }), refused)
      assert.equal(ids(await find({ where: { group: 'find' }, limit: 2, cursor })), 'fe')
    })

    it('refuses a cursor whose value no column holds', async () => {
      const asked = { where: { group: 'find' }, order: ['total', 'asc'], limit: 1 } as const
      const { next_cursor } = await find(asked)
      const [print, recorded] = JSON.parse(Buffer.from(String(next_cursor), 'base64url').toString())
      const forged = JSON.stringify([print, recorded, ['9999999999999999999']])
      const cursor = Buffer.from(forged).toString('base64url')
      await assert.rejects(find({ ...asked, cursor }), { code: 'INVALID_CURSOR' })
    })
  })
}
