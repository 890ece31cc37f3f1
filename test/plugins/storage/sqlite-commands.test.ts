import assert from 'node:assert/strict'
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import Sqlite from 'better-sqlite3'
import { main } from '../../../presets/default/main.ts'
import { type Started, startGateway } from '../../kit/gateway.ts'
import { fakeIo } from '../../kit/io.ts'

describe('guard storage', () => {
  const folder = mkdtempSync(join(tmpdir(), 'guard-storage-'))
  let gateway: Started
  before(async () => {
    writeFileSync(join(folder, 'guard-config.yml'), 'gateway_key: guard_0123456789abcdef\n', { mode: 0o600 })
    gateway = await startGateway({ folder, backend: 'sqlite' })
    const sent = { trace_id: 'kept', spans: [{ name: 'tool.call' }] }
    assert.equal((await gateway.request('POST', '/api/v1/traces', sent)).status, 201)
  })
  after(async () => {
    await gateway.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const guard = async (...argv: readonly string[]) => {
    const io = fakeIo({ cwd: folder, env: {} })
    return { code: await main(['storage', ...argv], io), out: io.outText(), err: io.errText() }
  }

  it('check says that the database is sound, also beside a gateway', async () => {
    const { code, out, err } = await guard('check')
    assert.equal(code, 0, err)
    assert.match(out, /^guard\.db is sound, \d+(\.\d)? [kM]B\n$/)
  })
  it('backup writes a whole copy for its owner alone, which a gateway can open', async () => {
    const { code, err } = await guard('backup', 'copy.db')
    assert.equal(code, 0, err)
    assert.match(err, /wrote copy\.db/)
    assert.equal(statSync(join(folder, 'copy.db')).mode & 0o777, 0o600)
    const place = mkdtempSync(join(tmpdir(), 'guard-restored-'))
    writeFileSync(join(place, 'guard.db'), readFileSync(join(folder, 'copy.db')), { mode: 0o600 })
    const other = await startGateway({ folder: place, backend: 'sqlite' })
    try {
      assert.equal((await other.request('GET', '/api/v1/runs/kept')).status, 200)
    } finally {
      await other.close()
      rmSync(place, { recursive: true, force: true })
    }
  })
  it('both tell what they did as JSON where that is wanted', async () => {
    const checked = JSON.parse((await guard('check', '--json')).out)
    assert.deepEqual([checked.file, checked.sound], [join(folder, 'guard.db'), true])
    // with its journal, which is emptied now and then
    assert.ok(checked.bytes >= statSync(join(folder, 'guard.db')).size)
    const { out, err } = await guard('backup', 'told.db', '--json')
    const { file, bytes } = JSON.parse(out)
    assert.deepEqual([file, bytes, err], [join(folder, 'told.db'), statSync(file).size, ''])
  })
  it('backup replaces no file', async () => {
    writeFileSync(join(folder, 'there.db'), 'precious')
    const { code, err } = await guard('backup', 'there.db')
    assert.notEqual(code, 0)
    assert.match(err, /there\.db exists already/)
    assert.equal(readFileSync(join(folder, 'there.db'), 'utf8'), 'precious')
  })
  it('check says that a damaged database is damaged, and leaves it as it is', async () => {
    const place = mkdtempSync(join(tmpdir(), 'guard-damaged-'))
    try {
      const file = join(place, 'guard.db')
      writeFileSync(join(place, 'guard-config.yml'), 'gateway_key: guard_0123456789abcdef\n', { mode: 0o600 })
      assert.equal((await guard('backup', file)).code, 0)
      const handle = openSync(file, 'r+')
      writeSync(handle, Buffer.alloc(4096, 0x5a), 0, 4096, statSync(file).size - 2 * 4096)
      closeSync(handle)
      const bytes = readFileSync(file)
      const io = fakeIo({ cwd: place, env: {} })
      assert.notEqual(await main(['storage', 'check'], io), 0)
      assert.match(io.errText(), /is damaged/)
      assert.deepEqual(readFileSync(file), bytes)
    } finally {
      rmSync(place, { recursive: true, force: true })
    }
  })
  it('backup tells of a full disk in words, and leaves nothing', (context) => {
    const full = Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })
    context.mock.method(Sqlite.prototype, 'prepare', () => {
      throw full
    })
    return guard('backup', 'none.db').then(({ code, err }) => {
      assert.deepEqual(
        [code, err],
        [2, 'error: none.db cannot be written: the disk is full (ENOSPC). Name another file. (USAGE)\n'],
      )
      assert.equal(existsSync(join(folder, 'none.db')), false)
    })
  })
  it('both say in words that a database cannot be opened, and backup leaves nothing', async (context) => {
    const place = mkdtempSync(join(tmpdir(), 'guard-shut-'))
    context.after(() => rmSync(place, { recursive: true, force: true }))
    writeFileSync(join(place, 'guard-config.yml'), 'gateway_key: guard_0123456789abcdef\n', { mode: 0o600 })
    mkdirSync(join(place, 'guard.db'))
    for (const argv of [['check'], ['backup', 'copy.db']]) {
      const io = fakeIo({ cwd: place, env: {} })
      assert.notEqual(await main(['storage', ...argv], io), 0)
      assert.match(io.errText(), /guard\.db cannot be opened: .*rights.*\(DATABASE_UNWRITABLE\)\n$/)
    }
    assert.deepEqual(readdirSync(place).sort(), ['guard-config.yml', 'guard.db'])
  })
  it('both say where no database is', async () => {
    const place = mkdtempSync(join(tmpdir(), 'guard-none-'))
    try {
      writeFileSync(join(place, 'guard-config.yml'), 'gateway_key: guard_0123456789abcdef\n', { mode: 0o600 })
      for (const argv of [['check'], ['backup', 'x.db']]) {
        const io = fakeIo({ cwd: place, env: {} })
        assert.notEqual(await main(['storage', ...argv], io), 0)
        assert.match(io.errText(), /There is no database/)
      }
    } finally {
      rmSync(place, { recursive: true, force: true })
    }
  })
})
