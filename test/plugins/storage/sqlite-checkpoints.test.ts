import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import Sqlite, { type Database } from 'better-sqlite3'
import { CheckpointThread } from '../../../plugins/storage/sqlite/checkpoints/checkpoint-thread.ts'
import { type BackgroundCheckpoint, Checkpoints } from '../../../plugins/storage/sqlite/checkpoints/checkpoints.ts'
import type { OpenOptions } from '../../../plugins/storage/sqlite/protocol.ts'
import { openConnection } from '../../../plugins/storage/sqlite/worker/connection.ts'

const folder = mkdtempSync(join(tmpdir(), 'guard-checkpoints-'))
after(() => rmSync(folder, { recursive: true }))

const start = (name: string): OpenOptions => ({
  file: join(folder, name),
  tables: [],
  synchronous: 'normal',
  exclusive: false,

  busy_ms: 100,
  max_pages: 0,
})

/** Moves pages over a connection of its own, when the test says so. */
class SteppedCheckpoint implements BackgroundCheckpoint {
  readonly #db: Database
  isRunning = false
  starts = 0

  constructor(file: string) {
    this.#db = new Sqlite(file)
  }

  start(): boolean {
    this.starts++
    this.isRunning = true
    return true
  }

  finish(): void {
    if (!this.isRunning) return
    this.#db.pragma('wal_checkpoint(passive)')
    this.isRunning = false
  }

  close(): void {
    this.#db.close()
  }
}

const opened = async (name: string, backgroundOf: (file: string) => BackgroundCheckpoint) => {
  const { db, close } = await openConnection(start(name))
  db.exec('create table filled (filler blob)')
  const { file } = start(name)
  const background = backgroundOf(file)
  const checkpoints = new Checkpoints(db, background)
  const insert = db.prepare('insert into filled values (zeroblob(?))')
  /** Commits about 100 pages if not told otherwise. */
  const commit = (busy = false, bytes = 400_000) => {
    insert.run(bytes)
    checkpoints.committed(busy, bytes)
  }
  const journal = () => {
    const [, pages = 0, moved = 0] = db.prepare('pragma wal_checkpoint(noop)').raw().get() as number[]
    return { pages, left: pages - moved }
  }
  return { file, background, close, commit, journal }
}

const inSteps = async (name: string) => {
  const stage = await opened(name, (file) => new SteppedCheckpoint(file))
  return { ...stage, background: stage.background as SteppedCheckpoint }
}

