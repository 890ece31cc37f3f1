import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import type { Worker } from 'node:worker_threads'
import Sqlite from 'better-sqlite3'
import type { Storage, StorageState } from 'guard-gateway/core'
import { holdersAddress } from 'guard-gateway/plugins/storage/sqlite'
import { createStore } from 'guard-gateway/plugins/store'
import { type DriverOptions, openDriver } from '../../../plugins/storage/sqlite/driver.ts'
import { noteHolder } from '../../../plugins/storage/sqlite/file/holder.ts'
import { conformanceTables, item } from '../../conformance/storage.ts'

const folder = mkdtempSync(join(tmpdir(), 'guard-faults-'))
const opened: (() => Promise<void>)[] = []
after(async () => {
  await Promise.all(opened.map((close) => close()))
  rmSync(folder, { recursive: true })
})

const plain = { text: (text: string) => text, value: <T>(value: T) => value, judgeId: () => 'plain' as const }

/** Opens a store with short delays; collects its states, the faults it reports and its workers. */
const open = async (name: string, options: Partial<DriverOptions> = {}) => {
  const file = join(folder, name)
  const workers: Worker[] = []
  const faults: string[] = []
  const onWorker = (worker: Worker) => workers.push(worker)
  process.on('worker', onWorker)
  const delays = { busy_ms: 5_000, max_pages: 0, slow_ms: 1_000, retry_ms: 20 }
  const driver = await openDriver(
    conformanceTables,
    { fault: (error) => faults.push(String(error)) },
    { file, synchronous: 'normal', exclusive: true, ...delays, ...options },
  )
  const store = createStore(driver, conformanceTables, { redact: plain })
  const states: StorageState[] = []
  store.onState((state) => states.push(state))
  const close = async () => {
    await store.close()
    process.off('worker', onWorker)
  }
  opened.push(close)
  return { file, store, states, faults, workers, close }
}

const reached = (store: Storage, wanted: StorageState): Promise<void> =>
  new Promise((resolve) => {
    if (store.state === wanted) return resolve()
    const stop = store.onState((state) => {
      if (state !== wanted) return
      stop()
      resolve()
    })
  })

const filler = (id: string) =>
  ({ table: 'conformance_items', put: item('full', id, { name: `${id}${'x'.repeat(20_000)}` }) }) as const

describe('sqlite: a full disk', () => {
  it('refuses what may not wait, keeps what may, serves reads, and recovers by itself', async () => {
    const { store, states, close } = await open('full.db', { max_pages: 60 })
    let written = 0
    const fill = async (): Promise<void> => {
      for (;;) {
        await store.write([filler(String(written))])
        written++
      }
    }
    await assert.rejects(fill(), { code: 'STORAGE_FULL' })
    assert.equal(store.state, 'full')
    const held = store.write([filler('held')], { hold: true })
    await assert.rejects(store.write([filler('refused')]), { code: 'STORAGE_FULL' })
    assert.equal((await store.find('conformance_items', { limit: 100 })).rows.length, written)
    assert.ok((await store.remove('conformance_items', { group: 'full' }, 20)) > 0)
    assert.equal(await held, true)
    assert.equal(store.state, 'ok')
    assert.deepEqual(states, ['full', 'ok'])
    assert.equal((await store.get('conformance_items', ['full', 'held']))?.id, 'held')
    assert.equal(await store.get('conformance_items', ['full', 'refused']), undefined)
    await close()
  })

  it('notices that there is room again although nobody writes', async () => {
    const { store, close } = await open('probe.db', { max_pages: 120 })
    const big = Array.from({ length: 60 }, (_, n) => filler(String(n)))
    await store.write(big.slice(0, 5))
    await assert.rejects(store.write(big), { code: 'STORAGE_FULL' })
    assert.equal(store.state, 'full')
    await reached(store, 'ok')
    await close()
  })

  it('does not let one batch that is too big stop the others of its group', async () => {
    const { store, close } = await open('group.db', { max_pages: 60 })
    const big = Array.from({ length: 80 }, (_, n) => filler(String(n)))
    const [first, second] = await Promise.allSettled([
      store.write(big),
      store.put('conformance_items', item('g', 'small')),
    ])
    assert.deepEqual([first.status, second], ['rejected', { status: 'fulfilled', value: true }])
    await close()
  })
})

describe('sqlite: a file locked by another program', () => {
  it('is busy, then failing, serves reads meanwhile, and catches up', async () => {
    const { file, store, states, close } = await open('locked.db', { busy_ms: 150, slow_ms: 20 })
    await store.put('conformance_items', item('g', 'a'))
    const before = states.length
    const other = new Sqlite(file)
    other.exec('begin immediate')
    const held = store.write([{ table: 'conformance_items', put: item('g', 'held') }], { hold: true })
    await reached(store, 'failing')
    assert.deepEqual(states.slice(before), ['busy', 'failing'])
    await assert.rejects(store.put('conformance_items', item('g', 'refused')), { code: 'STORAGE_UNAVAILABLE' })
    assert.equal((await store.get('conformance_items', ['g', 'a']))?.id, 'a')
    other.exec('rollback')
    assert.equal(await held, true)
    assert.equal(store.state, 'ok')
    other.close()
    await close()
  })

  it('waits without a word for a lock that is short', async () => {
    const { file, store, states, close } = await open('short.db')
    const other = new Sqlite(file)
    other.exec('begin immediate')
    const write = store.put('conformance_items', item('g', 'a'))
    setTimeout(() => other.exec('rollback'), 50)
    assert.equal(await write, true)
    assert.deepEqual(states, [])
    other.close()
    await close()
  })
})

