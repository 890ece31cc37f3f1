import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { dependencyDocument, refusedLicences, rowsOf } from '../../build/dependencies/table.ts'

const root = join(import.meta.dirname, '../..')
/** Sizes differ with the platform for which a package was installed. */
const withoutSizes = (text: string): string => text.replaceAll(/\| \d+ \|/g, '|  |')

describe('the table of dependencies', () => {
  it('is that of package.json and package-lock.json', () => {
    const written = readFileSync(join(root, 'build/DEPENDENCIES.md'), 'utf8')
    assert.equal(withoutSizes(written), withoutSizes(dependencyDocument()), 'run npm run record:dependencies')
  })
  it('is written by a script that npm does not run by itself at an installation', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const events = ['preinstall', 'install', 'postinstall', 'dependencies', 'prepublish', 'preprepare', 'prepare']
    assert.deepEqual(
      Object.keys(scripts).filter((name) => events.includes(name)),
      [],
    )
  })
  it('has a reason for each dependency, and none for others', () => {
    const lock = { 'node_modules/a': { version: '1.0.0', license: 'MIT' } }
    const of = (why: Record<string, string>) => () =>
      rowsOf({ dependencies: { a: '1' }, devDependencies: {} }, lock, why)
    assert.deepEqual(of({ a: 'tests' })(), [
      { name: 'a', reason: 'tests', licence: 'MIT', scripts: false, where: 'package' },
    ])
    assert.throws(of({}), /a has no reason/)
    assert.throws(of({ a: 'x', b: 'y' }), /No dependency any more: b/)
  })
  it('allows no other licence than those that were agreed upon', () => {
    const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
    assert.deepEqual(refusedLicences(packages), [])
    const locked = { version: '1.0.0', license: 'GPL-3.0' }
    assert.deepEqual(refusedLicences({ 'node_modules/a': locked, 'node_modules/b': { version: '1.0.0' } }), [
      'a (GPL-3.0)',
      'b (none)',
    ])
  })
})
