import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { nextVersion } from '../../../build/release/version.ts'
import { git, refuseUnready } from '../../../build/release/work-tree.ts'

describe('the version of a release', () => {
  it('is the next of its kind, or one above the last', () => {
    const next = (word: string) => nextVersion('1.2.3', word)
    assert.deepEqual(['patch', 'minor', 'major', '1.2.10'].map(next), ['1.2.4', '1.3.0', '2.0.0', '1.2.10'])
  })
  it('is no other word, and not below', () => {
    for (const word of ['1.2', 'v1.3.0', 'beta', '1.3.0-rc.1', ''])
      assert.throws(
        () => nextVersion('1.2.3', word),
        /is no version: say patch, minor, major, or one as 1\.2\.3\./,
        word,
      )
    for (const word of ['1.2.3', '1.2.2', '0.9.9'])
      assert.throws(() => nextVersion('1.2.3', word), /is not above 1\.2\.3/, word)
  })
})

describe('a release', () => {
  let folder = ''
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'guard-release-test-'))
    git(folder, 'init', '--quiet', '--initial-branch', 'main')
    git(folder, '-c', 'user.name=a', '-c', 'user.email=a@localhost', 'commit', '--quiet', '--allow-empty', '-m', 'One')
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  it('is made of a clean work tree on its branch', () => {
    assert.equal(refuseUnready(folder, '0.2.0'), undefined)
  })
  it('is refused where something is not committed', () => {
    writeFileSync(join(folder, 'a.txt'), 'a')
    assert.throws(() => refuseUnready(folder, '0.2.0'), /not committed:\n\?\? a\.txt\nCommit or undo them\./)
    rmSync(join(folder, 'a.txt'))
  })
  it('is refused on another branch, and where its tag is there', () => {
    git(folder, 'tag', 'v0.2.0')
    assert.throws(() => refuseUnready(folder, '0.2.0'), /The tag v0\.2\.0 is there already/)
    git(folder, 'switch', '--quiet', '--create', 'work')
    assert.throws(() => refuseUnready(folder, '0.3.0'), /Releases are made on main, this is work: git switch main\./)
  })
})
