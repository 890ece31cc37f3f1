import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { Change } from 'guard-gateway/core'
import { item } from '../../conformance/storage.ts'
import { failing, idsIn, LOGS, redoLogFixture } from './redo-log-kit.ts'

const { folder, open, locked, copied } = redoLogFixture()

describe('sqlite: what a dead process has left in its logs', () => {
  it('is written by the next one, once, whatever condition fails', async () => {
    const { file, write, release, close } = await locked('dies.db')
    await write('a')
    await write('b', failing, { table: 'conformance_notes', put: { id: 'n', text: 'x' } })
    const copy = copied(file, 'dead.db')
    release()
    await close()
    for (let start = 0; start < 2; start++) {
      const bench = await open(copy)
      assert.equal(await idsIn(bench), start === 0 ? 'old a b' : 'old b')
      assert.equal((await bench.store.get('conformance_items', ['g', 'old']))?.count, 1)
      assert.equal((await bench.store.get('conformance_notes', 'n'))?.text, 'x')
      await bench.store.remove('conformance_items', { id: 'a' }, 1)
      await bench.close()
      assert.deepEqual(
        LOGS.map((end) => existsSync(copy + end)),
        [false, false],
      )
    }
  })

  it('is written as far as lines are whole, and not into a database of another time', async () => {
    const { file, write, release, close } = await locked('torn.db')
    await write('a')
    await write('b')
    const copy = copied(file, 'torn-copy.db')
    const other = copied(file, 'other.db')
    release()
    await close()
    const log = readFileSync(copy + LOGS[1], 'utf8')
    writeFileSync(copy + LOGS[1], log.slice(0, -2))
    const torn = await open(copy)
    assert.equal(await idsIn(torn), 'old a')
    await torn.close()
    writeFileSync(other + LOGS[1], log.replace(/"database":"[^"]*"/, '"database":"another"'))
    const bench = await open(other)
    assert.equal(await idsIn(bench), 'old')
    await bench.close()
  })

  it('is found by a program beside it, unless the process lives', async () => {
    const { file, write, release, close } = await locked('beside.db')
    await write('a')
    const copy = copied(file, 'beside-copy.db')
    release()
    const living = await open(file, { exclusive: false })
    assert.ok(existsSync(file + LOGS[1]))
    await living.close()
    await close()
    const dead = await open(copy, { exclusive: false })
    assert.equal(await idsIn(dead), 'old a')
    await dead.close()
  })

  it('is written where a condition failed, unless somebody has made that good', async () => {
    const { file, store, release, close } = await locked('mending.db')
    const mended = Promise.withResolvers<void>()
    const put = { table: 'conformance_items', put: item('g', 'a') } as const
    await store.write([put, failing], { onRefused: () => mended.promise })
    release()
    await store.flush()
    await store.put('conformance_items', item('g', 'later'))
    const mending = await open(copied(file, 'mending-copy.db'))
    assert.equal(await idsIn(mending), 'old later a')
    await mending.close()
    mended.resolve()
    await new Promise(setImmediate)
    await store.put('conformance_items', item('g', 'last'))
    const good = await open(copied(file, 'mended-copy.db'))
    assert.equal(await idsIn(good), 'old later last')
    await good.close()
    await close()
  })

  it('adds once what a refused batch and the one that makes it good add both', async () => {
    const { file, store, release, close } = await locked('twice.db')
    const add = { table: 'conformance_items', key: ['g', 'sum'], add: { count: 5 } } as const
    const put = { table: 'conformance_items', put: item('g', 'a'), when: 'absent' } as const
    const again = Promise.withResolvers<void>()
    const mended = Promise.withResolvers<void>()
    const mend = async () => {
      await again.promise
      await store.write([put, add], { onRefused: () => {} })
      await mended.promise
    }
    await store.write([put, add, failing], { onRefused: mend })
    const neither = copied(file, 'neither.db')
    release()
    await store.flush()
    const refused = copied(file, 'refused.db')
    again.resolve()
    await store.flush()
    await store.put('conformance_items', item('g', 'later'))
    const both = copied(file, 'both.db')
    mended.resolve()
    await close()
    for (const copy of [neither, refused, both, file])
      for (let start = 0; start < 2; start++) {
        const bench = await open(copy)
        assert.equal((await bench.store.get('conformance_items', ['g', 'sum']))?.count, 5, copy)
        await bench.close()
      }
  })

  it('is not written again where another batch had to wait', async () => {
    const file = join(folder, 'waited.db')
    const small = await open(file, { max_pages: 60 })
    const put = (id: string, bytes: number): Change => ({
      table: 'conformance_items',
      put: item('g', id, { name: 'x'.repeat(bytes) }),
    })
    await Promise.all(
      [put('big', 500_000), put('little', 1)].map((change) => small.store.write([change], { onRefused: () => {} })),
    )
    await small.store.flush()
    assert.equal(await small.store.write([{ table: 'conformance_items', key: ['g', 'little'], remove: true }]), true)
    const bench = await open(copied(file, 'waited-copy.db'))
    assert.equal(await idsIn(bench), 'big')
    await Promise.all([bench.close(), small.close()])
  })

  it('stays where the disk was full to the end', async () => {
    const file = join(folder, 'full.db')
    const small = await open(file, { max_pages: 60 })
    const big = Array.from({ length: 30 }, (_, n) => item('g', String(n), { name: `${n}${'x'.repeat(20_000)}` }))
    await Promise.all(
      big.map((put) => small.store.write([{ table: 'conformance_items', put }], { onRefused: () => {} })),
    )
    await small.store.flush()
    assert.equal(small.store.state, 'full')
    await small.close()
    assert.ok(LOGS.some((end) => existsSync(file + end)))
    const bench = await open(file)
    assert.equal((await bench.store.find('conformance_items', { where: { group: 'g' } })).rows.length, 30)
    await bench.close()
  })
})
