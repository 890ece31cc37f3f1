import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Change, Storage, StorageState } from 'guard-gateway/core'
import { type PostgresOptions, postgres } from 'guard-gateway/plugins/storage/postgres'
import { item, openPlain } from '../../conformance/storage.ts'
import { needsOwnPostgres, PostgresServer, runSql } from '../../kit/postgres.ts'

const reached = (store: Storage, wanted: StorageState): Promise<void> =>
  new Promise((resolve) => {
    if (store.state === wanted) return resolve()
    const stop = store.onState((state) => {
      if (state !== wanted) return
      stop()
      resolve()
    })
  })

const note = (id: string): Change => ({ table: 'conformance_notes', put: { id, text: 'x' }, when: 'absent' })
const adding: Change = { table: 'conformance_items', key: ['g', 'sum'], add: { count: 1 } }

describe('postgres: a server that goes away', needsOwnPostgres, () => {
  let server: PostgresServer
  let databases = 0
  before(async () => {
    server = await PostgresServer.start()
  })
  after(() => server.remove())

  const open = async (options: Partial<PostgresOptions> = {}) => {
    const name = `outage_${++databases}`
    await runSql(server.url, `create database ${name}`)
    const url = new URL(server.url)
    url.pathname = `/${name}`
    const faults: string[] = []
    const store = await openPlain(postgres({ url: url.href, grace_ms: 8_000, ...options }), (error) =>
      faults.push(String(error)),
    )
    const states: StorageState[] = []
    store.onState((state) => states.push(state))
    return { store, states, faults, url: url.href }
  }

  for (const how of ['fast', 'immediate'] as const) {
    it(`and comes back (${how}): what was under way is written once, in its order`, async () => {
      const { store } = await open()
      await store.put('conformance_items', item('g', 'before'))
      let isRunning = true
      let next = 0
      const writer = async (): Promise<number> => {
        let written = 0
        while (isRunning) {
          assert.equal(await store.write([note(String(next++)), adding]), true)
          written++
        }
        return written
      }
      const writers = Array.from({ length: 8 }, writer)
      await server.stop(how)
      const reading = store.get('conformance_items', ['g', 'before'])
      await server.run()
      assert.equal((await reading)?.id, 'before')
      const after = next
      // some batches that begin once it runs again
      while (next < after + 50) await new Promise((resolve) => setImmediate(resolve))
      isRunning = false
      const written = (await Promise.all(writers)).reduce((sum, count) => sum + count, 0)
      assert.equal((await store.get('conformance_items', ['g', 'sum']))?.count, written)
      const sums = await store.sum('conformance_notes', { by: [], of: [] })
      assert.equal(sums[0]?.rows, written)
      assert.equal(store.state, 'ok')
      await store.close()
    })
  }

  it('for longer: it says so, refuses what may not wait, keeps what may, and writes that later', async () => {
    const { store, states, faults } = await open({ grace_ms: 300 })
    await store.write([note('before')])
    await server.stop()
    const held = [store.write([note('held'), adding], { hold: true }), store.write([note('held')], { hold: true })]
    await assert.rejects(store.write([note('refused')]), {
      code: 'STORAGE_UNAVAILABLE',
      message: /nothing listens there/,
    })
    await reached(store, 'failing')
    await assert.rejects(store.write([note('refused')]), { code: 'STORAGE_UNAVAILABLE' })
    await assert.rejects(store.get('conformance_notes', 'before'), { code: 'STORAGE_UNAVAILABLE' })
    assert.match(store.notes.join(), /"outage_\d+" at 127\.0\.0\.1:\d+ cannot be used: nothing listens there/)
    await server.run()
    assert.deepEqual(await Promise.all(held), [true, false])
    await reached(store, 'ok')
    assert.deepEqual(store.notes, [])
    assert.equal(faults.length, 1)
    assert.equal(states.at(-1), 'ok')
    assert.deepEqual([...new Set(states)], ['busy', 'failing', 'ok'])
    assert.equal(await store.get('conformance_notes', 'refused'), undefined)
    await store.close()
  })

  it('for good: closing ends all the same, and refuses what it kept', async () => {
    const { store } = await open({ grace_ms: 200 })
    await server.stop()
    const held = store.write([note('held')], { hold: true })
    await Promise.all([assert.rejects(held, { code: 'STORAGE_UNAVAILABLE' }), store.close()])
    await server.run()
  })

  it('as a writer: it fails while it is read-only, and recovers by itself', async () => {
    const { store, url } = await open({ grace_ms: 200 })
    await store.write([note('a')])
    const name = new URL(url).pathname.slice(1)
    const terminate = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}' and pid <> pg_backend_pid()`
    await runSql(server.url, `alter database ${name} set default_transaction_read_only = on`, terminate)
    await assert.rejects(store.write([note('b')]), { code: 'STORAGE_UNAVAILABLE', message: /read-only/ })
    await reached(store, 'failing')
    assert.match(store.notes.join(), /it is read-only/)
    await runSql(server.url, `alter database ${name} set default_transaction_read_only = off`)
    await reached(store, 'ok')
    assert.equal(await store.write([note('b')]), true)
    await store.close()
  })

  it('for lack of disk: it is full, keeps what may be held, and notices that there is room again', async () => {
    const { store, url, states } = await open()
    await store.write([note('a')])
    const full = `create function no_space() returns trigger language plpgsql as $$ begin raise exception 'no space left on device' using errcode = '53100'; end $$`
    const tables = ['conformance_notes', 'guard_commits']
    await runSql(
      url,
      full,
      ...tables.map(
        (name) => `create trigger no_space before insert on ${name} for each row execute function no_space()`,
      ),
    )
    await assert.rejects(store.write([note('b')]), { code: 'STORAGE_FULL' })
    assert.equal(store.state, 'full')
    const held = store.write([note('c')], { hold: true })
    assert.equal((await store.get('conformance_notes', 'a'))?.id, 'a')
    await runSql(url, ...tables.map((name) => `drop trigger no_space on ${name}`))
    assert.equal(await held, true)
    assert.deepEqual([store.state, ...states], ['ok', 'full', 'ok'])
    await runSql(
      url,
      ...tables.map(
        (name) => `create trigger no_space before insert on ${name} for each row execute function no_space()`,
      ),
    )
    await assert.rejects(store.write([note('d')]), { code: 'STORAGE_FULL' })
    await runSql(url, ...tables.map((name) => `drop trigger no_space on ${name}`))
    await reached(store, 'ok')
    await store.close()
  })

  it('in part: with fewer connections than the pool may have, it works with those', async () => {
    const { store, url } = await open({ pool: 20 })
    const name = new URL(url).pathname.slice(1)
    await runSql(server.url, `create role small login`, `alter database ${name} owner to small`)
    await store.close()
    await runSql(server.url, 'alter role small connection limit 4')
    const other = new URL(url)
    other.username = 'small'
    await runSql(
      url,
      'grant all on all tables in schema public to small',
      'grant all on all sequences in schema public to small',
    )
    const few = await openPlain(postgres({ url: other.href, pool: 20 }))
    const writes = Array.from({ length: 60 }, (_, n) => few.put('conformance_items', item('few', String(n))))
    assert.deepEqual(new Set(await Promise.all(writes)), new Set([true]))
    assert.equal(few.state, 'ok')
    await few.close()
  })
})
