import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { type Change, type Storage, type Table, table } from 'guard-gateway/core'
import { postgres } from 'guard-gateway/plugins/storage/postgres'
import { createStore } from 'guard-gateway/plugins/store'
import { Client } from 'pg'
import { conformanceTables, item, openPlain } from '../../conformance/storage.ts'
import { cleanUpPostgres, needsPostgres, newDatabase, runSql } from '../../kit/postgres.ts'

const plain = { text: (text: string) => text, value: <T>(value: T) => value, judgeId: () => 'plain' as const }
const withTables = async (url: string, tables: readonly Table[], advisory_locks = true): Promise<Storage> =>
  createStore(await postgres({ url, advisory_locks }).open(tables, { fault: () => {} }), tables, { redact: plain })

const look = (id: string, count: number): Change => ({
  table: 'conformance_items',
  key: ['g', id],
  patch: {},
  expected: { count },
})
const patch = (id: string, count: number, expected: number): Change => ({
  table: 'conformance_items',
  key: ['g', id],
  patch: { count },
  expected: { count: expected },
})
const add = (id: string, count = 1): Change => ({ table: 'conformance_items', key: ['g', id], add: { count } })

describe('postgres: several processes on one database', needsPostgres, () => {
  cleanUpPostgres()
  const two = async () => {
    const url = await newDatabase()
    const stores = [await openPlain(postgres({ url })), await openPlain(postgres({ url }))] as const
    return { url, stores, close: () => Promise.all(stores.map((store) => store.close())) }
  }

  it('compare and set: of many that begin at the same version, one wins each time', async () => {
    const { stores, close } = await two()
    await stores[0].put('conformance_items', item('g', 'a', { count: 0 }))
    let won = 0
    const worker = async (store: Storage): Promise<void> => {
      for (let turn = 0; turn < 40; turn++) {
        const count = (await store.get('conformance_items', ['g', 'a']))?.count ?? 0
        const note = { table: 'conformance_notes', put: { id: String(count), text: null }, when: 'absent' } as const
        if (await store.write([patch('a', count + 1, count), note, add('sum')])) won++
      }
    }
    await Promise.all([...stores, ...stores, ...stores].map(worker))
    assert.equal((await stores[1].get('conformance_items', ['g', 'a']))?.count, won)
    assert.equal((await stores[1].get('conformance_items', ['g', 'sum']))?.count, won)
    assert.equal((await stores[0].sum('conformance_notes', { by: [], of: [] }))[0]?.rows, won)
    await close()
  })

  it('a condition without a change takes no lock, and writes nothing', async () => {
    const { url, stores, close } = await two()
    const [store] = stores
    await store.put('conformance_items', item('g', 'a', { count: 1 }))
    const other = new Client({ connectionString: url })
    await other.connect()
    await other.query('begin')
    await other.query(`select 1 from conformance_items where id = 'a' for update`)
    const version = async () => (await other.query(`select xmin::text from conformance_items where id = 'a'`)).rows[0]
    const before = await version()
    assert.equal(await store.write([look('a', 1)]), true)
    assert.equal(await store.write([look('a', 2)]), false)
    assert.equal(await store.write([look('a', 1), add('b')]), true)
    assert.equal(await store.write([add('b'), look('a', 2)]), false)
    assert.equal(await store.write([look('none', 2), add('b')]), false)
    await other.query('rollback')
    assert.deepEqual(await version(), before)
    await other.end()
    assert.equal((await store.get('conformance_items', ['g', 'b']))?.count, 1)
    await close()
  })

  it('batches that lock the same rows the other way round are all written', async () => {
    const { stores, close } = await two()
    const rows = ['a', 'b', 'c']
    const writes = Array.from({ length: 60 }, (_, n) => {
      const turned = n % 2 === 0 ? rows : [...rows].reverse()
      return stores[n % 2 === 0 ? 0 : 1].write(turned.map((id) => add(id)))
    })
    assert.deepEqual(new Set(await Promise.all(writes)), new Set([true]))
    for (const id of rows) assert.equal((await stores[0].get('conformance_items', ['g', id]))?.count, 60)
    await close()
  })

  it('batches of one process that touch the same row run in the order in which they came', async () => {
    const { stores, close } = await two()
    const [store] = stores
    const writes = [store.put('conformance_items', item('g', 'a', { count: 0 }))]
    for (let n = 0; n < 60; n++) {
      writes.push(store.write([patch('a', n + 1, n), ...(n % 3 === 0 ? [add('sum')] : [])]))
      writes.push(store.write([look('a', n + 1)]))
      if (n % 5 === 0) writes.push(store.write([add('sum', 2), add(`other ${n}`)]))
    }
    writes.push(store.write([{ table: 'conformance_items', key: ['g', 'a'], remove: true }]))
    writes.push(store.write([{ table: 'conformance_items', put: item('g', 'a'), when: 'absent' }]))
    assert.deepEqual(new Set(await Promise.all(writes)), new Set([true]))
    assert.equal((await store.get('conformance_items', ['g', 'sum']))?.count, 20 + 24)
    await close()
  })

  it('exclusive work excludes that of the other process, and its writes of the row', async () => {
    const { stores, close } = await two()
    const increase = (store: Storage) =>
      store.exclusive('conformance_items', ['g', 'x'], async (read) => {
        const count = ((await read.get('conformance_items', ['g', 'x']))?.count ?? 0) + 1
        await new Promise((resolve) => setTimeout(resolve, 1))
        return [count, [{ table: 'conformance_items', put: item('g', 'x', { count }) }]]
      })
    const works = Array.from({ length: 30 }, (_, n) => increase(stores[n % 2 === 0 ? 0 : 1]))
    const adds = Array.from({ length: 10 }, (_, n) => stores[n % 2 === 0 ? 1 : 0].write([add('x', 100)]))
    await Promise.all([...works, ...adds])
    const count = (await stores[0].get('conformance_items', ['g', 'x']))?.count ?? 0
    // what was added before the row was there is replaced by the first put alone
    assert.equal(count % 100, 30)
    const other = await Promise.all([
      increase(stores[0]),
      stores[0].exclusive('conformance_items', ['g', 'y'], async () => [7, []]),
    ])
    assert.equal(other[1], 7)
    await close()
  })

  it('exclusive work may read by the storage too, while writes wait for its row', async () => {
    const url = await newDatabase()
    for (const pool of [3, 4, 10]) {
      const store = await openPlain(postgres({ url, pool, lock_timeout_ms: 8_000 }))
      await store.put('conformance_items', item('g', 'x', { count: 0 }))
      let adds: Promise<boolean>[] = []
      const seen = await store.exclusive('conformance_items', ['g', 'x'], async () => {
        adds = Array.from({ length: 40 }, () => store.write([add('x'), add(`x${Math.random()}`)]))
        await new Promise((resolve) => setTimeout(resolve, 50))
        const start = performance.now()
        const found = await Promise.all(Array.from({ length: 20 }, () => store.get('conformance_items', ['g', 'x'])))
        assert.ok(performance.now() - start < 7_000, 'reads wait for the writes')
        return [found.at(-1)?.count, [patch('x', 1_000, 0)]]
      })
      assert.equal(seen, 0)
      assert.deepEqual(new Set(await Promise.all(adds)), new Set([true]))
      assert.equal((await store.get('conformance_items', ['g', 'x']))?.count, 1_040)
      await store.close()
    }
  })

  it('a process that is killed leaves nothing locked', async () => {
    const { url, stores, close } = await two()
    const child = fork(new URL('./postgres-holder.ts', import.meta.url), [url], {
      execArgv: process.execArgv,
      stdio: 'inherit',
    })
    await once(child, 'message')
    const waiting = stores[0].exclusive('conformance_items', ['g', 'held'], async () => ['mine', []])
    child.kill('SIGKILL')
    assert.equal(await waiting, 'mine')
    await close()
  })

  it('many that start at once on an empty database all open, with and without advisory locks', async () => {
    for (const advisory_locks of [true, false]) {
      const url = await newDatabase()
      const stores = await Promise.all(Array.from({ length: 4 }, () => openPlain(postgres({ url, advisory_locks }))))
      const written = await Promise.all(stores.map((store, n) => store.put('conformance_items', item('g', String(n)))))
      assert.deepEqual(written, [true, true, true, true])
      assert.equal((await runSql(url, 'select cluster from guard_meta')).length, 1)
      await Promise.all(stores.map((store) => store.close()))
    }
  })

  it('a newer one that adds a column, an index and a table runs beside an older one', async () => {
    const url = await newDatabase()
    const older = await openPlain(postgres({ url }))
    await older.put('conformance_items', item('g', 'a', { name: 'kept' }))
    const [items, notes] = conformanceTables as unknown as [Table, Table]
    const newer = await withTables(url, [
      {
        ...items,
        columns: { ...items.columns, added: 'integer' },
        indexes: [...(items.indexes ?? []), ['group', 'added']],
      },
      notes,
      table({ id: 'conformance_more', columns: { id: 'text' } } as never),
    ])
    const key = ['g', 'a'] as const
    await newer.patch('conformance_items', key, { added: 3 } as object)
    await older.patch('conformance_items', key, { count: 1 })
    assert.deepEqual(await newer.get('conformance_items', key), {
      ...item('g', 'a', { name: 'kept', count: 1 }),
      added: 3,
    })
    assert.equal((await older.find('conformance_items', { where: { group: 'g' } })).rows.length, 1)
    await older.put('conformance_items', item('g', 'b'))
    const again = await openPlain(postgres({ url }))
    assert.equal(await again.put('conformance_items', item('g', 'c')), true)
    const kept = await runSql(
      url,
      `select indexname from pg_indexes where indexname = 'conformance_items__i__group__added'`,
    )
    assert.equal(kept.length, 1, 'an older version drops nothing')
    await Promise.all([older, newer, again].map((store) => store.close()))
  })
})
