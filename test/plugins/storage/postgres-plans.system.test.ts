import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Query, Storage } from 'guard-gateway/core'
import { postgres } from 'guard-gateway/plugins/storage/postgres'
import { type ConformanceItem, item, openPlain } from '../../conformance/storage.ts'
import { cleanUpPostgres, needsPostgres, newDatabase, runSql } from '../../kit/postgres.ts'

const ROWS = 60_000

/** Rows that reads may touch, whatever the size of the table, beside those of a page. */
const FEW = 4_000

describe('postgres: what a query examines', needsPostgres, () => {
  cleanUpPostgres()
  let store: Storage
  let url = ''
  before(async () => {
    url = await newDatabase()
    store = await openPlain(postgres({ url, pool: 3 }))
    await runSql(
      url,
      `insert into conformance_items ("group", id, count, ratio, done, words)
       select 'g' || n % 50, n::text, n % 1000, n % 7, case when n % 5000 = 0 then true end,
         array_to_tsvector(array['common', 'mod_' || n % 20, 'rare_' || n % 20000, 'own_' || n])
       from generate_series(1, ${ROWS}) n`,
      'vacuum analyze conformance_items',
    )
  })
  after(() => store.close())

  const count = async () => {
    const [row] = await runSql(
      url,
      `select (seq_tup_read + idx_tup_fetch)::int as n from pg_stat_user_tables where relname = 'conformance_items'`,
    )
    return Number(row?.n)
  }
  /** A connection reports what it read when it ends, if not before. */
  const closed = async (): Promise<void> => {
    await store.close()
    const others = `select 1 from pg_stat_activity where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`
    while ((await runSql(url, others)).length > 0) await new Promise(setImmediate)
  }
  /** Rows of the table that the work fetched or scanned, and its result. */
  const examined = async <T>(work: () => Promise<T>) => {
    await closed()
    const start = await count()
    store = await openPlain(postgres({ url, pool: 3 }))
    const result = await work()
    await closed()
    const rows = (await count()) - start
    store = await openPlain(postgres({ url, pool: 3 }))
    return { rows, result }
  }
  const find = (query: Query<ConformanceItem>) => store.find('conformance_items', query)

  it('is little where few rows have a token, and where many have it', async () => {
    const { rows, result } = await examined(async () => [
      await find({ search: ['rare_77'], limit: 1 }),
      await find({ search: ['own_12345*'], limit: 1 }),
      await find({ search: ['nothing'], limit: 1 }),
      await find({ search: ['common', 'rare_77'], order: ['total', 'asc'] }),
      await find({ search: ['common'], limit: 20 }),
      await find({ search: ['mod_3'], limit: 20 }),
    ])
    assert.deepEqual(
      result.map((page) => page.rows.length),
      [1, 1, 0, 3, 20, 20],
    )
    assert.ok(rows < FEW, `${rows} rows`)
  })

  it('ends a page early where the tests let few rows through, and the cursor goes on', async () => {
    let cursor: string | null = null
    let found = 0
    let pages = 0
    do {
      const page: Awaited<ReturnType<typeof find>> = await find({
        where: { ratio: 99 },
        order: ['recorded', 'desc'],
        ...(cursor === null ? {} : { cursor }),
      })
      found += page.rows.length
      pages++
      cursor = page.next_cursor
      assert.equal(page.truncated, cursor !== null)
    } while (cursor !== null)
    assert.deepEqual([found, pages], [0, 2])
  })

  it('removes what the tests name, in batches', async () => {
    await store.put('conformance_items', item('z', 'keep'))
    let removed = 0
    for (let batch = 1; batch > 0; removed += batch)
      batch = await store.remove('conformance_items', { group: 'g7' }, 500)
    assert.equal(removed, ROWS / 50)
    assert.equal((await find({ where: { group: 'g7' } })).rows.length, 0)
    assert.equal((await find({ where: { group: 'z' } })).rows.length, 1)
  })
})
