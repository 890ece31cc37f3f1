import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { Gateway } from 'guard-gateway/core'
import { holdersAddress, sqlite } from 'guard-gateway/plugins/storage/sqlite'
import { foundation } from 'guard-gateway/presets/foundation'
import { item, openPlain } from '../../conformance/storage.ts'

const folder = mkdtempSync(join(tmpdir(), 'guard-sqlite-lock-'))
after(() => rmSync(folder, { recursive: true }))
const path = (name: string) => join(folder, name)

const refused = (file: string, text: RegExp) =>
  assert.rejects(openPlain(sqlite({ file })), (error: Error & { code: string }) => {
    assert.equal(error.code, 'DATABASE_LOCKED')
    assert.match(error.message, text)
    return true
  })

describe('sqlite: one gateway per file', () => {
  it('refuses a second one and says who is first; programs beside it may open the file', async () => {
    const file = path('shared.db')
    const first = await openPlain(sqlite({ file }))
    await refused(file, new RegExp(`in use by process ${process.pid}\\.`))
    const beside = await openPlain(sqlite({ file, exclusive: false }))
    await Promise.all([first.put('conformance_items', item('g', 'a')), beside.put('conformance_items', item('g', 'b'))])
    assert.equal((await first.find('conformance_items')).rows.length, 2)
    await first.close()
    const second = await openPlain(sqlite({ file }))
    await Promise.all([second.close(), beside.close()])
  })

  it('leaves nothing but the lock and the note of its holder beside the file, and the note as long as it has it', async () => {
    const file = path('beside.db')
    const beside = () => readdirSync(folder).filter((name) => /^beside\.db(?!-wal|-shm)./.test(name))
    const storage = await openPlain(sqlite({ file }))
    const held = beside()
    await storage.close()
    assert.deepEqual([held, beside()], [['beside.db.holder', 'beside.db.lock'], ['beside.db.lock']])
  })

  it('tells where it answers as soon as it listens, and as long as it has the file', async () => {
    const file = path('told.db')
    const gateway = await new Gateway().use(...foundation(), sqlite({ file })).open()
    assert.equal(await holdersAddress(file), undefined)
    gateway.hooks.listen.call('http://127.0.0.1:8787')
    assert.equal(await holdersAddress(file), 'http://127.0.0.1:8787')
    await refused(file, new RegExp(`process ${process.pid} at http://127\\.0\\.0\\.1:8787\\.`))
    const beside = await new Gateway().use(...foundation(), sqlite({ file })).open({ beside: true })
    beside.hooks.listen.call('http://127.0.0.1:1')
    await beside.close()
    assert.equal(await holdersAddress(file), 'http://127.0.0.1:8787')
    await gateway.close()
    assert.equal(await holdersAddress(file), undefined)
  })
})
