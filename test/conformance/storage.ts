import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createStore, type Storage, type StorageBackend, table } from 'guard-gateway/core'

/** A row with a column of every kind. */
export interface ConformanceItem {
  group: string
  id: string
  name: string | null
  count: number | null
  total: bigint | null
  ratio: number | null
  done: boolean | null
  data: unknown
  words?: readonly string[]
}

declare module 'guard-gateway/core' {
  interface Tables {
    conformance_items: ConformanceItem
    conformance_notes: { id: string; text: string | null }
  }
}

/** The tables that the suite opens a backend with. */
export const conformanceTables = [
  table({
    id: 'conformance_items',
    key: ['group', 'id'],
    columns: {
      group: 'text',
      id: 'text',
      name: 'text',
      count: 'integer',
      total: 'int64',
      ratio: 'real',
      done: 'boolean',
      data: 'json',
      words: 'search',
    },
    indexes: [['group', 'recorded'], ['group', 'count'], ['total']],
    unique: [['group', 'name']],
  }),
  table({ id: 'conformance_notes', columns: { id: 'text', text: 'text' } }),
]

/** An item with every column null but those given. */
export const item = (group: string, id: string, rest: Partial<ConformanceItem> = {}): ConformanceItem => ({
  group,
  id,
  name: null,
  count: null,
  total: null,
  ratio: null,
  done: null,
  data: null,
  ...rest,
})

const plain = { text: (text: string) => text, value: <T>(value: T) => value }

/** Opens a backend the way the gateway does, but without redaction. */
export const openPlain = async (
  backend: StorageBackend,
  fault: (error: unknown, where: string) => void = () => {},
): Promise<Storage> =>
  createStore(await backend.open(conformanceTables, { fault }), conformanceTables, { redact: plain })

const ids = (found: { readonly rows: readonly { readonly id: string }[] }): string =>
  found.rows.map((row) => row.id).join('')

