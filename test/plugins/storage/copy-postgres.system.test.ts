import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import type { Driver, StorageBackend } from 'guard-gateway/core'
import { postgres } from 'guard-gateway/plugins/storage/postgres'
import { sqlite } from 'guard-gateway/plugins/storage/sqlite'
import { main } from '../../../presets/default/main.ts'
import { startGateway } from '../../kit/gateway.ts'
import { fakeIo } from '../../kit/io.ts'
import { cleanUpPostgres, needsPostgres, newDatabase, runSql } from '../../kit/postgres.ts'
import { contents, copy, fill, items, kept, PLAIN, rowOf, withDriver } from './copy-kit.ts'

const folder = mkdtempSync(join(tmpdir(), 'guard-copy-postgres-'))
after(() => rmSync(folder, { recursive: true, force: true }))
cleanUpPostgres()

describe('copying to PostgreSQL and back', needsPostgres, () => {
  it('keeps every row, its order and its words', async () => {
    const [first, third] = [sqlite({ file: join(folder, '1.db') }), sqlite({ file: join(folder, '2.db') })]
    const second = postgres({ url: await newDatabase() })
    await withDriver(first, async (driver) => {
      await fill(driver, 2_500)
      // text that PostgreSQL cannot hold as it is, and keys that its own orders would put elsewhere
      const odd = { ...rowOf(1), group: 'Ä\u0000\ud800', id: 'odd', name: '\u0000\\x', data: { '\u0000': '\ud800' } }
      await driver.write([{ kind: 'put', table: items, row: odd, absent: true }], PLAIN)
    })
    const there = await copy(first, second)
    const back = await copy(second, third)
    assert.deepEqual(there.result.tables, back.result.tables)
    assert.equal(there.result.tables[0].rows, 2_501)
    const before = await contents(first)
    assert.ok(before.tagged.length > 100)
    assert.deepEqual(await contents(second), before)
    assert.deepEqual(await contents(third), before)
    const again = await copy(first, second)
    assert.deepEqual(again.result.tables, there.result.tables)
  })

  it('goes on after the connection was lost in the middle', async () => {
    const from = kept()
    await withDriver(from, (driver) => fill(driver, 5_000))
    const url = await newDatabase()
    const to = postgres({ url })
    let writes = 0
    const dying: StorageBackend = {
      id: 'dying',
      open: async (given, context) => {
        const driver = await to.open(given, context)
        const write: Driver['write'] = (batch, options) => {
          if (++writes === 4) throw new Error('killed')
          return driver.write(batch, options)
        }
        return { ...driver, capabilities: driver.capabilities, write }
      },
    }
    await assert.rejects(copy(from, dying), /killed/)
    const [{ count } = {}] = await runSql(url, 'select count(*)::int as count from conformance_items')
    assert.ok(Number(count) > 0 && Number(count) < 5_000)
    await copy(from, to)
    assert.deepEqual(await contents(to), await contents(from))
  })

  it('counts tokens that PostgreSQL cannot keep as no difference', async () => {
    const from = kept()
    const words = Array.from({ length: 2_000 }, (_, place) => `${'w'.repeat(200)}${place}`)
    await withDriver(from, (driver) =>
      driver.write(
        [{ kind: 'put', table: items, row: { ...rowOf(1), words: [...words, 'l'.repeat(700)] }, absent: true }],
        PLAIN,
      ),
    )
    const { code } = await copy(from, postgres({ url: await newDatabase() }))
    assert.equal(code, 0)
  })
})

describe('guard storage copy with a PostgreSQL database', needsPostgres, () => {
  const guard = async (...argv: readonly string[]) => {
    const io = fakeIo({ cwd: folder, env: {} })
    return { code: await main(['storage', 'copy', ...argv], io), out: io.outText(), err: io.errText() }
  }

  it('moves a gateway in and out', async () => {
    const place = mkdtempSync(join(folder, 'gateway-'))
    const before = await startGateway({ folder: place, backend: 'sqlite' })
    for (const name of ['first', 'second'])
      await before.request('POST', '/api/v1/traces', { trace_id: name, name: `Größe of ${name}`, spans: [{ name }] })
    await before.close()
    const url = await newDatabase()
    const moved = await guard('--from', join(place, 'guard.db'), '--to', url)
    assert.equal(moved.code, 0, moved.err)
    assert.match(moved.err, /and postgres:\/\/\S+\/guard_\S+ are the same: [\d,]+ rows in /)
    assert.doesNotMatch(moved.err, /guard:|p%40ss/)
    const found = async (running: Awaited<ReturnType<typeof startGateway>>) => {
      const { json } = await running.request('GET', '/api/v1/runs?q=gr%C3%B6%C3%9Fe')
      return (json as { runs: { trace_id: string }[] }).runs.map(({ trace_id }) => trace_id)
    }
    const shared = await startGateway({ backend: 'postgres', storage: `url: "${url}"` })
    try {
      assert.deepEqual(await found(shared), ['second', 'first'])
      const refused = await guard('--from', url, '--to', 'busy.db')
      assert.equal(refused.code, 1, refused.err)
      assert.match(refused.err, new RegExp(`A gateway uses postgres://.*: process ${process.pid} on .*COPY_IN_USE`))
      await shared.request('POST', '/api/v1/traces', { trace_id: 'third', name: 'Größe', spans: [{ name: 'x' }] })
    } finally {
      await shared.close()
    }
    const out = mkdtempSync(join(folder, 'out-'))
    const back = await guard('--from', url, '--to', join(out, 'guard.db'))
    assert.equal(back.code, 0, back.err)
    const after = await startGateway({ folder: out, backend: 'sqlite' })
    try {
      assert.deepEqual(await found(after), ['third', 'second', 'first'])
    } finally {
      await after.close()
    }
    const occupied = await guard('--from', join(place, 'guard.db'), '--to', url)
    assert.equal(occupied.code, 1)
    assert.match(occupied.err, /COPY_TARGET_OCCUPIED/)
  })

  it('goes on past gateways that were killed', async () => {
    const url = await newDatabase()
    const shared = await startGateway({ backend: 'postgres', storage: `url: "${url}"` })
    await shared.close()
    await runSql(
      url,
      `insert into instances (id, host, pid, version, started_at, beats) values ('inst_dead', 'h', 7, '1', 1, 5)`,
    )
    const { code, err } = await guard('--from', url, '--to', 'dead.db')
    assert.equal(code, 0, err)
  })

  for (const [title, change, message] of [
    [
      'a wrong password or user',
      (url: URL) => Object.assign(url, { username: 'nobody', password: 'hunter2hunter2' }),
      /nobody|password|role/,
    ],
    ['no database of the name', (url: URL) => Object.assign(url, { pathname: '/gone' }), /gone/],
    ['no server', (url: URL) => Object.assign(url, { port: '1' }), /127\.0\.0\.1:1|localhost:1/],
    [
      'no database in the address',
      (url: URL) => Object.assign(url, { search: '?sslmode=prefer', password: 'hunter2hunter2' }),
      /The address postgres:\/\/\S+ has sslmode=prefer/,
    ],
  ] as const) {
    it(`says in one message: ${title}`, async () => {
      const { href } = change(new URL(await newDatabase()))
      const { code, err } = await guard('--from', href, '--to', 'none.db')
      assert.notEqual(code, 0)
      assert.match(err, message)
      assert.doesNotMatch(err, /hunter2|storage\.url/)
      assert.equal(err.match(/^error:/gm)?.length, 1)
    })
  }
})
