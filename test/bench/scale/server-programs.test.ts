import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { after, describe, it } from 'node:test'
import { serverPrograms } from '../../../bench/scale/server-programs.ts'

describe('the programs of PostgreSQL', () => {
  const folder = mkdtempSync(join(tmpdir(), 'guard-bench-programs-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  const programs = (name: string, ...files: readonly string[]): string => {
    const path = join(folder, name)
    mkdirSync(path, { recursive: true })
    for (const file of files) writeFileSync(join(path, file), '')
    return path
  }
  it('are found in PATH, else in the newest version of Debian', () => {
    const part = programs('part', 'initdb')
    const whole = programs('whole', 'initdb', 'postgres')
    programs('debian/9/bin', 'initdb', 'postgres')
    const newest = programs('debian/15/bin', 'initdb', 'postgres')
    programs('debian/16/bin', 'psql')
    const debian = join(folder, 'debian')
    assert.equal(serverPrograms([part, whole].join(delimiter), debian), whole)
    assert.equal(serverPrograms(part, debian), newest)
  })
  it('are missing where there are none', () => {
    assert.equal(serverPrograms(join(folder, 'nowhere'), join(folder, 'nowhere')), undefined)
  })
})
