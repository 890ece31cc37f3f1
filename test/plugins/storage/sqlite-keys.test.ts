import assert from 'node:assert/strict'
import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { Driver, Table } from 'guard-gateway/core'
import { openDriver } from '../../../plugins/storage/sqlite/driver.ts'
import { BloomFilter, filterBits } from '../../../plugins/storage/sqlite/keys/bloom-filter.ts'
import { KnownKeys } from '../../../plugins/storage/sqlite/keys/known-keys.ts'

const folder = mkdtempSync(join(tmpdir(), 'guard-keys-'))
after(() => rmSync(folder, { recursive: true }))

const things: Table = { id: 'things', columns: { id: 'text', size: 'integer' }, often_absent: true }
const keyOf = (n: number): string => `ses_${(n * 2_654_435_761).toString(36)}_${n}`

const open = (name: string, exclusive = true): Promise<Driver> =>
  openDriver(
    [things],
    { fault: (error) => assert.fail(String(error)) },
    {
      ...{ file: join(folder, name), synchronous: 'normal', exclusive },
      ...{ busy_ms: 1_000, max_pages: 0, slow_ms: 1_000, retry_ms: 20 },
    },
  )
const put = (driver: Driver, ids: readonly string[]) =>
  driver.write(
    ids.map((id) => ({ kind: 'put', table: things, row: { id, size: 1 }, absent: false })),
    { sync: false, hold: false },
  )

describe('sqlite: a filter of keys', () => {
  it('has what was added, and little else', () => {
    const filter = new BloomFilter(filterBits(20_000))
    for (let n = 0; n < 20_000; n++) filter.add(keyOf(n))
    let others = 0
    for (let n = 0; n < 20_000; n++) {
      assert.ok(filter.mayHave(keyOf(n)))
      if (filter.mayHave(keyOf(n + 1_000_000))) others++
    }
    assert.ok(others < 100, `${others} of 20,000 others`)
  })
})

describe('sqlite: keys that are known', () => {
  it('are those that were there and those that are added, meanwhile too', async () => {
    const known = new KnownKeys()
    const there = new BloomFilter(filterBits(1))
    there.add('old')
    let told = (_bits: Uint8Array): void => {}
    known.load([things], () => new Promise((resolve) => (told = resolve)))
    known.added(things, { id: 'meanwhile' })
    assert.equal(known.mayHave(things, ['none']), true)
    told(there.bits)
    await setImmediate()
    known.added(things, { id: 'new' })
    assert.deepEqual(
      ['old', 'meanwhile', 'new', 'none'].map((key) => known.mayHave(things, [key])),
      [true, true, true, false],
    )
  })

  it('are asked for where they could not be read, and of tables that do not want it', async () => {
    const known = new KnownKeys()
    known.load([things, { ...things, id: 'others', often_absent: false }], () => Promise.reject(new Error('no')))
    await setImmediate()
    known.added(things, { id: 'a' })
    assert.equal(known.mayHave(things, ['b']), true)
    assert.equal(known.mayHave({ ...things, id: 'others' }, ['b']), true)
  })

  it('are those of another file as well that takes the place of this one', async () => {
    const file = join(folder, 'mine.db')
    const theirs = await open('theirs.db')
    await put(theirs, ['theirs'])
    await theirs.close()
    const driver = await openDriver(
      [things],
      { fault: () => {} },
      {
        ...{ file, synchronous: 'normal', exclusive: true, look_ms: 0 },
        ...{ busy_ms: 1_000, max_pages: 0, slow_ms: 1_000, retry_ms: 20 },
      },
    )
    await put(driver, ['a'])
    // behind this question stands none about keys any more
    await driver.bytes()
    for (const end of ['', '-wal', '-shm']) rmSync(file + end)
    renameSync(join(folder, 'theirs.db'), file)
    await put(driver, ['waited'])
    for (const id of ['theirs', 'waited']) assert.equal((await driver.get(things, [id]))?.size, 1)
    await driver.close()
  })

  it('are found in a file of many, and of one that others write to as well', async () => {
    const ids = Array.from({ length: 12_000 }, (_, n) => keyOf(n))
    const first = await open('many.db')
    await put(first, ids)
    await first.close()
    const driver = await open('many.db')
    // behind this question stands none about keys any more
    await driver.bytes()
    for (let n = 0; n < ids.length; n += 997) assert.equal((await driver.get(things, [ids[n] ?? '']))?.id, ids[n])
    assert.equal(await driver.get(things, ['none']), undefined)
    const beside = await open('many.db', false)
    assert.equal(await beside.get(things, ['one more']), undefined)
    await put(driver, ['one more'])
    assert.equal((await beside.get(things, ['one more']))?.size, 1)
    assert.equal((await driver.get(things, ['one more']))?.size, 1)
    await Promise.all([beside.close(), driver.close()])
  })
})
