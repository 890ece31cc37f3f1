import assert from 'node:assert/strict'
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { after, describe, it } from 'node:test'
import Sqlite from 'better-sqlite3'
import { sqlite } from 'guard-gateway/plugins/storage/sqlite'
import { item, openPlain } from '../../conformance/storage.ts'

const folder = mkdtempSync(join(tmpdir(), 'guard-second-'))
const children: ChildProcessByStdio<Writable, Readable, null>[] = []
after(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(folder, { recursive: true })
})
let made = 0
const fresh = (): string => {
  const own = join(folder, String(++made))
  mkdirSync(own)
  return join(own, 'guard.db')
}

/** A process that opens a file when it is told to. */
class Opener {
  readonly child: ChildProcessByStdio<Writable, Readable, null>
  readonly #lines: Interface
  readonly seen: string[] = []
  #waiting: (() => void)[] = []

  constructor(file: string, name: string) {
    const args = process.execArgv.filter((arg) => !arg.startsWith('--test'))
    this.child = spawn(process.execPath, [...args, join(import.meta.dirname, 'second-opener.ts'), file, name], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    children.push(this.child)
    this.#lines = createInterface(this.child.stdout)
    this.#lines.on('line', (line) => {
      this.seen.push(line)
      for (const resolve of this.#waiting.splice(0)) resolve()
    })
  }

  /** The first line with this beginning. */
  async line(begin: string): Promise<string> {
    for (;;) {
      const found = this.seen.find((line) => line.startsWith(begin))
      if (found !== undefined) return found
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  /** So many rows are acknowledged from now on. */
  async writes(count: number): Promise<void> {
    const wanted = this.seen.length + count
    while (this.seen.length < wanted) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  open(): void {
    this.child.stdin.write('go\n')
  }

  async begun(): Promise<this> {
    await this.line('ready')
    this.open()
    await this.line('open')
    return this
  }

  async kill(): Promise<void> {
    const closed = once(this.child, 'close')
    this.child.kill('SIGKILL')
    await closed
  }

  get acknowledged(): readonly string[] {
    return this.seen.filter((line) => /^\w+-\d+$/.test(line))
  }
}

const stored = async (file: string): Promise<Set<string>> => {
  // opening it writes what was left in logs
  await (await openPlain(sqlite({ file }))).close()
  const db = new Sqlite(file, { readonly: true })
  const ids = db.prepare('select id from conformance_items').pluck().all() as string[]
  assert.equal(db.pragma('integrity_check', { simple: true }), 'ok')
  db.close()
  return new Set(ids)
}

const removeLock = (file: string): void => rmSync(`${file}.lock`, { force: true })
const refusal = (pid: number | undefined) =>
  new RegExp(`^refused DATABASE_LOCKED The database .* is in use by process ${pid}\\.`)

describe('sqlite: a second gateway on a file whose lock was removed', () => {
  for (const [name, other] of [
    ['by the same name', (file: string) => file],
    [
      'through a link to the file',
      (file: string) => {
        symlinkSync(file, `${file}.link`)
        return `${file}.link`
      },
    ],
    [
      'through a link to the folder',
      (file: string) => {
        const link = `${join(file, '..')}-link`
        symlinkSync(join(file, '..'), link)
        return join(link, 'guard.db')
      },
    ],
  ] as const)
    it(`is refused in words while the first one writes, again and again, and nothing is lost: ${name}`, async () => {
      const file = fresh()
      const first = await new Opener(file, 'first').begun()
      const path = other(file)
      for (let round = 0; round < 2; round++) {
        await first.writes(50)
        const second = new Opener(path, `second${round}`)
        await second.line('ready')
        removeLock(file)
        second.open()
        assert.match(await second.line('refused'), refusal(first.child.pid))
        assert.deepEqual(second.acknowledged, [])
      }
      await first.writes(50)
      await first.kill()
      const rows = await stored(file)
      assert.deepEqual(
        first.acknowledged.filter((id) => !rows.has(id)),
        [],
      )
    })
  it('wins or loses, but never shares, where the lock goes while both begin', async () => {
    const file = fresh()
    const acknowledged: string[] = []
    // both may lose, each to the other; the next one then begins
    for (let round = 0; round < 2; round++) {
      const both = [new Opener(file, `a${round}`), new Opener(file, `b${round}`)]
      await Promise.all(both.map((one) => one.line('ready')))
      const removing = setInterval(() => removeLock(file), 1)
      for (const one of both) one.open()
      await Promise.all(both.map((one) => Promise.race([one.line('open'), one.line('refused')])))
      clearInterval(removing)
      const winners = both.filter((one) => one.seen.includes('open'))
      assert.ok(winners.length <= 1, `${winners.length} share the file`)
      const last = winners[0] ?? (await new Opener(file, `c${round}`).begun())
      await last.writes(100)
      await last.kill()
      acknowledged.push(...last.acknowledged)
    }
    const rows = await stored(file)
    assert.deepEqual(
      acknowledged.filter((id) => !rows.has(id)),
      [],
    )
  })
  it('begins at once where the first was killed, with all that it acknowledged', async () => {
    const file = fresh()
    const first = await new Opener(file, 'first').begun()
    await first.writes(120)
    await first.kill()
    removeLock(file)
    const second = await new Opener(file, 'second').begun()
    await second.writes(20)
    await second.kill()
    const rows = await stored(file)
    assert.deepEqual(
      [...first.acknowledged, ...second.acknowledged].filter((id) => !rows.has(id)),
      [],
    )
  })
  it('asks a process that it cannot look for, which answers while it is there', async () => {
    const file = fresh()
    const first = await new Opener(file, 'first').begun()
    const db = new Sqlite(file)
    const owner = JSON.parse(db.prepare('select owner from guard_owner').pluck().get() as string)
    const elsewhere = JSON.stringify({ ...owner, host: 'elsewhere', space: 'pid:[1]' })
    db.prepare('update guard_owner set owner = ?').run(elsewhere)
    removeLock(file)
    const second = new Opener(file, 'second')
    await second.line('ready')
    second.open()
    assert.match(await second.line('refused'), refusal(first.child.pid))
    await first.kill()
    db.prepare('update guard_owner set owner = ?').run(elsewhere)
    db.close()
    const third = await new Opener(file, 'third').begun()
    await third.kill()
  })
  it('may have a copy of the file, which is nobody’s', async () => {
    const file = fresh()
    const first = await openPlain(sqlite({ file }))
    await first.put('conformance_items', item('g', 'a'))
    const db = new Sqlite(file)
    db.prepare('vacuum into ?').run(`${file}.copy`)
    db.close()
    const copy = await openPlain(sqlite({ file: `${file}.copy` }))
    assert.equal((await copy.find('conformance_items')).rows.length, 1)
    await Promise.all([copy.close(), first.close()])
  })
  it('is refused a file that has another name, since each has a journal of its own', async () => {
    const file = fresh()
    const first = await openPlain(sqlite({ file }))
    linkSync(file, `${file}.other`)
    for (const name of [file, `${file}.other`])
      await assert.rejects(openPlain(sqlite({ file: name })), { code: 'DATABASE_UNWRITABLE', message: /2 names/ })
    await first.close()
    rmSync(`${file}.other`)
    await (await openPlain(sqlite({ file }))).close()
    copyFileSync(file, `${file}.copy`)
    await (await openPlain(sqlite({ file: `${file}.copy` }))).close()
  })
})
