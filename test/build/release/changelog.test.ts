import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { changesIn, withSection } from '../../../build/release/changelog.ts'

const folderOf = async (files: Readonly<Record<string, string>>): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'guard-changes-'))
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  return folder
}

describe('the changelog of a release', () => {
  it('groups the changes, with what stops working first', async () => {
    const folder = await folderOf({
      'README.md': '# How',
      'b.md': 'Fixed: a fault.\n\nMore of it.\n',
      'a.md': 'Changed: little.\n',
      'c.md': 'Changed: much. **Breaking** for all.\n',
      'd.md': 'Added: `x` is new.\n',
    })
    const changelog = '# Changelog\n\nFormat.\n\n## [0.1.0]\n\n- All.\n'
    assert.equal(
      withSection(changelog, '0.2.0', '2026-11-27', changesIn(folder)),
      '# Changelog\n\nFormat.\n\n## [0.2.0] - 2026-11-27\n\n### Added\n\n- `x` is new.\n\n' +
        '### Changed\n\n- Much. **Breaking** for all.\n- Little.\n\n### Fixed\n\n- A fault.\n\n## [0.1.0]\n\n- All.\n',
    )
    await rm(folder, { recursive: true })
  })
  it('names a file that does not say its kind', async () => {
    const folder = await folderOf({ 'odd.md': 'Improved: speed.\n' })
    assert.throws(() => changesIn(folder), /^Error: \.changes\/odd\.md begins with none of "Added: "/)
    await rm(folder, { recursive: true })
  })
  it('refuses a release of nothing, and a changelog without a version', () => {
    assert.throws(() => withSection('## [0.1.0]', '0.2.0', '', []), /Nothing has changed/)
    const changes = [{ file: 'a.md', kind: 'Added', text: 'A.' }] as const
    assert.throws(() => withSection('# Changelog', '0.2.0', '', changes), /no section of a version/)
  })
  it('can be made of the changes of this repository', () => {
    const changes = changesIn(join(import.meta.dirname, '../../../.changes'))
    for (const { file, text } of changes) assert.ok(text.length > 10, file)
  })
})
