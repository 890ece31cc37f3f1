import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Change, GuardError, type Storage } from 'guard-gateway/core'
import { type PostgresOptions, postgres } from 'guard-gateway/plugins/storage/postgres'
import { item, openPlain } from '../../conformance/storage.ts'
import { cleanUpPostgres, needsPostgres, newDatabase, runSql } from '../../kit/postgres.ts'
import { type Fate, Relay } from '../../kit/relay.ts'

interface Fixture extends AsyncDisposable {
  readonly store: Storage
  readonly relay: Relay
  /** The database without the relay. */
  readonly url: string
}

const open = async (options: Partial<PostgresOptions> = {}): Promise<Fixture> => {
  const url = await newDatabase()
  const relay = await new Relay(Number(new URL(url).port)).listen()
  const through = new URL(url)
  through.port = String(relay.port)
  const store = await openPlain(postgres({ url: through.href, grace_ms: 3_000, ...options }))
  return {
    store,
    relay,
    url,
    async [Symbol.asyncDispose]() {
      relay.fate = () => 'pass'
      await store.close()
      await relay[Symbol.asyncDispose]()
    },
  }
}

const adding = (count = 1): Change => ({ table: 'conformance_items', key: ['g', 'sum'], add: { count } })
const countOf = async (store: Storage) => (await store.get('conformance_items', ['g', 'sum']))?.count ?? 0
/** Bytes that hold a batch with its marker: the connections are prepared, so its name is all that tells. */
const isBatch = (bytes: Buffer): boolean => bytes.includes('guard_commit')

/** Bytes that end exclusive work. */
const isExclusive = (bytes: Buffer): boolean => bytes.includes('guard_unlock')

describe('postgres: a connection that is cut', needsPostgres, () => {
  cleanUpPostgres()

  for (const fate of ['lose', 'deaf'] as const) {
    it(`in a batch ${fate === 'lose' ? 'before' : 'after'} the server has it: it is written once`, async () => {
      await using fixture = await open({ pool: 3 })
      const { store, relay } = fixture
      let left = 6
      relay.fate = (bytes) => (isBatch(bytes) && left-- > 0 ? fate : 'pass')
      for (let n = 1; n <= 10; n++) {
        assert.equal(await store.write([adding()]), true)
        assert.equal(await countOf(store), n)
      }
      assert.ok(relay.cuts >= 6)
      assert.equal(store.state, 'ok')
    })
  }

  it('again and again at any moment: nothing is lost, and nothing is there twice', async () => {
    await using fixture = await open({ pool: 4 })
    const { store, relay } = fixture
    let turn = 0
    const fates: readonly Fate[] = ['lose', 'deaf']
    relay.fate = () => (++turn % 7 === 0 ? (fates[turn % 2] ?? 'pass') : 'pass')
    const writes = Array.from({ length: 120 }, (_, n) =>
      store.write([
        { table: 'conformance_items', put: item('rows', String(n)), when: 'absent' },
        adding(n),
        { table: 'conformance_notes', put: { id: String(n), text: 'x' } },
      ]),
    )
    assert.deepEqual(new Set(await Promise.all(writes)), new Set([true]))
    relay.fate = () => 'pass'
    assert.ok(relay.cuts > 10, `${relay.cuts} cuts`)
    assert.equal(await countOf(store), (119 * 120) / 2)
    const found = await store.find('conformance_items', { where: { group: 'rows' }, limit: 500 })
    assert.equal(found.rows.length, 120)
  })

  it('while the server still works on the batch: that can no longer be committed, and the next one is', async () => {
    await using fixture = await open()
    const { store, relay, url } = fixture
    await store.write([adding(5)])
    const { Client } = await import('pg')
    const other = new Client({ connectionString: url })
    await other.connect()
    await other.query('begin')
    await other.query('select 1 from conformance_items for update')
    let seen = 0
    relay.fate = (bytes) => (isBatch(bytes) && ++seen === 1 ? 'deaf' : 'pass')
    const write = store.write([adding()])
    while (seen < 2) await new Promise((resolve) => setTimeout(resolve, 10))
    await other.query('commit')
    await other.end()
    assert.equal(await write, true)
    assert.equal(await countOf(store), 6)
  })

  it('in a batch whose condition failed: it is refused', async () => {
    await using fixture = await open()
    const { store, relay } = fixture
    await store.put('conformance_items', item('g', 'a', { count: 1 }))
    let seen = 0
    relay.fate = (bytes) => (isBatch(bytes) && ++seen === 1 ? 'deaf' : 'pass')
    const condition = {
      table: 'conformance_items',
      key: ['g', 'a'],
      patch: { count: 2 },
      expected: { count: 7 },
    } as const
    assert.equal(await store.write([condition, adding()]), false)
    assert.equal(await countOf(store), 0)
  })

  it('in exclusive work: its result is that of the server', async () => {
    await using fixture = await open()
    const { store, relay } = fixture
    const work = () =>
      store.exclusive('conformance_items', ['g', 'sum'], async (read) => [
        (await read.get('conformance_items', ['g', 'sum']))?.count ?? 0,
        [adding()],
      ])
    assert.equal(await work(), 0)
    relay.fate = (bytes) => (isExclusive(bytes) ? 'deaf' : 'pass')
    assert.equal(await work(), 1)
    relay.fate = () => 'pass'
    assert.equal(await countOf(store), 2)
    let left = 1
    relay.fate = (bytes) => (isExclusive(bytes) && left-- > 0 ? 'lose' : 'pass')
    await assert.rejects(work(), { code: 'STORAGE_BUSY' })
    assert.equal(await work(), 2)
  })

  it('leaves no marker for long, and none at the end', async () => {
    const fixture = await open()
    await Promise.all(Array.from({ length: 50 }, () => fixture.store.write([adding()])))
    const { url } = fixture
    await fixture[Symbol.asyncDispose]()
    assert.deepEqual(await runSql(url, 'select count(*)::int as n from guard_commits'), [{ n: 0 }])
    assert.deepEqual(await runSql(url, 'select count(*)::int as n from guard_locks'), [{ n: 0 }])
  })

  it('by a server that answers nothing any more: what waits is sent on another one', async () => {
    await using fixture = await open({ statement_timeout_ms: 300, lock_timeout_ms: 300, grace_ms: 500, pool: 3 })
    const { store, relay } = fixture
    let left = 1
    relay.fate = (bytes) => (isBatch(bytes) && left-- > 0 ? 'hung' : 'pass')
    assert.equal(await store.write([adding()]), true)
    assert.equal(await countOf(store), 1)
  })

  it('while answers take long: everything is written', async () => {
    await using fixture = await open()
    const { store, relay } = fixture
    relay.delay_ms = 30
    assert.deepEqual(
      new Set(await Promise.all(Array.from({ length: 20 }, () => store.write([adding()])))),
      new Set([true]),
    )
    assert.equal(await countOf(store), 20)
  })

  it('for good: what may not be held is refused, and says why', async () => {
    const fixture = await open({ grace_ms: 300 })
    const { store, relay } = fixture
    relay.fate = () => 'lose'
    relay.cutAll()
    const error = await store.write([adding()]).catch((thrown: unknown) => thrown)
    assert.ok(error instanceof GuardError)
    assert.equal(error.code, 'STORAGE_UNAVAILABLE')
    assert.match(error.message, /ended the connection/)
    await fixture[Symbol.asyncDispose]()
  })
})
