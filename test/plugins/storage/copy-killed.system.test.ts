import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, it } from 'node:test'
import Sqlite from 'better-sqlite3'
import type { DriverChange } from 'guard-gateway/core'
import { sqlite } from 'guard-gateway/plugins/storage/sqlite'
import { createGateway } from 'guard-gateway/presets/default'
import { emptyConfig } from '../../../presets/default/config/defaults.ts'
import { main } from '../../../presets/default/main.ts'
import { guardProgram } from '../../kit/child-gateway.ts'
import { fakeIo } from '../../kit/io.ts'

const folder = mkdtempSync(join(tmpdir(), 'guard-copy-killed-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const ROWS = 40_000

/** Fills table `events` of a new database. */
const fill = async (file: string): Promise<void> => {
  const tables = [...(await createGateway(emptyConfig())).tables]
  const table = tables.find(({ id }) => id === 'events')
  assert.ok(table)
  const driver = await sqlite({ file }).open(tables, { fault: () => {} })
  const rowOf = (place: number) =>
    Object.fromEntries(
      Object.entries(table.columns).map(([name, kind]) => [name, kind === 'text' ? `${name}-${place}` : null]),
    )
  for (let first = 0; first < ROWS; first += 2_000) {
    const batch = Array.from(
      { length: 2_000 },
      (_, more): DriverChange => ({ kind: 'put', table, row: rowOf(first + more), absent: true }),
    )
    assert.ok(await driver.write(batch, { sync: false, hold: false }))
  }
  await driver.close()
}

const rowsIn = (file: string): number => {
  if (!existsSync(file)) return 0
  const db = new Sqlite(file, { readonly: true })
  try {
    return Number(db.prepare('select count(*) from events').pluck().get())
  } catch {
    return 0
  } finally {
    db.close()
  }
}

it('a copy whose process is killed again and again goes on each time, and ends whole', async () => {
  const [from, to] = [join(folder, 'from.db'), join(folder, 'to.db')]
  await fill(from)
  const argv = ['storage', 'copy', '--from', from, '--to', to]
  let before = 0
  for (let kills = 0; kills < 3; kills++) {
    const child = spawn(process.execPath, [...guardProgram, ...argv], { cwd: folder, stdio: 'ignore' })
    const closed = once(child, 'close')
    while (rowsIn(to) <= before && child.exitCode === null) await new Promise(setImmediate)
    child.kill('SIGKILL')
    await closed
    const now = rowsIn(to)
    assert.ok(now >= before)
    before = now
  }
  const io = fakeIo({ cwd: folder, env: {} })
  assert.equal(await main([...argv, '--json'], io), 0, io.errText())
  const { tables } = JSON.parse(io.outText()) as { tables: { table: string; rows: number }[] }
  assert.equal(tables.find(({ table }) => table === 'events')?.rows, ROWS)
  assert.equal(rowsIn(to), ROWS)
})
