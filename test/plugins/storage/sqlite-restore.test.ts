import assert from 'node:assert/strict'
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import Sqlite from 'better-sqlite3'
import { main } from '../../../presets/default/main.ts'
import { type Started, startGateway } from '../../kit/gateway.ts'
import { fakeIo } from '../../kit/io.ts'
import { redoLogFixture } from './redo-log-kit.ts'

const root = mkdtempSync(join(tmpdir(), 'guard-restore-'))
after(() => rmSync(root, { recursive: true, force: true }))

const guardIn =
  (folder: string) =>
  async (...argv: readonly string[]) => {
    const io = fakeIo({ cwd: folder, env: {} })
    return { code: await main(['storage', ...argv], io), out: io.outText(), err: io.errText() }
  }
const report = async (gateway: Started, trace_id: string): Promise<void> => {
  const sent = { trace_id, spans: [{ name: 'tool.call' }] }
  assert.equal((await gateway.request('POST', '/api/v1/traces', sent)).status, 201)
}
const runsOf = async (folder: string): Promise<readonly string[]> => {
  const gateway = await startGateway({ folder, backend: 'sqlite' })
  try {
    const { json } = await gateway.request('GET', '/api/v1/runs')
    return (json as { runs: readonly { trace_id: string }[] }).runs.map(({ trace_id }) => trace_id)
  } finally {
    await gateway.close()
  }
}

