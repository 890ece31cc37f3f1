import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Change, Storage } from 'guard-gateway/core'
import { postgres } from 'guard-gateway/plugins/storage/postgres'
import type { Batch } from '../../../plugins/storage/postgres/writes/batch.ts'
import { mergedAdds } from '../../../plugins/storage/postgres/writes/merged-adds.ts'
import { takeGroup } from '../../../plugins/storage/postgres/writes/write-queue.ts'
import { item, openPlain } from '../../conformance/storage.ts'
import { cleanUpPostgres, needsPostgres, newDatabase } from '../../kit/postgres.ts'

const items = 'conformance_items'
const add = (id: string, count = 1): Change => ({ table: items, key: ['g', id], add: { count } })
const absent = (id: string): Change => ({ table: items, put: item('g', id), when: 'absent' })
const patch = (id: string, count: number): Change => ({ table: items, key: ['g', id], patch: { count } })

describe('postgres: batches that share a transaction', needsPostgres, () => {
  cleanUpPostgres()
  let url = ''
  let stores: Storage[] = []
  before(async () => {
    url = await newDatabase()
    stores = [await openPlain(postgres({ url, pool: 4 })), await openPlain(postgres({ url, pool: 4 }))]
  })
  after(() => Promise.all(stores.map((store) => store.close())))
  const countOf = async (id: string) => (await stores[0]?.get(items, ['g', id]))?.count

  it('have each their own answer: what is refused writes nothing, and the others are written', async () => {
    const [store] = stores as [Storage]
    await store.put(items, item('g', 'there'))
    const batches = Array.from({ length: 90 }, (_, n): readonly Change[] => {
      if (n % 9 === 3) return [add('hot'), patch(`none ${n}`, 1)]
      if (n % 9 === 5) return [patch(`none ${n}`, 1)]
      if (n % 9 === 7) return [absent('there')]
      if (n % 9 === 8) return [absent(`new ${n}`)]
      return [absent(`a ${n}`), add('hot'), absent(`b ${n}`), add('hot'), add('hotter', 2)]
    })
    const written = await Promise.all(batches.map((batch) => store.write(batch, { hold: true })))
    assert.deepEqual(
      written,
      batches.map((_, n) => ![3, 5, 7].includes(n % 9)),
    )
    assert.deepEqual([await countOf('hot'), await countOf('hotter')], [100, 100])
    const { rows } = await store.find(items, { where: { group: 'g' }, limit: 500 })
    assert.equal(rows.length, 3 + 10 + 100)
  })

  it('of several processes that touch the same rows in any order come to an end, each of them written once', async () => {
    const rows = Array.from({ length: 12 }, (_, n) => `row ${n}`)
    for (const id of rows) await stores[0]?.put(items, item('g', id, { count: 0 }))
    const start = performance.now()
    const writes = stores.flatMap((store, which) =>
      Array.from({ length: 300 }, (_, n) => {
        const id = rows[(n * (which === 0 ? 1 : 5)) % rows.length] ?? ''
        return store.write([
          { table: items, key: ['g', id], patch: { done: n % 2 === 0 } },
          add(id),
          add(`sum ${n % 3}`),
        ])
      }),
    )
    assert.deepEqual(new Set(await Promise.all(writes)), new Set([true]))
    const counts = await Promise.all([...rows, 'sum 0', 'sum 1', 'sum 2'].map(countOf))
    assert.deepEqual(counts, [...rows.map(() => 50), 200, 200, 200])
    assert.ok(performance.now() - start < 20_000)
  })

  it('add to a row in one statement, unless a sum would stop at another place', () => {
    const one = (row: string, ...addends: number[]) => ({
      row,
      keySize: 1,
      statement: { name: `w${addends.length}`, sql: '', values: [row, ...addends.map(String)] },
    })
    const MOST = Number.MAX_SAFE_INTEGER
    const merged = mergedAdds([
      one('b', 1),
      one('a', 1, 2),
      one('b', 4),
      one('a', 3, 0),
      one('b', -2),
      one('a', 1),
      one('b', MOST),
      one('b', MOST),
    ])
    assert.deepEqual(
      merged.map(({ values }) => values),
      [
        ['a', '4', '2'],
        ['a', '1'],
        ['b', '5'],
        ['b', '-2'],
        ['b', String(MOST)],
        ['b', String(MOST)],
      ],
    )
  })

  it('are several only where more wait than there are writers', () => {
    const batches = (count: number): Batch[] =>
      Array.from({ length: count }, () => ({ isAlone: false, uncertain: undefined, touches: [] }) as unknown as Batch)
    const sizes = (count: number): number[] => {
      const ready = batches(count)
      const taken: number[] = []
      while (ready.length > 0) taken.push(takeGroup(ready, 4).length)
      return taken
    }
    assert.deepEqual(sizes(4), [1, 1, 1, 1])
    assert.deepEqual(sizes(7), [2, 2, 1, 1, 1])
    assert.equal(sizes(100)[0], 8)
    const ready = batches(40)
    Object.assign(ready[2] ?? {}, { isAlone: true })
    assert.deepEqual([takeGroup(ready, 4).length, takeGroup(ready, 4).length, takeGroup(ready, 4).length], [2, 1, 8])
  })
})
