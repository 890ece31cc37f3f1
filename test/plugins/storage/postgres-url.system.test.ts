import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { describe, it } from 'node:test'
import { inspect } from 'node:util'
import { hidePassword, targetOf } from '../../../plugins/storage/postgres/connection/target.ts'

const refusal = (url: string): string => {
  try {
    targetOf(url)
  } catch (error) {
    assert.doesNotMatch(inspect(error, { depth: 9, showHidden: true }), /s3cret/, url)
    return (error as Error).message
  }
  return assert.fail(`${url} was accepted`)
}

describe('the preset', () => {
  it('loads the client of PostgreSQL for a database alone', () => {
    const program = `
      import { createRequire } from 'node:module'
      await import('guard-gateway/presets/default')
      const loaded = Object.keys(createRequire(import.meta.url).cache).filter((file) => /node_modules.pg(-\\w+)?./.test(file))
      console.log(JSON.stringify(loaded))`
    const args = ['--conditions=guard-source', '--input-type=module', '--eval', program]
    assert.equal(execFileSync(process.execPath, args, { encoding: 'utf8', cwd: import.meta.dirname }).trim(), '[]')
  })
})

describe('the address of a PostgreSQL database', () => {
  it('names host, port, user, password and database', () => {
    const { host, port, user, password, database, tls } = targetOf(
      'postgresql://an%40n:s3%2Fcret@127.0.0.1:6432/my%20db',
    )
    assert.deepEqual(
      [host, port, user, password, database, tls],
      ['127.0.0.1', 6432, 'an@n', 's3/cret', 'my db', undefined],
    )
    assert.deepEqual(targetOf('postgres://ann@localhost').database, 'ann')
    assert.equal(targetOf('postgres://ann@[::1]/x').host, '::1')
  })
  it('may name a socket', () => {
    for (const url of ['postgres://ann@/db?host=/run/postgresql', 'postgres:///db?host=/run/postgresql&user=ann'])
      assert.deepEqual(
        [targetOf(url).host, targetOf(url).database, targetOf(url).tls],
        ['/run/postgresql', 'db', undefined],
      )
    assert.equal(targetOf('postgres://ann@%2Frun%2Fpostgresql/db').host, '/run/postgresql')
  })
  it('is encrypted beyond this machine, with the certificate checked, unless it says otherwise', () => {
    const at = (query: string) => targetOf(`postgres://ann:s3cret@db.example/x${query}`).tls
    assert.deepEqual(at('?sslmode=require'), {
      checkName: true,
      ca_file: undefined,
      cert_file: undefined,
      key_file: undefined,
    })
    assert.equal(at('?sslmode=verify-full&sslrootcert=/ca.pem')?.ca_file, '/ca.pem')
    assert.equal(at('?sslmode=verify-ca')?.checkName, false)
    assert.equal(at('?ssl=true')?.checkName, true)
    assert.equal(at('?sslmode=disable'), undefined)
    assert.match(
      refusal('postgres://ann:s3cret@db.example/x'),
      /^storage\.url leads to db\.example without TLS; add \?sslmode=require/,
    )
    for (const mode of ['prefer', 'allow', 'no-verify'])
      assert.match(
        refusal(`postgres://ann:s3cret@db.example/x?sslmode=${mode}`),
        /may end without encryption or without a check/,
      )
  })
  it('is refused with one clear message, and no word of the password', () => {
    assert.match(refusal(''), /is no URL/)
    assert.match(refusal('s3cret'), /is no URL; it has the form postgres:/)
    assert.match(refusal('mysql://ann:s3cret@db/x'), /begins with mysql:\/\//)
    assert.match(refusal('postgres://ann:s3cret@:x/'), /cannot be parsed/)
    assert.match(refusal('postgres://ann:s3cret#@db/x'), /cannot be parsed|names no user|without TLS/)
    assert.match(refusal('postgres://ann:100%s3cret@127.0.0.1/x'), /write % as %25/)
    assert.match(refusal('postgres://ann:s3cret@db:99999/x'), /cannot be parsed/)
    assert.match(refusal('postgres://ann:s3cret@one,two/x'), /several hosts/)
    assert.match(refusal('postgres://127.0.0.1/x'), /names no user/)
  })
  it('hides the password in every form', () => {
    const target = targetOf('postgres://ann:p%40ss%2fw%20rd@127.0.0.1/x')
    const hide = hidePassword(target)
    for (const form of ['p@ss/w rd', 'p%40ss%2Fw%20rd', 'p%40ss%2fw%20rd', 'p@ss/w%20rd'])
      assert.equal(hide(`no ${form} here`), 'no **** here')
  })
})