describe('guard storage restore', () => {
  let folder: string
  const guard = (...argv: readonly string[]) => guardIn(folder)(...argv)
  const old = () => readdirSync(folder).filter((name) => name.includes('before-restore'))

  /** A folder whose database has the run `later`, beside a backup without it. */
  let made: string
  before(async () => {
    made = mkdtempSync(join(root, 'made-'))
    writeFileSync(join(made, 'guard-config.yml'), 'gateway_key: guard_0123456789abcdef\n', { mode: 0o600 })
    const gateway = await startGateway({ folder: made, backend: 'sqlite' })
    await report(gateway, 'first')
    assert.equal((await guardIn(made)('backup', 'first.db')).code, 0)
    await report(gateway, 'later')
    await gateway.close()
  })
  beforeEach(() => {
    folder = mkdtempSync(join(root, 'run-'))
    for (const name of ['guard-config.yml', 'guard.db', 'first.db']) copyFileSync(join(made, name), join(folder, name))
  })

  it('puts a backup in the place of the database, and the former one can be restored again', async () => {
    const { code, err } = await guard('restore', 'first.db')
    assert.equal(code, 0, err)
    const [kept = ''] = old()
    assert.match(err, /^guard\.db is first\.db now, \d+ kB; the former database is guard\.db\.before-restore-\S+Z\n$/)
    assert.deepEqual(await runsOf(folder), ['first'])
    assert.equal((await guard('restore', kept)).code, 0)
    assert.deepEqual([...(await runsOf(folder))].sort(), ['first', 'later'])
    assert.equal(old().length, 2)
  })
  it('needs no database before it, and tells of it as JSON where that is wanted', async () => {
    rmSync(join(folder, 'guard.db'))
    const { code, out } = await guard('restore', 'first.db', '--json')
    assert.equal(code, 0)
    const { bytes } = JSON.parse(out)
    assert.deepEqual(JSON.parse(out), { file: join(folder, 'guard.db'), kept: null, bytes })
    assert.ok(bytes > 0)
    assert.deepEqual(await runsOf(folder), ['first'])
  })
  it('is refused while a gateway uses the database, with its address', async () => {
    const gateway = await startGateway({ folder, backend: 'sqlite' })
    try {
      const { code, err } = await guard('restore', 'first.db')
      assert.equal(code, 69)
      assert.match(err, /guard\.db is in use by process \d+ at http:\/\/127\.0\.0\.1:\d+\. Stop it/)
      rmSync(join(folder, 'guard.db.lock'))
      assert.match((await guard('restore', 'first.db')).err, /guard\.db is in use by process \d+/)
    } finally {
      await gateway.close()
    }
    assert.deepEqual([...(await runsOf(folder))].sort(), ['first', 'later'])
  })

  const spoilt: readonly (readonly [what: string, spoil: (file: string) => void, said: RegExp, code: number])[] = [
    ['is missing', (file) => rmSync(file), /There is no backup first\.db\. .*storage backup <file>/, 2],
    ['is empty', (file) => writeFileSync(file, ''), /The backup first\.db is empty\. Nothing was changed/, 69],
    ['is no database', (file) => writeFileSync(file, 'x'.repeat(4096)), /first\.db is not an SQLite database\. /, 69],
    [
      'is cut off',
      (file) => writeFileSync(file, readFileSync(file).subarray(0, 8192)),
      /The backup first\.db is cut off: 8192 bytes of \d+\. Nothing was changed; restore another backup/,
      69,
    ],
    [
      'is damaged inside',
      (file) => {
        const bytes = readFileSync(file)
        writeFileSync(file, bytes.fill(0x5a, 8192, 16_384))
      },
      /The backup first\.db is damaged \(.+\)\. Nothing was changed/,
      69,
    ],
    [
      'belongs to another program',
      (file) => {
        rmSync(file)
        new Sqlite(file).exec('create table t (a)').close()
      },
      /first\.db belongs to another program\. Nothing was changed/,
      69,
    ],
    [
      'is of a newer version',
      (file) => {
        const db = new Sqlite(file)
        db.pragma('user_version = 2')
        db.close()
      },
      /first\.db was written by a newer version than this one, which reads format 1\. Nothing was changed; install that version/,
      69,
    ],
  ]
  for (const [what, spoil, said, code] of spoilt)
    it(`changes nothing where the backup ${what}`, async () => {
      spoil(join(folder, 'first.db'))
      const before = readFileSync(join(folder, 'guard.db'))
      const told = await guard('restore', 'first.db')
      assert.match(told.err, said)
      assert.equal(told.code, code)
      assert.equal(told.err.split('\n').length, 2)
      assert.deepEqual(readFileSync(join(folder, 'guard.db')), before)
      assert.deepEqual(
        readdirSync(folder).filter((name) => !/^(guard-config\.yml|guard\.db|guard\.db\.lock|first\.db)$/.test(name)),
        [],
      )
    })
  it('takes no database for its own backup', async () => {
    assert.match((await guard('restore', 'guard.db')).err, /guard\.db is the database itself\. Name a copy of it/)
  })
  it('says in a sentence that the folder of the database is missing', async () => {
    writeFileSync(join(folder, 'guard-config.yml'), 'gateway_key: guard_0123456789abcdef\nstorage: { file: no/x.db }\n')
    const { code, err } = await guard('restore', 'first.db')
    assert.equal(code, 69)
    assert.match(err, /The folder .*no of the database file does not exist\. Create it/)
  })
})

describe('guard storage restore, of files that a killed process left', () => {
  const { locked, copied, open } = redoLogFixture()
  it('takes journal and redo logs of the backup along, and those of the former database away', async () => {
    const { file, write, release, close } = await locked('killed.db')
    await write('a')
    const [backup, former] = [copied(file, 'backup.db'), copied(file, 'guard.db')]
    release()
    await close()
    const { restore } = await import('../../../plugins/storage/sqlite/restore.ts')
    const now = new Date('2026-01-31T12:00:00Z')
    const { kept } = await restore({ backup, file: former, cwd: '/', now })
    assert.equal(kept, `${former}.before-restore-2026-01-31T12-00-00-000Z`)
    assert.ok(existsSync(`${kept}-ahead-b`) && existsSync(`${former}-ahead-b`))
    for (const one of [former, String(kept)]) {
      const bench = await open(one)
      const { rows } = await bench.store.find('conformance_items', { where: { group: 'g' } })
      assert.deepEqual(rows.map(({ id }) => id).sort(), ['a', 'old'])
      await bench.close()
    }
  })
})
