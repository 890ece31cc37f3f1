import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { describe, it, mock } from 'node:test'
import { table } from 'guard-gateway/core'
import { postgres } from 'guard-gateway/plugins/storage/postgres'
import { OldServer } from '../../../plugins/storage/postgres/connection/connect.ts'
import { targetOf } from '../../../plugins/storage/postgres/connection/target.ts'
import { Failures } from '../../../plugins/storage/postgres/failures.ts'
import { openPlain } from '../../conformance/storage.ts'
import { cleanUpPostgres, needsPostgres, newDatabase, runSql } from '../../kit/postgres.ts'
import { changed, refusal } from './postgres-refusal.ts'

describe('postgres: a database that cannot be used', needsPostgres, () => {
  cleanUpPostgres()

  it('because nothing answers there', async () => {
    const server = createServer((socket) => socket.resume().end('HTTP/1.1 400 Bad Request\r\n\r\n')).listen(
      0,
      '127.0.0.1',
    )
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as { port: number }
    const at = `postgres://ann:s3cret@127.0.0.1:${port}/x`
    assert.match(
      await refusal(at, 'STORAGE_UNAVAILABLE'),
      /"x" at 127\.0\.0\.1:\d+ cannot be used as "ann" without TLS: /,
    )
    await new Promise((resolve) => server.close(resolve))
    assert.match(
      await refusal(at, 'STORAGE_UNAVAILABLE'),
      /nothing listens there\. Start the server, or correct host and port/,
    )
    const silent = createServer((socket) => socket.resume()).listen(port, '127.0.0.1')
    assert.match(await refusal(at, 'STORAGE_UNAVAILABLE'), /it does not answer/)
    silent.close()
    assert.match(
      await refusal('postgres://ann:s3cret@no-such-host.invalid/x?sslmode=require', 'STORAGE_UNAVAILABLE'),
      /host/,
    )
    assert.match(await refusal('postgres://ann@/x?host=/nowhere', 'STORAGE_UNAVAILABLE'), /there is no socket there/)
  })

  it('because there is no such database', async () => {
    const url = changed(await newDatabase(), (copy) => {
      copy.pathname = '/absent'
    })
    assert.match(
      await refusal(url, 'STORAGE_UNAVAILABLE'),
      /there is no such database \(database "absent" does not exist\)\. Create it/,
    )
  })

  it('because the user may not create tables, or write', async () => {
    const url = await newDatabase()
    await runSql(
      url,
      `do $$ begin create role poor login; exception when duplicate_object then null; end $$`,
      'revoke create on schema public from public',
    )
    const poor = changed(url, (copy) => {
      copy.username = 'poor'
    })
    assert.match(
      await refusal(poor, 'DATABASE_UNWRITABLE'),
      /this user may not create tables there .*grant create on schema/,
    )
    const name = new URL(url).pathname.slice(1)
    await runSql(url, `alter database ${name} set default_transaction_read_only = on`)
    assert.match(await refusal(url, 'DATABASE_UNWRITABLE'), /it is read-only\. Name the primary/)
  })

  it('because it is another program’s, and is not changed', async () => {
    const tables = [table({ id: 'conformance_notes', columns: { id: 'text', text: 'text' } })]
    for (const [made, what] of [
      [
        'create table conformance_notes (id integer primary key, text text)',
        /table conformance_notes has no column "recorded"/,
      ],
      [
        'create table conformance_notes (recorded bigint, id integer, text text)',
        /conformance_notes\.id is integer there and text here/,
      ],
      ['create table guard_meta (id integer primary key, value text)', /guard_meta has other columns/],
      [
        `create table guard_meta as select 1 as id, 'other' as program, 1 as format, 1 as min_format, 'x' as cluster`,
        /names the program "other"/,
      ],
      ['create view conformance_notes as select 1 as id', /conformance_notes has no column "recorded"/],
    ] as const) {
      const url = await newDatabase()
      await runSql(url, made)
      const message = await refusal(url, 'DATABASE_DAMAGED', tables)
      assert.match(message, what)
      assert.match(message, /is not one of this gateway: .*It was not changed\. Name another database/)
      const left = await runSql(
        url,
        `select count(*)::int as n from pg_class c join pg_namespace n on n.oid = relnamespace where nspname = 'public' and relkind in ('r', 'v')`,
      )
      assert.deepEqual(left, [{ n: 1 }])
    }
  })

  it('because a newer version wrote it', async () => {
    const url = await newDatabase()
    await (await openPlain(postgres({ url }))).close()
    await runSql(url, 'update guard_meta set format = 9')
    await (await openPlain(postgres({ url }))).close()
    assert.deepEqual(await runSql(url, 'select format from guard_meta'), [{ format: 9 }])
    await runSql(url, 'update guard_meta set min_format = 8')
    assert.match(
      await refusal(url, 'DATABASE_NEWER'),
      /newer version: it has format 9, which versions of format 8 and later may write, and this one has 1/,
    )
  })

  it('because the server is too old', () => {
    const failures = new Failures(targetOf('postgres://ann:s3cret@127.0.0.1/x'), (text) => text)
    const { message } = failures.atStart(new OldServer('12.9'))
    assert.match(message, /it is PostgreSQL 12\.9, and 13 is the oldest that works\. Update the server/)
  })

  it('because it takes no more connections', async () => {
    const url = await newDatabase()
    await runSql(
      url,
      `alter database ${new URL(url).pathname.slice(1)} connection limit 0`,
      `do $$ begin create role poor login; exception when duplicate_object then null; end $$`,
    )
    const poor = changed(url, (copy) => {
      copy.username = 'poor'
    })
    assert.match(
      await refusal(poor, 'STORAGE_UNAVAILABLE'),
      /it takes no more connections .*Raise its max_connections, or lower storage\.pool/,
    )
  })

  it('but is used with a note where its clock differs', async () => {
    const url = await newDatabase()
    const now = Date.now.bind(Date)
    const clock = mock.method(Date, 'now', () => now() + 120_000)
    const store = await openPlain(postgres({ url })).finally(() => clock.mock.restore())
    assert.match(store.notes.join(), /The clock of this process is 120 s ahead of that of the database/)
    await store.close()
    const right = await openPlain(postgres({ url }))
    assert.deepEqual(right.notes, [])
    await right.close()
  })
})
