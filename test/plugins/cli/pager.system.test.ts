import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { throughPager } from '../../../plugins/cli/pager.ts'
import { fakeIo } from '../../kit/io.ts'

const long = Array.from({ length: 30 }, (_, at) => `line ${at}`).join('\n')

interface Shown {
  readonly paged: string
  readonly out: string
  readonly code: number
}

/** What a pager that writes to a file got, and what was printed directly. */
const shown = async (text: string, env: Record<string, string> = {}, options = {}, tty = true): Promise<Shown> => {
  const folder = await mkdtemp(join(tmpdir(), 'guard-pager-'))
  try {
    const all = { PATH: process.env.PATH, GUARD_PAGER: 'cat > paged', ...env }
    const io = fakeIo({ cwd: folder, env: all, tty, columns: 40, rows: 10 })
    const code = await throughPager(io, { options }, async ({ out }) => {
      for (const piece of text.split(/(?<=\n)/)) out.write(piece)
      return 3
    })
    const paged = await readFile(join(folder, 'paged'), 'utf8').catch(() => '')
    return { paged, out: io.outText(), code }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const unix = { skip: process.platform === 'win32' }

describe('the pager', unix, () => {
  it('shows what is longer than the screen, and nothing else', async () => {
    assert.deepEqual(await shown(`${long}\n`), { paged: `${long}\n`, out: '', code: 3 })
    assert.deepEqual(await shown('short\n'), { paged: '', out: 'short\n', code: 3 })
  })

  it('is not asked where there is no terminal, for JSON, with --no-pager, or where it is cat or nothing', async () => {
    const direct = { paged: '', out: `${long}\n`, code: 3 }
    assert.deepEqual(await shown(`${long}\n`, {}, {}, false), direct)
    assert.deepEqual(await shown(`${long}\n`, {}, { json: true }), direct)
    assert.deepEqual(await shown(`${long}\n`, {}, { pager: false }), direct)
    assert.deepEqual(await shown(`${long}\n`, { GUARD_PAGER: '' }), direct)
    assert.deepEqual(await shown(`${long}\n`, { GUARD_PAGER: 'cat' }), direct)
    assert.deepEqual(await shown(`${long}\n`, { TERM: 'dumb' }), direct)
  })

  it('loses nothing where it cannot be started or leaves early', async () => {
    assert.equal((await shown(`${long}\n`, { GUARD_PAGER: 'no-such-pager-here 2> log' })).out, `${long}\n`)
    assert.deepEqual(await shown(`${'a line\n'.repeat(50_000)}`, { GUARD_PAGER: 'head -1 > paged' }), {
      paged: 'a line\n',
      out: '',
      code: 3,
    })
  })

  it('gets LESS, so that less leaves at once what fits and shows colours, unless it is set', async () => {
    const env = { GUARD_PAGER: 'printf %s "$LESS" > paged' }
    assert.equal((await shown(`${long}\n`, env)).paged, 'FRX')
    assert.equal((await shown(`${long}\n`, { ...env, LESS: 'S' })).paged, 'S')
  })

  it('breaks long lines between words, and leaves words whole', async () => {
    const { out } = await shown(`  ${'word '.repeat(12).trim()}\n${'x'.repeat(60)}\n`)
    assert.equal(out, `  word word word word word word word\n    word word word word word\n${'x'.repeat(60)}\n`)
  })

  it('prints what was written before a command failed', async () => {
    const io = fakeIo({ tty: true, columns: 40, rows: 10 })
    await assert.rejects(
      throughPager(io, { options: {} }, async ({ out }) => {
        out.write('the first half\n')
        throw new Error('broken off')
      }),
      /broken off/,
    )
    assert.equal(io.outText(), 'the first half\n')
  })
})