describe('sqlite: a worker that dies', () => {
  /** Another store has the thread that may wait for a file, so that the one of this store begins now. */
  const openInNewThread = async (name: string) => {
    await open(`beside-${name}`)
    return open(name)
  }

  it('is replaced; what it had not answered is sent again', async () => {
    const { file, store, workers, faults, close } = await openInNewThread('dies.db')
    noteHolder(file, 'http://127.0.0.1:8787')
    await store.put('conformance_items', item('g', 'before', { words: ['kept'] }))
    const writes = Array.from({ length: 30 }, (_, n) => store.put('conformance_items', item('g', String(n))))
    const read = store.find('conformance_items', { search: ['kept'] })
    await new Promise(setImmediate)
    assert.ok(workers[0])
    await workers[0].terminate()
    assert.deepEqual(new Set(await Promise.all(writes)), new Set([true]))
    assert.deepEqual(
      (await read).rows.map((row) => row.id),
      ['before'],
    )
    assert.equal((await store.find('conformance_items', { where: { group: 'g' } })).rows.length, 31)
    assert.deepEqual([workers.length, faults.length, store.state], [2, 1, 'ok'])
    assert.equal(await holdersAddress(file), 'http://127.0.0.1:8787')
    await close()
  })

  it('does not keep the storage from closing, and what was taken is written before', async () => {
    const { file, store, workers, close } = await openInNewThread('dead-close.db')
    const write = store.put('conformance_items', item('g', 'a'))
    assert.ok(workers[0])
    await workers[0].terminate()
    await close()
    assert.equal(await write, true)
    const next = await open('dead-close.db')
    assert.equal(next.file, file)
    assert.equal((await next.store.get('conformance_items', ['g', 'a']))?.id, 'a')
    await next.close()
  })

  it('makes the storage fail at the third death in a minute, until one lives', async () => {
    const { store, workers, states, close } = await openInNewThread('thrice.db')
    for (let death = 0; death < 3; death++) {
      const worker = workers.at(-1) as Worker
      const next = death < 2 ? once(process, 'worker') : undefined
      await worker.terminate()
      const [replacement] = (await next) ?? []
      if (replacement !== undefined) await once(replacement as Worker, 'message')
    }
    assert.equal(store.state, 'failing')
    const held = store.write([{ table: 'conformance_items', put: item('g', 'held') }], { hold: true })
    assert.equal(await held, true)
    assert.deepEqual([states.at(0), states.at(-1), store.state], ['failing', 'ok', 'ok'])
    await close()
  })
})

describe('sqlite: the queue', () => {
  it('takes 10,000 batches and refuses more, until some are written', async () => {
    const { store, close } = await open('queue.db')
    const removal = [{ table: 'conformance_notes', key: 'none', remove: true }] as const
    const taken = Array.from({ length: 10_000 }, () => store.write(removal))
    await assert.rejects(store.write(removal), { code: 'OVERLOADED' })
    await Promise.all(taken)
    assert.equal(await store.write(removal), true)
    await close()
  })

  it('takes 64 MiB and refuses more', async () => {
    const { store, close } = await open('bytes.db')
    const note = [{ table: 'conformance_notes', put: { id: 'big', text: 'x'.repeat(30 * 1024 * 1024) } }] as const
    const taken = [store.write(note), store.write(note)]
    await assert.rejects(store.write(note), { code: 'OVERLOADED' })
    assert.deepEqual(await Promise.all(taken), [true, true])
    await close()
  })

  it('rejects a batch that cannot be written, and only that one', async () => {
    const { store, close } = await open('fault.db')
    const wrong = { ...item('g', 'wrong'), count: 1.5 }
    const [first, second] = await Promise.allSettled([
      store.put('conformance_items', wrong),
      store.put('conformance_items', item('g', 'right')),
    ])
    assert.equal(first.status, 'rejected')
    assert.match(String(first.status === 'rejected' && first.reason), /cannot be written.*count/)
    assert.deepEqual(second, { status: 'fulfilled', value: true })
    assert.equal(store.state, 'ok')
    await close()
  })

  it('writes everything it has taken before it closes', async () => {
    const { file, store, close } = await open('closing.db')
    const writes = Array.from({ length: 100 }, (_, n) => store.put('conformance_items', item('g', String(n))))
    await close()
    assert.equal((await Promise.all(writes)).length, 100)
    const db = new Sqlite(file, { readonly: true })
    assert.deepEqual(db.prepare('select count(*) as n from conformance_items').get(), { n: 100 })
    db.close()
  })
})
