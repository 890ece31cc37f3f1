import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import Sqlite from 'better-sqlite3'
import type { Storage, StorageBackend } from 'guard-gateway/core'
import { sqlite } from 'guard-gateway/plugins/storage/sqlite'
import { createStore } from 'guard-gateway/plugins/store'
import { Backfill } from '../../../../plugins/recorder/figures/backfill.ts'
import { HourSums } from '../../../../plugins/recorder/figures/hour-sums.ts'
import { tables } from '../../../../plugins/recorder/tables.ts'
import { aCall, blocked, NOON, settled } from '../../../kit/settled.ts'
import { present, startBench } from '../kit.ts'
import { recordedSums, storedSums } from './kit.ts'

const folder = mkdtempSync(join(tmpdir(), 'guard-backfill-'))
after(() => rmSync(folder, { recursive: true }))
const plain = { text: (text: string) => text, value: <T>(value: T) => value }

const opened = async (backend: StorageBackend): Promise<Storage> =>
  createStore(await backend.open(tables, { fault: assert.fail }), tables, { redact: plain })

/** A record as the recorder makes one, blocked or not. */
const records = async () => {
  const bench = await startBench()
  await bench.settle(settled({ call: aCall({ id: 'guardreq_a' }) }), blocked(aCall({ id: 'guardreq_b' })))
  const [allowed, refused] = await Promise.all(
    ['a', 'b'].map((id) => bench.gateway.storage.get('calls', `guardreq_${id}`)),
  )
  await bench.close()
  return { allowed: present(allowed), refused: present(refused) }
}

/** A database, and what versions with and without sums write into it. */
const history = async (name: string) => {
  const file = join(folder, name)
  const store = await opened(sqlite({ file }))
  const { allowed, refused } = await records()
  const sums = new HourSums()
  let next = 0
  const write = async (count: number, counted: true | null): Promise<void> => {
    for (let n = 0; n < count; n++) {
      const at = NOON + (next % 17) * 1_800_000
      const call = next % 5 === 0 ? refused : allowed
      const row = { ...call, id: `guardreq_${next++}`, received_at: at, ended_at: at + next, counted }
      await store.write([{ table: 'calls', put: row, when: 'absent' }, ...(counted === null ? [] : [sums.call(row)])])
    }
  }
  const backfill = () =>
    new Backfill(
      () => store,
      (error) => assert.fail(String(error)),
    )
  /** As a start of this version does. */
  const fill = async (): Promise<Backfill> => {
    const filled = backfill()
    await filled.begin()
    filled.start()
    await filled.ended()
    assert.ok(filled.isComplete)
    return filled
  }
  const check = async () => assert.deepEqual(await storedSums(store), await recordedSums(store))
  return {
    file,
    store,
    write,
    backfill,
    fill,
    check,
    older: (n: number) => write(n, null),
    newer: (n: number) => write(n, true),
  }
}

describe('sums of calls that earlier versions recorded', () => {
  it('are made up for, and a database that has none is never walked through', async () => {
    const { store, older, fill, check } = await history('plain.db')
    await fill()
    assert.deepEqual((await store.find('calls_by_hour_walks')).rows, [])
    await older(1_234)
    await fill()
    await check()
    await fill()
    await check()
    await store.close()
  })

  it('count each call once, however often versions change', async () => {
    const { store, older, newer, fill, check } = await history('changes.db')
    for (const [count, by] of [
      [3, older],
      [250, newer],
      [410, older],
      [0, newer],
      [1, older],
      [7, newer],
      [205, older],
    ] as const) {
      await by(count)
      await fill()
      await check()
    }
    await store.close()
  })

  it('go on where a process stopped, also one that an older version followed', async () => {
    const { store, older, newer, backfill, fill, check } = await history('stopped.db')
    await older(1_500)
    const first = backfill()
    await first.begin()
    await newer(20)
    first.start()
    const { find } = store
    let pages = 0
    store.find = (table, query) => {
      if (table === 'calls' && ++pages === 3) void first.stop()
      return find(table, query)
    }
    await first.ended()
    store.find = find
    assert.equal(first.isComplete, false)
    const requests = async () =>
      Object.values(await storedSums(store)).reduce((sum, row) => sum + (row.requests ?? 0), 0)
    const counted = await requests()
    assert.ok(counted > 200 && counted < 1_520, `${counted}`)
    await older(300)
    await fill()
    await check()
    await store.close()
  })

  it('are made by one of two processes that open at once', async () => {
    const { store, older, backfill, check } = await history('both.db')
    await older(900)
    const both = [backfill(), backfill()]
    for (const one of both) await one.begin()
    for (const one of both) one.start()
    await Promise.all(both.map((one) => one.ended()))
    await check()
    await store.close()
  })

  it('have every repetition, whenever it comes', async () => {
    const { store, older, backfill, check } = await history('repeats.db')
    await older(700)
    const filling = backfill()
    await filling.begin()
    filling.start()
    const sums = new HourSums()
    for (let round = 0; round < 60; round++) {
      // as the recorder counts a repetition on the record of the first one
      const id = `guardreq_${(round % 28) * 25}`
      const record = present(await store.get('calls', id))
      const patch = {
        table: 'calls',
        key: id,
        patch: { retries: record.retries + 1 },
        expected: { counted: record.counted },
      } as const
      await store.write([patch, ...(record.counted === true ? [sums.repeat(record)] : [])])
    }
    await filling.ended()
    await check()
    await store.close()
  })

  it('let requests be recorded meanwhile, at the start of a gateway', async () => {
    const { file, store, older } = await history('gateway.db')
    await older(800)
    await store.close()
    // as the earlier version left it
    const db = new Sqlite(file)
    db.exec('drop table calls_by_hour; drop table calls_by_hour_walks; alter table calls drop column counted')
    db.close()
    const bench = await startBench({ backend: sqlite({ file }) })
    await bench.settle(
      settled({ call: aCall({ id: 'guardreq_new' }) }),
      blocked(aCall({ id: 'guardreq_again' }), 'guardreq_700'),
    )
    await bench.close()
    const again = await startBench({ backend: sqlite({ file }) })
    const { storage } = again.gateway
    for (let walks = 1; walks > 0; )
      walks = (await storage.find('calls_by_hour_walks', { where: { cursor: { not: null } } })).rows.length
    const found = await storedSums(storage)
    assert.deepEqual(found, await recordedSums(storage))
    assert.equal(
      Object.values(found).reduce((sum, row) => sum + (row.requests ?? 0), 0),
      801,
    )
    assert.equal(
      Object.values(found).reduce((sum, row) => sum + (row.blocked_retries ?? 0), 0),
      1,
    )
    assert.deepEqual([...bench.faults, ...again.faults], [])
    await again.close()
  })
})
