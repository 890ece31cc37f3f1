import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import type { Driver, DriverChange, StorageBackend } from 'guard-gateway/core'
import { sqlite } from 'guard-gateway/plugins/storage/sqlite'
import { writeJson } from '#lib/json'
import { contents, copy, fill, items, kept, notes, PLAIN, rowOf, withDriver } from './copy-kit.ts'

const folder = mkdtempSync(join(tmpdir(), 'guard-copy-'))
after(() => rmSync(folder, { recursive: true }))

let files = 0
const sqliteFile = (): StorageBackend => sqlite({ file: join(folder, `${++files}.db`) })

describe('copying a storage', () => {
  for (const [title, make] of [
    ['sqlite, memory, sqlite', () => [sqliteFile(), kept(), sqliteFile()]],
    ['memory, sqlite, memory', () => [kept(), sqliteFile(), kept()]],
  ] as const) {
    it(`keeps every row, its order and its words: ${title}`, async () => {
      const [first, second, third] = make() as [StorageBackend, StorageBackend, StorageBackend]
      await withDriver(first, async (driver) => {
        await fill(driver, 2_500)
        await driver.write([{ kind: 'remove', table: items, key: ['a', 'r0'] }], PLAIN)
        // changed later, so that tokens of other versions lie in the index
        const changed = { ...rowOf(4), words: ['word3', 'größe', 'new'] }
        await driver.write([{ kind: 'put', table: items, row: changed, absent: false }], PLAIN)
      })
      const there = await copy(first, second)
      const back = await copy(second, third)
      assert.deepEqual(there.result.tables, back.result.tables)
      assert.deepEqual(
        there.result.tables.map(({ table, rows }: { table: string; rows: number }) => [table, rows]),
        [
          ['conformance_items', 2_499],
          ['conformance_notes', 2_500],
        ],
      )
      const before = await contents(first)
      assert.ok(before.tagged.length > 100)
      assert.deepEqual(await contents(second), before)
      assert.deepEqual(await contents(third), before)
    })
  }

  it('goes on where an interrupted copy stopped, and changes nothing when it is done', async () => {
    const [from, to] = [sqliteFile(), sqliteFile()]
    await withDriver(from, (driver) => fill(driver, 3_000))
    let writes = 0
    let rows = 0
    let dies = true
    const dying: StorageBackend = {
      id: 'dying',
      open: async (given, context) => {
        const driver = await to.open(given, context)
        const write: Driver['write'] = (batch, options) => {
          if (dies && ++writes === 3) throw new Error('the machine went down')
          rows += batch.length
          return driver.write(batch, options)
        }
        return { ...driver, capabilities: driver.capabilities, write }
      },
    }
    await assert.rejects(copy(from, dying), /the machine went down/)
    const first = (await contents(to)).rows.length
    assert.ok(first > 0 && first < 3_000 && first === rows)
    dies = false
    await copy(from, dying)
    assert.equal(rows, 6_000, 'no row was written twice')
    assert.deepEqual(await contents(to), await contents(from))
    const again = await copy(from, dying)
    assert.equal(rows, 6_000)
    assert.equal(again.result.tables[0].rows, 3_000)
  })

  it('copies rows of megabytes in batches that a storage takes', async () => {
    const [from, to] = [sqliteFile(), sqliteFile()]
    await withDriver(from, async (driver) => {
      await fill(driver, 100)
      for (let place = 0; place < 24; place++) {
        const row = { ...rowOf(200 + place), data: { text: `${place}`.padEnd(4_000_000, 'x') } }
        await driver.write([{ kind: 'put', table: items, row, absent: true }], PLAIN)
      }
    })
    const sizes: number[] = []
    const measured: StorageBackend = {
      id: 'measured',
      open: async (given, context) => {
        const driver = await to.open(given, context)
        const write: Driver['write'] = (batch, options) => {
          sizes.push(writeJson(batch.map((change) => (change.kind === 'put' ? change.row.data : 0))).length)
          return driver.write(batch, options)
        }
        return { ...driver, capabilities: driver.capabilities, write }
      },
    }
    await copy(from, measured)
    assert.ok(Math.max(...sizes) < 9_000_000, String(Math.max(...sizes)))
    assert.deepEqual(await contents(to), await contents(from))
  })

  it('refuses a target with rows that the source has not, before it writes', async () => {
    const [from, to] = [sqliteFile(), kept()]
    await withDriver(from, (driver) => fill(driver, 10))
    await withDriver(to, (driver) =>
      driver.write([{ kind: 'put', table: notes, row: { id: 'mine', text: null }, absent: true }], PLAIN),
    )
    await assert.rejects(copy(from, to), {
      code: 'COPY_TARGET_OCCUPIED',
      message: /Table conformance_notes: the target has a row \(mine\) .* Nothing was written/,
    })
    assert.equal((await contents(to)).rows.length, 0)
  })

  it('refuses a source that changed since an earlier copy', async () => {
    const [from, to] = [sqliteFile(), kept()]
    await withDriver(from, (driver) => fill(driver, 10))
    await copy(from, to)
    await withDriver(from, (driver) =>
      driver.write([{ kind: 'patch', table: notes, key: ['n3'], changes: { text: 'new' }, expected: {} }], PLAIN),
    )
    await assert.rejects(copy(from, to), { code: 'COPY_TARGET_OCCUPIED', message: /\(n3\)/ })
  })

  it('says where a target differs at the end', async () => {
    const [from, to] = [sqliteFile(), kept()]
    await withDriver(from, (driver) => fill(driver, 10))
    const losing: StorageBackend = {
      id: 'losing',
      open: async (given, context) => {
        const driver = await to.open(given, context)
        const changed = (change: DriverChange): DriverChange =>
          change.kind === 'put' && change.row.id === 'n7' ? { ...change, row: { id: 'n7', text: 'torn' } } : change
        return { ...driver, write: (batch, options) => driver.write(batch.map(changed), options) }
      },
    }
    await assert.rejects(copy(from, losing), {
      code: 'COPY_DIFFERS',
      message: 'Table conformance_notes: 10 rows in the source and 10 in the target; the first that differs is n7.',
    })
  })

  it('names tables that nobody declares', async () => {
    const from = sqliteFile()
    await withDriver(from, (driver) => fill(driver, 3))
    const { result, err } = await copy(from, kept(), [items])
    assert.deepEqual(result.undeclared, ['conformance_notes'])
    assert.match(err, /Not copied: conformance_notes\. No plugin here declares this table/)
  })
})
