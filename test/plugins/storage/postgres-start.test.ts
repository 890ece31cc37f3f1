import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { after, before, describe, it, mock } from 'node:test'
import { inspect } from 'node:util'
import { GuardError, type Table, table } from 'guard-gateway/core'
import { postgres } from 'guard-gateway/plugins/storage/postgres'
import { OldServer } from '../../../plugins/storage/postgres/connection/connect.ts'
import { targetOf } from '../../../plugins/storage/postgres/connection/target.ts'
import { Failures } from '../../../plugins/storage/postgres/failures.ts'
import { conformanceTables, item, openPlain } from '../../conformance/storage.ts'
import {
  cleanUpPostgres,
  needsOwnPostgres,
  needsPostgres,
  newDatabase,
  PostgresServer,
  runSql,
} from '../../kit/postgres.ts'
import { authority, signed } from '../../kit/private-authority.ts'

const SECRETS = /s3cret|p@ss w|p%40ss/

/** The error of a start that fails: one line, with a code of ours, and without a password anywhere in it. */
const refusal = async (url: string, code: string, tables: readonly Table[] = conformanceTables): Promise<string> => {
  const error = await postgres({ url, connect_timeout_ms: 1_000 })
    .open(tables, { fault: () => {} })
    .then(
      () => assert.fail('it opened'),
      (thrown: unknown) => thrown,
    )
  assert.ok(error instanceof GuardError, inspect(error))
  assert.equal(error.code, code, error.message)
  assert.doesNotMatch(inspect(error, { depth: 9, showHidden: true }), SECRETS)
  assert.doesNotMatch(error.message, /\n/)
  return error.message
}

const changed = (url: string, change: (url: URL) => void): string => {
  const copy = new URL(url)
  change(copy)
  return copy.href
}

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

describe('postgres: a server with a password and a certificate', needsOwnPostgres, () => {
  let server: PostgresServer
  let ca = ''
  before(async () => {
    server = await PostgresServer.start([], 'scram-sha-256')
    const files = [
      `ssl_cert_file=${server.write('server.crt', signed.cert)}`,
      `ssl_key_file=${server.write('server.key', signed.key)}`,
    ]
    ca = server.write('ca.pem', authority)
    await server.stop()
    await server.run(['ssl=on', ...files])
  })
  after(() => server.remove())
  const at = (host: string, query: string) =>
    changed(server.url, (copy) => {
      copy.hostname = host
      copy.search = query
    })

  it('lets in who has both', async () => {
    for (const url of [
      at('localhost', `?sslmode=require&sslrootcert=${ca}`),
      at('127.0.0.1', `?sslmode=verify-ca&sslrootcert=${ca}`),
      server.url,
    ]) {
      const store = await openPlain(postgres({ url }))
      assert.equal(await store.put('conformance_items', item('tls', url)), true)
      await store.close()
    }
  })
  it('refuses a wrong password, and one that is missing', async () => {
    const wrong = changed(server.url, (copy) => {
      copy.password = 's3cret'
    })
    assert.match(
      await refusal(wrong, 'STORAGE_UNAVAILABLE'),
      /it does not accept this password .*Correct user and password in storage\.url/,
    )
    const none = changed(server.url, (copy) => {
      copy.password = ''
    })
    assert.match(
      await refusal(none, 'STORAGE_UNAVAILABLE'),
      /it asks for a password\. Write one in storage\.url, or set PGPASSWORD/,
    )
  })
  it('is refused where its certificate is not trusted, or is for another name', async () => {
    assert.match(
      await refusal(at('localhost', '?sslmode=require'), 'STORAGE_UNAVAILABLE'),
      /its certificate is not trusted \(\w+\)\. Name the authority/,
    )
    assert.match(
      await refusal(at('127.0.0.1', `?sslmode=require&sslrootcert=${ca}`), 'STORAGE_UNAVAILABLE'),
      /its certificate is for another host/,
    )
    assert.match(
      await refusal(at('localhost', '?sslmode=require&sslrootcert=/none.pem'), 'INVALID_CONFIG'),
      /sslrootcert names \/none\.pem, which cannot be read \(ENOENT\)/,
    )
  })
  it('is refused where TLS is wanted and it has none', async () => {
    await server.stop()
    await server.run([])
    assert.match(
      await refusal(at('localhost', '?sslmode=require'), 'STORAGE_UNAVAILABLE'),
      /it refuses TLS\. Turn on ssl/,
    )
  })
})
