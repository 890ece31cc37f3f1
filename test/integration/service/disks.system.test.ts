import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import Sqlite from 'better-sqlite3'
import { guardProgram } from '../../kit/child-gateway.ts'
import { installed } from '../../kit/installed.ts'

const unshare = installed('unshare')
const absent = unshare.absent || (process.getuid?.() !== 0 && 'only root may mount a small disk here')
const KIB = 1024

describe('a disk of 1 MiB', { skip: absent }, () => {
  const root = mkdtempSync(join(tmpdir(), 'guard-disks-'))
  const disk = join(root, 'disk')
  mkdirSync(disk)
  after(() => rmSync(root, { recursive: true, force: true }))
  const config = join(root, 'guard-config.yml')
  const text = `gateway_key: guard_0123456789abcdef\nserver: { port: 0 }\nstorage: { file: ${disk}/guard.db }\n`
  writeFileSync(config, text, { mode: 0o600 })
  const backup = join(root, 'backup.db')
  const db = new Sqlite(backup)
  db.exec(`pragma application_id = ${0x47726431}; pragma user_version = 1; create table t (a)`)
  db.prepare('insert into t values (zeroblob(?))').run(600 * KIB)
  db.close()

  /** Runs a script of a shell where the disk is mounted; `guard` is a command in it. */
  const onDisk = (script: string) => {
    const guard = `guard() { "${process.execPath}" ${guardProgram.map((word) => `"${word}"`).join(' ')} "$@" --config "${config}"; }`
    const mount = `mount -t tmpfs -o size=1m tmpfs "${disk}"`
    const { stdout, stderr } = spawnSync(
      unshare.path,
      ['--mount', '--propagation', 'private', 'sh', '-c', `${mount}\n${guard}\n${script}`],
      { encoding: 'utf8', env: { PATH: process.env.PATH, HOME: root, XDG_CACHE_HOME: root }, timeout: 60_000 },
    )
    return { out: stdout, err: stderr }
  }

  it('that is full: a restore says so and changes nothing', () => {
    const script = `head -c ${600 * KIB} "${backup}" > "${disk}/guard.db"; before=$(cksum < "${disk}/guard.db")
      guard storage restore "${backup}"; echo $?; [ "$before" = "$(cksum < "${disk}/guard.db")" ] && ls "${disk}"`
    const { out, err } = onDisk(script)
    assert.match(
      err,
      /^error: \S+guard\.db cannot be written: the disk is full \(ENOSPC\)\. Nothing was changed; .*\n$/,
    )
    assert.equal(out, '2\nguard.db\nguard.db.lock\n')
  })
  it('that is read-only: gateway and restore say in a sentence what to do', () => {
    const script = `mount -o remount,ro "${disk}"
      for words in "gateway run --quiet" "storage restore ${backup}"; do guard $words; echo $?; done`
    const { out, err } = onDisk(script)
    const sentence =
      /^error: The database file \S+ cannot be created: EROFS: read-only file system.* Check the folder and its rights, or name another file in storage\.file\. \(DATABASE_UNWRITABLE\)$/
    const lines = err.trimEnd().split('\n')
    assert.equal(lines.length, 2, err)
    for (const line of lines) assert.match(line, sentence)
    assert.equal(out, '69\n69\n')
  })
})