/** Registers the tests that every storage backend passes. It writes to two tables of its own, named `conformance_…`. */
export const storageConforms = (backend: StorageBackend): void => {
  let store: Storage
  before(async () => {
    store = await openPlain(backend)
  })
  after(() => store.close())
  const put = (group: string, id: string, rest: Partial<ConformanceItem> = {}) =>
    store.put('conformance_items', item(group, id, rest))
  const get = (group: string, id: string) => store.get('conformance_items', [group, id])

  describe(`storage ${backend.id}: rows`, () => {
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
      assert.equal(await store.put('conformance_items', row), true)
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
      assert.equal(ids(await store.find('conformance_items', { where: { group: 'places' } })), 'cba')
    })

    it('puts only where absent, if so told', async () => {
      assert.equal(await store.put('conformance_items', item('absent', 'a', { count: 1 }), 'absent'), true)
      assert.equal(await store.put('conformance_items', item('absent', 'a', { count: 2 }), 'absent'), false)
      assert.equal((await get('absent', 'a'))?.count, 1)
    })

    it('refuses a second row with the same unique columns, null apart', async () => {
      assert.equal(await put('unique', 'a', { name: 'one' }), true)
      assert.equal(await put('unique', 'b', { name: 'one' }), false)
      assert.equal(await store.put('conformance_items', item('unique', 'b', { name: 'one' }), 'absent'), false)
      assert.equal(await get('unique', 'b'), undefined)
      assert.equal(await put('unique', 'b', { name: 'two' }), true)
      assert.equal(await store.patch('conformance_items', ['unique', 'b'], { name: 'one' }), false)
      assert.equal(await put('unique', 'c'), true)
      assert.equal(await put('unique', 'd'), true)
      assert.equal(await store.patch('conformance_items', ['unique', 'a'], { name: null }), true)
      assert.equal(await put('unique', 'b', { name: 'one' }), true)
    })
  })

  describe(`storage ${backend.id}: patches`, () => {
    const patch = (
      id: string,
      changes: Partial<ConformanceItem>,
      expected?: Parameters<typeof store.patch<'conformance_items'>>[3],
    ) => store.patch('conformance_items', ['patch', id], changes, expected)

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

  describe(`storage ${backend.id}: batches`, () => {
    it('writes all or nothing', async () => {
      await put('batch', 'old', { count: 1 })
      const first = { table: 'conformance_items', put: item('batch', 'new', { words: ['fresh'] }) } as const
      const note = { table: 'conformance_notes', put: { id: 'batch', text: 'x' } } as const
      const removal = { table: 'conformance_items', key: ['batch', 'old'], remove: true } as const
      for (const failing of [
        { table: 'conformance_items', key: ['batch', 'old'], patch: { count: 2 }, expected: { count: 9 } },
        { table: 'conformance_items', key: ['batch', 'none'], patch: { count: 2 } },
        { table: 'conformance_items', put: item('batch', 'old'), when: 'absent' },
      ] as const) {
        assert.equal(await store.write([first, note, failing, removal]), false)
        assert.equal(await get('batch', 'new'), undefined)
        assert.equal(await store.get('conformance_notes', 'batch'), undefined)
        assert.equal((await get('batch', 'old'))?.count, 1)
        assert.equal(ids(await store.find('conformance_items', { search: ['fresh'] })), '')
      }
      assert.equal(await store.write([first, note, removal]), true)
      assert.equal(await get('batch', 'old'), undefined)
      assert.deepEqual(await store.get('conformance_notes', 'batch'), { id: 'batch', text: 'x' })
    })

    it('applies changes in order', async () => {
      const done = await store.write([
        { table: 'conformance_items', put: item('order', 'a', { count: 1 }) },
        { table: 'conformance_items', key: ['order', 'a'], patch: { count: 2 }, expected: { count: 1 } },
        { table: 'conformance_items', key: ['order', 'a'], remove: true },
        { table: 'conformance_items', put: item('order', 'a', { count: 3 }), when: 'absent', sync: true },
      ])
      assert.equal(done, true)
      assert.equal((await get('order', 'a'))?.count, 3)
    })

    it('removing what is not there is no failure', async () =>
      assert.equal(await store.write([{ table: 'conformance_notes', key: 'none', remove: true }]), true))

    it('keeps batches apart that are written at the same time', async () => {
      const results = await Promise.all(
        Array.from({ length: 60 }, (_, n) =>
          store.write([
            { table: 'conformance_items', put: item('apart', `${n}a`, { count: n }) },
            { table: 'conformance_items', put: item('apart', n % 3 === 0 ? 'shared' : `${n}b`), when: 'absent' },
          ]),
        ),
      )
      assert.equal(results.filter(Boolean).length, 41)
      assert.equal((await store.find('conformance_items', { where: { group: 'apart' }, limit: 200 })).rows.length, 82)
    })
  })

  describe(`storage ${backend.id}: finding`, () => {
    const find = (query: Parameters<typeof store.find<'conformance_items'>>[1]) =>
      store.find('conformance_items', query)
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
    })

    it('orders by a column, nulls last, ties by the order of first put', async () => {
      const ordered = async (direction: 'asc' | 'desc') =>
        ids(await find({ where: { group: 'find' }, order: ['count', direction] }))
      assert.equal(await ordered('asc'), 'bgdaecf')
      assert.equal(await ordered('desc'), 'eadgbfc')
      assert.equal(ids(await find({ where: { group: 'find' }, order: ['recorded', 'asc'] })), 'abcdefg')
      assert.equal(ids(await find({ where: { group: 'find' }, order: ['id', 'desc'] })), 'gfedcba')
    })

    it('pages through everything exactly once, in every order and with filters', async () => {
      for (const order of [
        ['recorded', 'asc'],
        ['recorded', 'desc'],
        ['count', 'asc'],
        ['count', 'desc'],
        ['total', 'desc'],
        ['id', 'asc'],
      ] as const) {
        for (const limit of [1, 2, 3, 7]) {
          const all = ids(await find({ where: { group: 'find' }, order }))
          let pages = ''
          let cursor: string | null = null
          do {
            const page: Awaited<ReturnType<typeof find>> = await find({
              where: { group: 'find' },
              order,
              limit,
              ...(cursor === null ? {} : { cursor }),
            })
            assert.ok(page.rows.length <= limit)
            pages += ids(page)
            cursor = page.next_cursor
          } while (cursor !== null)
          assert.equal(pages, all, `${order.join(' ')} by ${limit}`)
        }
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
  })

  describe(`storage ${backend.id}: search`, () => {
    it('finds rows that hold every token, and beginnings of tokens', async (t) => {
      if (store.capabilities.search === 'none') return t.skip('this backend has no search')
      const search = async (...tokens: string[]) =>
        ids(await store.find('conformance_items', { where: { group: 'search' }, search: tokens }))
      await put('search', 'a', { words: ['alpha', 'beta', 'read_file', '_tag_6f'] })
      await put('search', 'b', { words: ['beta', 'größe', '数据'], count: 4 })
      await put('search', 'c', { words: [] })
      assert.equal(await search('beta'), 'ba')
      assert.equal(await search('beta', 'alpha'), 'a')
      assert.equal(await search('al*', 'b*'), 'a')
      assert.equal(await search('read*'), 'a')
      assert.equal(await search('read'), '')
      assert.equal(await search('_tag_6f'), 'a')
      assert.equal(await search('größe'), 'b')
      assert.equal(await search('grosse'), '')
      assert.equal(await search('数*'), 'b')
      assert.equal(
        ids(
          await store.find('conformance_items', {
            where: { group: 'search' },
            search: ['beta'],
            order: ['count', 'asc'],
          }),
        ),
        'ba',
      )
      const page = await store.find('conformance_items', { where: { group: 'search' }, search: ['beta'], limit: 1 })
      assert.equal(ids(page), 'b')
      assert.equal(
        ids(
          await store.find('conformance_items', {
            where: { group: 'search' },
            search: ['beta'],
            limit: 1,
            cursor: String(page.next_cursor),
          }),
        ),
        'a',
      )
    })

    it('follows puts, patches and removals', async (t) => {
      if (store.capabilities.search === 'none') return t.skip('this backend has no search')
      const search = async (token: string) =>
        ids(await store.find('conformance_items', { where: { group: 'follow' }, search: [token] }))
      await put('follow', 'a', { words: ['one', 'two'] })
      await store.patch('conformance_items', ['follow', 'a'], { count: 1 })
      assert.equal(await search('one'), 'a')
      await store.patch('conformance_items', ['follow', 'a'], { words: ['two', 'three'] })
      assert.equal(await search('one'), '')
      assert.equal(await search('three'), 'a')
      assert.equal(await store.patch('conformance_items', ['follow', 'a'], { words: ['lost'] }, { count: 2 }), false)
      assert.equal((await search('lost')) + (await search('three')), 'a')
      await put('follow', 'a', { count: 2 })
      assert.equal(await search('two'), '')
      await put('follow', 'b', { words: ['two'] })
      await store.write([{ table: 'conformance_items', key: ['follow', 'b'], remove: true }])
      await put('follow', 'c')
      assert.equal(await search('two'), '')
    })
  })

  describe(`storage ${backend.id}: removing, exclusive work, refusals`, () => {
    it('removes up to a limit what passes the tests', async () => {
      for (let n = 0; n < 5; n++) await put('remove', String(n), { done: n !== 2, words: ['gone'] })
      assert.equal(await store.remove('conformance_items', { group: 'remove', done: true }, 3), 3)
      assert.equal(await store.remove('conformance_items', { group: 'remove', done: true }, 3), 1)
      assert.equal(await store.remove('conformance_items', { group: 'remove', done: true }, 3), 0)
      assert.equal(ids(await store.find('conformance_items', { where: { group: 'remove' } })), '2')
      if (store.capabilities.search === 'tokens')
        assert.equal(ids(await store.find('conformance_items', { search: ['gone'] })), '2')
    })

    it('lets one piece of exclusive work at a time see and change a row', async () => {
      await put('exclusive', 'a', { count: 0 })
      const add = () =>
        store.exclusive('conformance_items', ['exclusive', 'a'], async (read) => {
          const count = ((await read.get('conformance_items', ['exclusive', 'a']))?.count ?? 0) + 1
          return [count, [{ table: 'conformance_items', key: ['exclusive', 'a'], patch: { count } }]] as const
        })
      const results = await Promise.all(Array.from({ length: 20 }, add))
      assert.deepEqual(
        results.sort((a, b) => a - b),
        Array.from({ length: 20 }, (_, n) => n + 1),
      )
    })

    it('writes nothing when exclusive work throws or meets a failed condition', async () => {
      await assert.rejects(
        store.exclusive('conformance_items', ['exclusive', 'b'], () => Promise.reject(new Error('no'))),
        /no/,
      )
      const lost = store.exclusive('conformance_items', ['exclusive', 'b'], async () => [
        1,
        [
          { table: 'conformance_items', put: item('exclusive', 'b') },
          { table: 'conformance_items', key: ['exclusive', 'none'], patch: { count: 1 } },
        ],
      ])
      await assert.rejects(lost, { code: 'STORAGE_BUSY' })
      assert.equal(await get('exclusive', 'b'), undefined)
    })

    it('refuses what it cannot serve', async () => {
      const unsupported = { code: 'FILTER_UNSUPPORTED' }
      await assert.rejects(store.find('conformance_items', { order: ['ratio', 'asc'] }), unsupported)
      await assert.rejects(store.find('conformance_notes', { search: ['x'] }), unsupported)
    })

    it('says how much it holds', async () => assert.ok((await store.bytes()) > 0))
  })
}
