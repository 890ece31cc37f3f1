import assert from 'node:assert/strict'
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Worker } from 'node:worker_threads'
import { GuardError, type Storage } from 'guard-gateway/core'
import { createStore } from 'guard-gateway/plugins/store'
import { openDriver } from '../../../plugins/storage/sqlite/driver.ts'
import { conformanceTables, item } from '../../conformance/storage.ts'

const plain = { text: (text: string) => text, value: <T>(value: T) => value, judgeId: () => 'plain' as const }
const PAGE = 4096

describe('sqlite: a file too large to be read through before it is used', () => {
  const folder = mkdtempSync(join(tmpdir(), 'guard-check-'))
  const file = join(folder, 'large.db')
  after(() => rmSync(folder, { recursive: true }))

  /** Opens the file as a gateway does; `damage` resolves with what is found. */
  const open = async (checked_bytes: number) => {
    const { promise, resolve } = Promise.withResolvers<unknown>()
    const driver = await openDriver(
      conformanceTables,
      { fault: (error) => resolve(error) },
      {
        file,
        checked_bytes,
        exclusive: true,
        synchronous: 'normal',

        busy_ms: 100,
        max_pages: 0,
        slow_ms: 1_000,
        retry_ms: 20,
      },
    )
    const store: Storage = createStore(driver, conformanceTables, { redact: plain })
    return { store, damage: promise }
  }
  const put = (store: Storage, id: string) =>
    store.write([{ table: 'conformance_items', put: item('kept', id, { name: id.repeat(2_000) }) }])

  before(async () => {
    const { store } = await open(0)
    for (let n = 0; n < 40; n++) await put(store, `row${n}`)
    assert.equal(store.state, 'ok')
    await store.close()
  })

  it('is used at once; that it is whole changes nothing', async () => {
    const checked = new Promise<void>((resolve) => {
      const begun = (worker: Worker) => {
        if (worker.threadName !== 'guard-check') return
        process.off('worker', begun)
        worker.once('exit', () => resolve())
      }
      process.on('worker', begun)
    })
    const { store } = await open(PAGE)
    await put(store, 'more')
    await checked
    assert.equal(store.state, 'ok')
    await store.close()
  })

  it('makes the storage fail for good where it is found damaged, and says what to do', async () => {
    const handle = openSync(file, 'r+')
    const pages = statSync(file).size / PAGE
    for (const page of [Math.floor(pages / 2), pages - 2])
      writeSync(handle, Buffer.alloc(PAGE, 0x5a), 0, PAGE, page * PAGE)
    closeSync(handle)
    await assert.rejects(open(Number.MAX_SAFE_INTEGER), { code: 'DATABASE_DAMAGED' })
    const { store, damage } = await open(PAGE)
    const error = await damage
    assert.ok(error instanceof GuardError)
    assert.equal(error.code, 'DATABASE_DAMAGED')
    assert.match(error.message, /large\.db is damaged \(.+restore a backup/s)
    assert.equal(store.state, 'failing')
    await put(store, 'after').catch(() => {})
    assert.equal(store.state, 'failing', 'a write that works does not make it whole')
    await store.close()
  })
})
