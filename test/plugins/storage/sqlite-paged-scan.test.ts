import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Storage } from 'guard-gateway/core'
import { sqlite } from 'guard-gateway/plugins/storage/sqlite'
import { openConnection } from '../../../plugins/storage/sqlite/worker/connection.ts'
import { GroupCommit } from '../../../plugins/storage/sqlite/worker/group-commit.ts'
import { conformanceTables, item, openPlain } from '../../conformance/storage.ts'

const folder = mkdtempSync(join(tmpdir(), 'guard-walk-'))
after(() => rmSync(folder, { recursive: true }))
const start = (name: string, synchronous: 'normal' | 'full' = 'normal') => ({
  file: join(folder, name),
  tables: conformanceTables,
  synchronous,
  exclusive: false,

  busy_ms: 5_000,
  max_pages: 0,
})

const fill = `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 60000)
  insert into conformance_items ("group", id, ratio) select 'walk', n, n from numbers`

describe('sqlite: a query that has to test many rows', () => {
  let store: Storage
  before(async () => {
    const { db, close } = await openConnection(start('walk.db'))
    db.exec(fill)
    close()
    store = await openPlain(sqlite({ file: start('walk.db').file }))
  })
  after(() => store.close())

  it('stops after 50,000 and says so; its cursor goes on', async () => {
    const first = await store.find('conformance_items', { where: { ratio: { lt: 3 } } })
    assert.deepEqual([first.rows, first.truncated], [[], true])
    const second = await store.find('conformance_items', {
      where: { ratio: { lt: 3 } },
      cursor: String(first.next_cursor),
    })
    assert.deepEqual(
      [second.rows.map((row) => row.id), second.truncated, second.next_cursor],
      [['2', '1'], false, null],
    )
  })

  it('does not walk where an index serves it', async () => {
    const { rows, truncated } = await store.find('conformance_items', {
      where: { group: 'walk' },
      order: ['recorded', 'asc'],
      limit: 2,
    })
    assert.deepEqual([rows.map((row) => row.id), truncated], [['1', '2'], false])
  })

  it('lets a commit go first that comes while long queries are under way', async () => {
    const order: string[] = []
    const long = Array.from({ length: 40 }, (_, n) =>
      store.find('conformance_items', { where: { ratio: -1 - n } }).then(() => order.push('found')),
    )
    const write = store.put('conformance_items', item('g', 'a')).then(() => order.push('written'))
    await Promise.all([...long, write])
    assert.ok(
      order.indexOf('written') < 20,
      `written after ${order.indexOf('written')} of 40 queries that were asked before`,
    )
  })
})

describe('sqlite: a sum of many rows', () => {
  it('is of all of them, and lets a commit go first that comes meanwhile', async (context) => {
    const { db, close } = await openConnection(start('sum.db'))
    db.exec(fill)
    close()
    const store = await openPlain(sqlite({ file: start('sum.db').file }))
    context.after(() => store.close())
    const order: string[] = []
    const asked = { where: { group: 'walk' }, by: ['name'], of: ['count'] } as const
    const sums = Array.from({ length: 8 }, () =>
      store.sum('conformance_items', asked).then((groups) => {
        order.push('summed')
        return groups
      }),
    )
    const write = store.put('conformance_items', item('g', 'a')).then(() => order.push('written'))
    await write
    assert.deepEqual(order, ['written'])
    for (const groups of await Promise.all(sums))
      assert.deepEqual(groups, [{ by: { name: null }, rows: 60_000, sums: { count: 0 } }])
  })
})

describe('sqlite: commits that must survive a power cut', () => {
  const during = async (synchronous: 'normal' | 'full', sync: boolean) => {
    const begun = start(`${synchronous}${sync}.db`, synchronous)
    const { db, close } = await openConnection(begun)
    const read = () => db.pragma('synchronous', { simple: true })
    const group = new GroupCommit(db, begun, () => ({ table: '', arity: 0, keySize: 1, isSum: false, steps: [] }))
    const seen = group.transact(sync, read)
    const afterwards = read()
    close()
    return [seen, afterwards]
  }

  it('run with synchronous FULL, and the others as the file is set', async () => {
    assert.deepEqual(await during('normal', true), [2, 1])
    assert.deepEqual(await during('normal', false), [1, 1])
    assert.deepEqual(await during('full', false), [2, 2])
  })
})
