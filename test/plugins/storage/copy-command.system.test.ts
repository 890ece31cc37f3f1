import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import Sqlite from 'better-sqlite3'
import { main } from '../../../presets/default/main.ts'
import { startGateway } from '../../kit/gateway.ts'
import { fakeIo } from '../../kit/io.ts'

describe('guard storage copy', () => {
  const folder = mkdtempSync(join(tmpdir(), 'guard-copy-command-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  const guard = async (...argv: readonly string[]) => {
    const io = fakeIo({ cwd: folder, env: {} })
    return { code: await main(['storage', 'copy', ...argv], io), out: io.outText(), err: io.errText() }
  }
  before(async () => {
    const gateway = await startGateway({ folder, backend: 'sqlite' })
    try {
      const refused = await guard('--from', 'guard.db', '--to', 'copy.db')
      assert.equal(refused.code, 69)
      assert.match(refused.err, new RegExp(`in use by process ${process.pid} at http`))
      assert.equal(existsSync(join(folder, 'copy.db')), false)
      for (const name of ['first', 'second'])
        await gateway.request('POST', '/api/v1/traces', { trace_id: name, name: `Größe of ${name}`, spans: [{ name }] })
    } finally {
      await gateway.close()
    }
  })

  it('makes a database that a gateway opens, and finds everything in', async () => {
    const { code, out, err } = await guard('--from', 'guard.db', '--to', 'moved/../copy.db')
    assert.equal(code, 0, err)
    assert.match(out, /^runs +2 {2}sha256 [0-9a-f]{16}$/m)
    assert.match(err, /^guard\.db and moved\/\.\.\/copy\.db are the same: [\d,]+ rows in /m)
    const place = mkdtempSync(join(folder, 'opened-'))
    assert.equal((await guard('--from', 'copy.db', '--to', join(place, 'guard.db'))).code, 0)
    const gateway = await startGateway({ folder: place, backend: 'sqlite' })
    try {
      const found = await gateway.request('GET', '/api/v1/runs?q=gr%C3%B6%C3%9Fe')
      const ids = (found.json as { runs: { trace_id: string }[] }).runs.map(({ trace_id }) => trace_id)
      assert.deepEqual(ids, ['second', 'first'])
    } finally {
      await gateway.close()
    }
  })

  it('prints counts and whole digests as JSON', async () => {
    const { code, out } = await guard('--from', 'guard.db', '--to', 'json.db', '--json')
    assert.equal(code, 0)
    const { tables, undeclared } = JSON.parse(out) as {
      tables: { table: string; rows: number; sha256: string }[]
      undeclared: string[]
    }
    assert.equal(tables.find(({ table }) => table === 'spans')?.rows, 2)
    assert.ok(tables.every(({ sha256 }) => /^[0-9a-f]{64}$/.test(sha256)))
    assert.deepEqual(undeclared, [])
  })

  it('copies the tables of plugins that the configuration names, and names those of others', async () => {
    const db = new Sqlite(join(folder, 'guard.db'))
    db.exec('create table own_notes (recorded integer primary key, id text not null, text text) strict')
    db.exec(`insert into own_notes (id, text) values ('a', 'kept')`)
    db.close()
    const without = await guard('--from', 'guard.db', '--to', 'without.db')
    assert.equal(without.code, 0)
    assert.match(without.err, /Not copied: own_notes\./)
    writeFileSync(
      join(folder, 'own.ts'),
      `export const own = { name: 'own', apply: (gateway) => gateway.tables.add({ id: 'own_notes', columns: { id: 'text', text: 'text' } }) }\n`,
    )
    writeFileSync(join(folder, 'guard-config.yml'), 'gateway_key: guard_0123456789abcdef\nplugins: [./own.ts]\n', {
      mode: 0o600,
    })
    try {
      const { code, out, err } = await guard('--from', 'guard.db', '--to', 'without.db')
      assert.equal(code, 0, err)
      assert.match(out, /^own_notes +1 /m)
    } finally {
      rmSync(join(folder, 'guard-config.yml'))
    }
  })

  for (const [title, argv, code, message] of [
    ['no source', ['--to', 'x.db'], 2, /--from is missing/],
    ['no target', ['--from', 'guard.db'], 2, /--to is missing/],
    ['a source that is not there', ['--from', 'gone.db', '--to', 'x.db'], 2, /There is no database gone\.db/],
    ['one database under two names', ['--from', 'guard.db', '--to', 'link.db'], 2, /are the same database/],
    ['an engine that there is none of', ['--from', 'guard.db', '--to', 'mysql://u:secret@h/d'], 2, /mysql:\/\//],
    ['a source that is no database', ['--from', 'text.db', '--to', 'x.db'], 69, /text\.db is not an SQLite database/],
    ['a target in no folder', ['--from', 'guard.db', '--to', 'none/x.db'], 69, /folder .*none of the database file/],
  ] as const) {
    it(`refuses ${title}`, async () => {
      if (!existsSync(join(folder, 'link.db'))) symlinkSync(join(folder, 'guard.db'), join(folder, 'link.db'))
      writeFileSync(join(folder, 'text.db'), 'no database, and a text that is long enough to be read '.repeat(4))
      const refused = await guard(...argv)
      assert.equal(refused.code, code, refused.err)
      assert.match(refused.err, message)
      assert.doesNotMatch(refused.err, /secret/)
      assert.equal(existsSync(join(folder, 'x.db')), false)
    })
  }
})
