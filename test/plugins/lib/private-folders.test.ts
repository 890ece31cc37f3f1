import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { makeFolders } from '#lib/private-folders'

const skip = process.platform !== 'linux'

describe('makeFolders', () => {
  it('makes what is missing, for its owner alone, and leaves what is there', { skip }, (context) => {
    const folder = mkdtempSync(join(tmpdir(), 'guard-folders-'))
    context.after(() => rmSync(folder, { recursive: true }))
    mkdirSync(join(folder, 'a'), { mode: 0o750 })
    const rights = (path: string) => (statSync(join(folder, path)).mode & 0o777).toString(8)
    for (let times = 0; times < 2; times++) {
      makeFolders(join(folder, 'a/b/c'))
      assert.deepEqual(['a', 'a/b', 'a/b/c'].map(rights), ['750', '700', '700'])
    }
  })

  it('says so where a file system lets none be made', { skip }, () => {
    assert.throws(() => makeFolders('/proc/none/x'), { code: 'ENOENT', path: '/proc/none' })
  })
})
