import assert from 'node:assert/strict'
import fs, {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, beforeEach, describe, it, type TestContext } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { holdLock } from '../../../plugins/storage/sqlite/file/lock.ts'
import { exchange, restore } from '../../../plugins/storage/sqlite/restore.ts'
import { redoLogFixture } from './redo-log-kit.ts'

const root = mkdtempSync(join(tmpdir(), 'guard-interrupted-'))
after(() => rmSync(root, { recursive: true, force: true }))

/** What a database may be made of, as it was and as it shall be. */
const FORMER = { '': 'old', '-wal': 'old wal', '-shm': 'old shm', '-ahead-a': 'old a', '-ahead-b': 'old b' }
const NEW = { '': 'new', '-ahead-a': 'new a' }

describe('the exchange of a database for a backup', () => {
  let folder: string
  const files = (name: string): Readonly<Record<string, string>> =>
    Object.fromEntries(
      readdirSync(folder)
        .filter((file) => file === name || file.startsWith(`${name}-`))
        .map((file) => [file.slice(name.length), readFileSync(join(folder, file), 'utf8')]),
    )
  const put = (name: string, all: Readonly<Record<string, string>>) => {
    for (const [end, text] of Object.entries(all)) writeFileSync(join(folder, name + end), text)
  }
  const run = () => exchange(join(folder, 'copy'), join(folder, 'guard.db'), join(folder, 'kept'))

  /** Calls `look` before each change of the folder. */
  const beforeEachChange = ({ mock }: TestContext, look: (change: number, name: string) => void) => {
    let change = 0
    for (const name of ['linkSync', 'renameSync', 'rmSync'] as const) {
      const real = fs[name] as (...args: unknown[]) => void
      mock.method(fs, name, (...args: unknown[]) => {
        look(change++, name)
        real(...args)
      })
    }
    syncBuiltinESMExports()
  }

  beforeEach(() => {
    folder = mkdtempSync(join(root, 'run-'))
    put('guard.db', FORMER)
    put('copy', NEW)
  })

  it('leaves one whole database whenever it is killed', (context) => {
    const seen = new Set<string>()
    const look = () => {
      const [at, kept] = [files('guard.db'), files('kept')]
      const isWhole = [FORMER, NEW].some((one) => isDeepStrictEqual(one, at))
      // no gateway opens a database with two names
      const isRefused = at[''] === 'old' && statSync(join(folder, 'guard.db')).nlink > 1
      assert.ok(isWhole || isRefused, JSON.stringify([at, kept]))
      assert.ok(at['-ahead-b'] === 'old b' || isDeepStrictEqual(kept, FORMER))
      seen.add(`${at['']} ${isWhole}`)
    }
    beforeEachChange(context, look)
    run()
    look()
    context.mock.restoreAll()
    syncBuiltinESMExports()
    assert.deepEqual([...seen].sort(), ['new true', 'old false', 'old true'])
    assert.deepEqual([files('guard.db'), files('kept')], [NEW, FORMER])
  })

  for (let failing = 0; failing < 11; failing++)
    it(`leaves the former one where its change ${failing + 1} fails`, (context) => {
      beforeEachChange(context, (change, name) => {
        if (change === failing && name === 'renameSync') throw new Error('no')
      })
      mockCopies(context, failing)
      const isDone = succeeds(run)
      context.mock.restoreAll()
      syncBuiltinESMExports()
      assert.deepEqual([files('guard.db'), files('kept')], isDone ? [NEW, FORMER] : [FORMER, {}])
    })
})

/** Links cannot be made from one on, and copies neither, as on a full disk. */
const mockCopies = ({ mock }: TestContext, from: number): void => {
  if (from >= 5) return
  let links = 0
  const refused = () => {
    throw new Error('full')
  }
  const real = fs.linkSync
  mock.method(fs, 'linkSync', (one: string, other: string) => (links++ === from ? refused() : real(one, other)))
  mock.method(fs, 'copyFileSync', refused)
  syncBuiltinESMExports()
}

const succeeds = (work: () => void): boolean => {
  try {
    work()
    return true
  } catch {
    return false
  }
}

describe('guard storage restore', () => {
  const { locked, copied } = redoLogFixture()
  const now = new Date('2026-01-31T12:00:00Z')

  it('makes the database its owner’s alone, whatever the backup was, and removes what a killed restore left', async () => {
    const { file, release, close } = await locked('read-only.db')
    const [backup, target] = [copied(file, 'read-only-backup.db'), copied(file, 'read-only-target.db')]
    release()
    await close()
    chmodSync(backup, 0o444)
    const left = join(target, '../.read-only-target.db-restore-abc')
    mkdirSync(left)
    await restore({ backup, file: target, cwd: '/', now })
    assert.equal(statSync(target).mode & 0o777, 0o600)
    assert.ok(!existsSync(left))
  })

  it('copies no database that a gateway writes to', async () => {
    const { file, release, close } = await locked('live.db')
    const [backup, target] = [copied(file, 'live-backup.db'), copied(file, 'live-target.db')]
    release()
    await close()
    const lock = holdLock(backup)
    lock.note()
    const before = readFileSync(target)
    await assert.rejects(
      restore({ backup, file: target, cwd: '/', now }),
      /live-backup\.db is the database of a gateway that runs/,
    )
    lock.close()
    assert.deepEqual(readFileSync(target), before)
  })
})
