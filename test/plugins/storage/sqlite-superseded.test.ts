import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import Sqlite from 'better-sqlite3'
import type { Driver } from 'guard-gateway/core'
import { openDriver } from '../../../plugins/storage/sqlite/driver.ts'
import { conformanceTables, item } from '../../conformance/storage.ts'

const folder = mkdtempSync(join(tmpdir(), 'guard-superseded-'))
after(() => rmSync(folder, { recursive: true }))

const start = (file: string) =>
  ({
    file,
    synchronous: 'normal',
    exclusive: true,
    busy_ms: 5_000,
    max_pages: 0,
    slow_ms: 1_000,
    retry_ms: 20,
  }) as const

describe('sqlite: a gateway whose database another one has taken', () => {
  it('writes nothing any more and says so, and leaves the logs of the other one alone', async () => {
    const file = join(folder, 'taken.db')
    const faults: string[] = []
    const driver: Driver = await openDriver(
      conformanceTables,
      { fault: (error) => faults.push(String(error)) },
      start(file),
    )
    const items = conformanceTables.find(({ id }) => id === 'conformance_items')
    assert.ok(items)
    const put = (id: string) =>
      driver.write([{ kind: 'put', table: items, row: { ...item('g', id) }, absent: true }], {
        sync: false,
        hold: false,
      })
    assert.equal(await put('mine'), true)
    const db = new Sqlite(file)
    db.exec("begin immediate; update guard_place set database = 'other', applied = 0; commit")
    await assert.rejects(put('lost'), { code: 'STORAGE_UNAVAILABLE' })
    await assert.rejects(driver.remove(items, {}, 10))
    assert.equal(driver.state, 'failing')
    assert.match(driver.notes?.join() ?? '', /Another gateway has taken the database/)
    assert.match(faults.join(), /Another gateway has taken the database/)
    await assert.rejects(put('later'), { code: 'STORAGE_UNAVAILABLE' })
    await driver.close()
    assert.deepEqual(db.prepare('select id from conformance_items').pluck().all(), ['mine'])
    assert.deepEqual(db.prepare('select database, applied from guard_place').get(), { database: 'other', applied: 0 })
    db.close()
  })
})
