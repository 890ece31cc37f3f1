import assert from 'node:assert/strict'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import Sqlite from 'better-sqlite3'
import { type Change, createStore } from 'guard-gateway/core'
import { type DriverOptions, openDriver } from '../../../plugins/storage/sqlite/driver.ts'
import { conformanceTables, item } from '../../conformance/storage.ts'

const folder = mkdtempSync(join(tmpdir(), 'guard-ahead-'))
const opened: (() => Promise<void>)[] = []
after(async () => {
  await Promise.all(opened.map((close) => close()))
  rmSync(folder, { recursive: true })
})

const LOGS = ['-ahead-a', '-ahead-b']
const plain = { text: (text: string) => text, value: <T>(value: T) => value }

const open = async (file: string, options: Partial<DriverOptions> = {}) => {
  const faults: string[] = []
  const driver = await openDriver(
    conformanceTables,
    { fault: (error) => faults.push(String(error)) },
    {
      ...{ file, synchronous: 'normal', exclusive: true, busy_ms: 60_000, max_pages: 0, slow_ms: 60_000, retry_ms: 20 },
      ...options,
    },
  )
  const store = createStore(driver, conformanceTables, { redact: plain })
  const close = () => store.close()
  opened.push(close)
  return { store, faults, close }
}

/** A store whose database another program has locked: nothing is committed until it is let go. */
const locked = async (name: string, options: Partial<DriverOptions> = {}) => {
  const file = join(folder, name)
  const bench = await open(file, options)
  await bench.store.put('conformance_items', item('g', 'old', { count: 1 }))
  const lock = new Sqlite(file)
  lock.exec('begin immediate')
  const refused: string[] = []
  /** Writes ahead; told in `refused` by the name of its first row. */
  const write = (name: string, ...changes: Change[]) =>
    bench.store.write([{ table: 'conformance_items', put: item('g', name) }, ...changes], {
      onRefused: () => refused.push(name),
    })
  const release = () => {
    lock.exec('rollback')
    lock.close()
  }
  return { ...bench, file, write, release, refused }
}

/** What stands in the folder of a process that dies now. */
const copied = (file: string, name: string): string => {
  const copy = join(folder, name)
  for (const end of ['', '-wal', ...LOGS]) if (existsSync(file + end)) copyFileSync(file + end, copy + end)
  return copy
}

const idsIn = async ({ store }: Awaited<ReturnType<typeof open>>): Promise<string> =>
  (await store.find('conformance_items', { order: ['recorded', 'asc'], limit: 200 })).rows.map(({ id }) => id).join(' ')

const failing: Change = { table: 'conformance_items', key: ['g', 'old'], patch: { count: 3 }, expected: { count: 2 } }

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
    assert.equal(await idsIn({ store } as never), 'old b')
    await close()
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

describe('sqlite: the logs of a database that is replaced while it is in use', () => {
  it('begin anew with what is not committed', async () => {
    const { file, store, faults, write, release, close } = await locked('replaced.db', { look_ms: 0 })
    const lost = copied(file, 'replaced-before.db')
    await write('a')
    for (const end of ['', '-wal', '-shm']) rmSync(file + end)
    copyFileSync(lost, file)
    release()
    while (faults.length === 0) await write('b')
    await store.flush()
    assert.match(faults.join(), /was removed or replaced/)
    assert.ok((await idsIn({ store } as never)).endsWith('b'))
    await close()
  })
})
