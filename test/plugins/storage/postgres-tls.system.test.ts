import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { postgres } from 'guard-gateway/plugins/storage/postgres'
import { item, openPlain } from '../../conformance/storage.ts'
import { needsOwnPostgres, PostgresServer } from '../../kit/postgres.ts'
import { authority, signed } from '../../kit/private-authority.ts'
import { changed, refusal } from './postgres-refusal.ts'

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