describe('sqlite: checkpoints', () => {
  it('are left to the background thread, every thousand pages, while the writer goes on', async () => {
    const { background, close, commit, journal } = await inSteps('quiet.db')
    for (let n = 0; n < 9; n++) commit()
    assert.equal(background.starts, 0)
    commit()
    commit()
    assert.equal(background.starts, 1)
    for (let n = 0; n < 20; n++) commit()
    assert.equal(background.starts, 1, 'it is told once')
    assert.ok(journal().left > 3_000, `${journal().left} pages`)
    background.finish()
    assert.equal(journal().left, 0)
    commit()
    assert.ok(journal().pages < 500, 'a journal of which all is moved starts over')
    background.close()
    close()
  })

  it('come in time when rows are small', async () => {
    const { background, close, commit, journal } = await inSteps('small.db')
    while (background.starts === 0) commit(false, 100)
    const { pages } = journal()
    assert.ok(pages >= 1_000 && pages < 1_100, `${pages} pages`)
    background.close()
    close()
  })

  it('come less often while commits are shared', async () => {
    const { background, close, commit } = await inSteps('busy.db')
    for (let n = 0; n < 38; n++) commit(true)
    assert.equal(background.starts, 0)
    for (let n = 0; n < 4; n++) commit(true)
    assert.equal(background.starts, 1)
    background.close()
    close()
  })

  it('let a long journal start over by moving the few pages that came meanwhile', async () => {
    const { file, background, close, commit, journal } = await inSteps('long.db')
    for (let n = 0; n < 42; n++) commit(true)
    const reader = new Sqlite(file, { readonly: true })
    reader.exec('begin; select count(*) from filled')
    commit(true)
    background.finish()
    reader.close()
    const { pages, left } = journal()
    assert.ok(pages > 4_000 && left > 50 && left < 200, `${left} of ${pages} pages`)
    commit(true)
    assert.equal(journal().left, 0)
    commit(true)
    assert.ok(journal().pages < 500, `${journal().pages} pages`)
    background.close()
    close()
  })

  it('move all there is between two commits once the journal is too long', async () => {
    const { background, close, commit, journal } = await inSteps('too-long.db')
    for (let n = 0; n < 82; n++) commit(true)
    background.isRunning = false
    assert.ok(journal().left > 8_000, `${journal().left} pages`)
    commit(true)
    assert.equal(journal().left, 0)
    background.close()
    close()
  })

  it('keep the journal short where there is no background thread', async () => {
    const { close, commit, journal } = await opened('alone.db', () => ({ isRunning: false, start: () => false }))
    let longest = 0
    for (let n = 0; n < 60; n++) {
      commit()
      longest = Math.max(longest, journal().pages)
    }
    assert.ok(longest > 500 && longest < 1_300, `${longest} pages`)
    close()
  })

  it('go on beside a read that holds pages back, and make up for it afterwards', async () => {
    const { file, background, close, commit, journal } = await inSteps('held.db')
    const reader = new Sqlite(file, { readonly: true })
    reader.exec('begin; select count(*) from filled')
    for (let n = 0; n < 25; n++) {
      commit()
      background.finish()
    }
    assert.ok(journal().pages > 2_000)
    assert.ok(background.starts < 4, 'trying again at once would be in vain')
    reader.exec('commit')
    reader.close()
    for (let n = 0; n < 12; n++) {
      commit()
      background.finish()
    }
    assert.ok(journal().pages < 1_300, `${journal().pages} pages`)
    background.close()
    close()
  })

  it('are made in a thread of its own, which holds nothing when it is closed', async () => {
    const told: string[] = []
    const { file, background, close, commit, journal } = await opened(
      'thread.db',
      () => new CheckpointThread(start('thread.db'), (message) => told.push(message)),
    )
    const behind = background as CheckpointThread
    for (let n = 0; n < 12; n++) commit()
    assert.ok(behind.isRunning)
    while (behind.isRunning) await setImmediate()
    assert.equal(journal().left, 0)
    await behind.close()
    close()
    assert.deepEqual([existsSync(file), existsSync(`${file}-wal`)], [true, false])
    assert.deepEqual(told, [], 'that it was closed is no failure')
  })

  it('need no thread after a minute without one, and start another', async (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] })
    const told: string[] = []
    const { background, close, commit, journal } = await opened(
      'idle.db',
      () => new CheckpointThread(start('idle.db'), (message) => told.push(message)),
    )
    const behind = background as CheckpointThread
    for (const turn of ['first', 'second']) {
      let running = 0
      process.once('worker', (thread: Worker) => {
        running++
        thread.once('exit', () => running--)
      })
      for (let n = 0; n < 12; n++) commit()
      while (behind.isRunning) await setImmediate()
      assert.equal(running, 1, turn)
      assert.ok(journal().left < 200, turn)
      context.mock.timers.tick(60_000)
      while (running > 0) await setImmediate()
    }
    await behind.close()
    close()
    assert.deepEqual(told, [])
  })

  it('are made by the writer once the thread cannot be had, which is told once', async () => {
    const told: string[] = []
    const absent = { ...start('lost.db'), file: join(folder, 'nowhere', 'lost.db') }
    const { background, close, commit, journal } = await opened(
      'lost.db',
      () => new CheckpointThread(absent, (message) => told.push(message)),
    )
    for (let n = 0; n < 12; n++) commit()
    while (background.isRunning) await setImmediate()
    let longest = 0
    for (let n = 0; n < 30; n++) {
      commit()
      longest = Math.max(longest, journal().pages)
    }
    assert.ok(longest < 2_500, `${longest} pages`)
    close()
    await setImmediate()
    assert.equal(told.length, 1, told.join())
    assert.match(told[0] ?? '', /nowhere.lost\.db ended \(.*directory does not exist.*between commits/)
  })
})
