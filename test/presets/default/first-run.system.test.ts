import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { loadConfig } from '../../../presets/default/config.ts'
import { writeFirstConfig } from '../../../presets/default/first-run.ts'

const git = (folder: string, ...args: readonly string[]) => promisify(execFile)('git', ['-C', folder, ...args])

describe('a first run', () => {
  let folder = ''
  let file = ''
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'guard-first-'))
    file = join(folder, 'guard-config.yml')
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  it('writes a file with mode 0600 and a new key each time', async () => {
    const first = await writeFirstConfig(file)
    assert.equal((await stat(file)).mode & 0o777, 0o600)
    const { config, warnings } = await loadConfig(file, { OPENAI_API_KEY: 'x' })
    assert.match(config.gateway_key, /^guard_[A-Za-z0-9_-]{43}$/)
    assert.deepEqual(warnings, [])
    assert.equal((await readFile(file, 'utf8')).split('\n')[first.key_line - 1]?.includes(config.gateway_key), true)
    const other = join(folder, 'sub', 'other.yml')
    await writeFirstConfig(other)
    assert.notEqual((await loadConfig(other, {})).config.gateway_key, config.gateway_key)
  })
  it('does not change an existing file', async () => {
    await writeFile(file, 'mine')
    await assert.rejects(writeFirstConfig(file), {
      code: 'CONFIG_EXISTS',
      message: /exists already; it was left as it is/,
    })
    assert.equal(await readFile(file, 'utf8'), 'mine')
  })
  it('reports a write error', async () => {
    await writeFile(file, 'no folder')
    await assert.rejects(writeFirstConfig(join(file, 'guard-config.yml')), { code: 'INVALID_CONFIG' })
  })
  it('outside of git excludes nothing', async () => {
    assert.equal((await writeFirstConfig(file)).git, 'none')
  })
  it('in a git work tree excludes secret files, without touching a tracked file', async () => {
    await git(folder, 'init', '-q')
    const exclude = join(folder, '.git', 'info', 'exclude')
    await writeFile(exclude, '# no line end')
    assert.equal((await writeFirstConfig(file)).git, 'excluded')
    assert.equal(await readFile(exclude, 'utf8'), '# no line end\nguard-config.yml\nguard.db*\nprofiles/\n')
    assert.equal((await git(folder, 'status', '--porcelain')).stdout, '')
  })
  it('excludes each file once, and only if it is not ignored', async () => {
    await git(folder, 'init', '-q')
    await writeFile(join(folder, '.gitignore'), '*.yml\nprofiles/\n')
    const exclude = join(folder, '.git', 'info', 'exclude')
    await writeFile(exclude, '')
    assert.equal((await writeFirstConfig(file)).git, 'excluded')
    assert.equal(await readFile(exclude, 'utf8'), 'guard.db*\n')
    await rm(file)
    assert.equal((await writeFirstConfig(file)).git, 'ignored')
    assert.equal(await readFile(exclude, 'utf8'), 'guard.db*\n')
  })
})
