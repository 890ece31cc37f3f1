import assert from 'node:assert/strict'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdirSync, renameSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { Worker } from 'node:worker_threads'
import type { Change } from 'guard-gateway/core'
import { item } from '../../conformance/storage.ts'
import { failing, idsIn, LOGS, redoLogFixture } from './redo-log-kit.ts'

const { folder, open, locked, copied } = redoLogFixture()

describe('sqlite: what is safe before it is committed', () => {
  it('is answered while the database is locked, and committed later', async () => {
    const { file, store, write, release, close } = await locked('locked.db')
    assert.equal(await write('a'), true)
    assert.equal(statSync(file + LOGS[1]).mode & 0o777, 0o600)
    release()
    await store.flush()
    assert.equal((await store.get('conformance_items', ['g', 'a']))?.id, 'a')
    await close()
    assert.deepEqual(
      LOGS.map((end) => existsSync(file + end)),
      [false, false],
    )
  })

  it('is seen by whoever asks next', async () => {
    const { store, close } = await open(join(folder, 'seen.db'))
    for (const id of ['a', 'b', 'c']) {
      await store.write([{ table: 'conformance_items', put: item('g', id) }], { onRefused: () => {} })
      assert.equal((await store.get('conformance_items', ['g', id]))?.id, id)
    }
    await close()
  })

  it('is told when a condition fails after all, and then nothing of it is written', async () => {
    const { store, write, release, refused, close } = await locked('refused.db')
    assert.deepEqual([await write('a', failing), await write('b')], [true, true])
    release()
    await store.flush()
    assert.deepEqual(refused, ['a'])
    assert.equal(await idsIn({ store }), 'old b')
    await close()
  })

  it('is reported where whoever is told of that throws', async () => {
    const { store, release, faults, close } = await locked('throws.db')
    const onRefused = () => {
      throw new Error('not now')
    }
    await store.write([failing], { onRefused })
    release()
    await store.flush()
    await new Promise(setImmediate)
    assert.deepEqual(faults, ['Error: not now'])
    await close()
  })

  it('is sent again, each of several with what it held, where the thread that had it dies', async () => {
    // has the thread that may wait for a file, so that the next one starts over
    await open(join(folder, 'beside.db'))
    const began = once(process, 'worker')
    const { store, write, release, close } = await locked('thread.db')
    assert.deepEqual(await Promise.all([write('a'), write('b'), write('c')]), [true, true, true])
    const replaced = once(process, 'worker')
    const [thread] = (await began) as [Worker]
    await thread.terminate()
    await replaced
    release()
    await store.flush()
    assert.equal(await idsIn({ store }), 'old a b c')
    await close()
  })

  it('is forgotten like any other once something before it was given up', async () => {
    const { file, store, write, release, close } = await locked('given-up.db', { busy_ms: 0 })
    await assert.rejects(store.put('conformance_items', item('g', 'refused')), { code: 'STORAGE_UNAVAILABLE' })
    release()
    while (store.state !== 'ok') await new Promise((resolve) => setTimeout(resolve, 10))
    await write('a')
    await close()
    assert.equal(existsSync(file + LOGS[1]), false)
  })

  it('answers with what became of the conditions where it waits for the commit', async () => {
    const { store, close } = await open(join(folder, 'sync.db'))
    const put = { table: 'conformance_items', put: item('g', 'a'), when: 'absent', sync: true } as const
    const onRefused = () => assert.fail('it was answered')
    assert.equal(await store.write([put], { onRefused }), true)
    assert.equal(await store.write([put], { onRefused }), false)
    await close()
  })

  it('waits for the commit where the log cannot be written, or a commit must survive a power cut', async () => {
    const file = join(folder, 'no-log.db')
    for (const options of [{}, { synchronous: 'full' }] as const) {
      const bench = await open(file, options)
      mkdirSync(file + LOGS[1])
      const name = options.synchronous ?? 'normal'
      const changes: Change[] = [{ table: 'conformance_items', put: item('g', name) }, failing]
      assert.equal(await bench.store.write(changes, { onRefused: () => assert.fail('it was answered') }), false)
      assert.equal(await bench.store.write(changes.slice(0, 1), { onRefused: () => {} }), true)
      assert.deepEqual(
        bench.faults.map((fault) => /EISDIR.*-ahead-b/.test(fault)),
        name === 'normal' ? [true] : [],
      )
      await bench.close()
      rmdirSync(file + LOGS[1])
    }
    const bench = await open(file)
    assert.equal(await idsIn(bench), 'normal full')
    await bench.close()
  })

  it('waits once a thousand others are on their way', async () => {
    const { store, write, release, close } = await locked('thousand.db')
    let answered = 0
    const writes = Array.from({ length: 1_200 }, (_, n) => write(String(n)).then(() => answered++))
    await new Promise(setImmediate)
    await new Promise(setImmediate)
    assert.equal(answered, 0)
    release()
    await Promise.all(writes)
    assert.equal((await store.find('conformance_items', { where: { group: 'g' }, limit: 1 })).rows.length, 1)
    await close()
  })
})

describe('sqlite: the logs of a database that is replaced while it is in use', () => {
  it('start over with what is not committed', async () => {
    const { file, store, faults, write, release, close } = await locked('replaced.db', { look_ms: 0 })
    const lost = copied(file, 'replaced-before.db')
    await write('a')
    for (const end of ['', '-wal', '-shm']) rmSync(file + end)
    copyFileSync(lost, file)
    release()
    while (faults.length === 0) await write('b')
    await store.flush()
    assert.match(faults.join(), /was removed or replaced/)
    assert.ok((await idsIn({ store })).endsWith('b'))
    await close()
  })

  it('are not compared with how far another process was', async () => {
    const other = join(folder, 'further.db')
    const further = await open(other)
    for (let n = 0; n < 20; n++) await further.store.put('conformance_items', item('g', 'other', { count: n }))
    const backup = copied(other, 'further-copy.db')
    await further.close()
    const { store, faults, close } = await open(join(folder, 'nearer.db'), { look_ms: 0 })
    await store.put('conformance_items', item('g', 'a'))
    for (const end of ['', '-wal']) copyFileSync(backup + end, `${join(folder, 'nearer.db')}${end}.new`)
    for (const end of ['', '-wal', '-shm']) rmSync(join(folder, 'nearer.db') + end)
    for (const end of ['', '-wal'])
      renameSync(`${join(folder, 'nearer.db')}${end}.new`, join(folder, 'nearer.db') + end)
    await store.put('conformance_items', item('g', 'b'))
    assert.match(faults.join(), /was removed or replaced/)
    assert.equal(await idsIn({ store }), 'other b')
    await close()
  })
})
