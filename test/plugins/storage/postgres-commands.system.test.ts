import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { postgres } from 'guard-gateway/plugins/storage/postgres'
import { main } from '../../../presets/default/main.ts'
import { openPlain } from '../../conformance/storage.ts'
import { fakeIo } from '../../kit/io.ts'
import { cleanUpPostgres, needsPostgres, newDatabase } from '../../kit/postgres.ts'

const folder = mkdtempSync(join(tmpdir(), 'guard-postgres-commands-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const guard = async (url: string, ...argv: readonly string[]) => {
  const text = 'gateway_key: guard_0123456789abcdef\nstorage: { backend: postgres, url: "$' + '{DATABASE_URL}" }\n'
  writeFileSync(join(folder, 'guard-config.yml'), text, { mode: 0o600 })
  const io = fakeIo({ cwd: folder, env: { DATABASE_URL: url } })
  return { code: await main(['storage', ...argv], io), out: io.outText(), err: io.errText() }
}

describe('guard storage, with postgres', needsPostgres, () => {
  cleanUpPostgres()
  it('check asks the database, and prints the call that reads it through', async () => {
    const url = await newDatabase()
    await (await openPlain(postgres({ url }))).close()
    const { code, out, err } = await guard(url, 'check')
    assert.equal(code, 0, err)
    assert.match(out, /^"guard_\w+" at 127\.0\.0\.1:\d+ answers: PostgreSQL \d+\S* .*, 5 tables, \d+ kB\n/)
    assert.match(
      out,
      /pg_amcheck --install-missing --heapallindexed --dbname='host=127\.0\.0\.1 port=\d+ user=guard dbname=guard_\w+ sslmode=disable'/,
    )
    assert.doesNotMatch(out + err, /p@ss|p%40ss/)
  })
  it('backup prints a call of pg_dump that works, without the password', async () => {
    const url = await newDatabase()
    await (await openPlain(postgres({ url }))).close()
    const file = join(folder, "it's a copy.dump")
    const { code, out, err } = await guard(url, 'backup', file)
    assert.equal(code, 0, err)
    assert.doesNotMatch(out + err, /p@ss|p%40ss/)
    assert.match(err, /PGPASSWORD or ~\/\.pgpass[\s\S]*Nothing was written yet/)
    const PGPASSWORD = decodeURIComponent(new URL(url).password)
    execFileSync('sh', ['-c', out], { env: { ...process.env, PGPASSWORD } })
    assert.ok(statSync(file).size > 1_000)
    const restored = await guard(url, 'restore', file)
    assert.match(restored.err, /Nothing was restored yet/)
    execFileSync('sh', ['-c', restored.out], { env: { ...process.env, PGPASSWORD } })
    assert.match((await guard(url, 'check')).out, / 5 tables/)
  })
  it('say what stands in the way', async () => {
    const { code, out, err } = await guard('postgres://ann:s3cret-word@127.0.0.1:1/x', 'check')
    assert.deepEqual([code === 0, out], [false, ''])
    assert.match(err, /"x" at 127\.0\.0\.1:1 cannot be used as "ann" without TLS: nothing listens there/)
    assert.doesNotMatch(err, /s3cret/)
  })
})
