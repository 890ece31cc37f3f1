import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { read, sources, tests } from './sources.ts'

describe('the error catalogue', () => {
  const catalogues = sources.filter((name) => /^core\/errors\/catalogue\.ts$|\/error-codes\.ts$/.test(name))
  const codes = catalogues.flatMap((name) =>
    [...read(name).matchAll(/^ {4}([A-Z][A-Z_]+): \[/gm)].map((match) => match[1] ?? ''),
  )
  const tested = tests
    .filter((name) => !name.startsWith('test/architecture/'))
    .map(read)
    .join('\n')
  const raised = sources
    .filter((name) => !catalogues.includes(name))
    .map(read)
    .join('\n')
  it('is not empty', () => assert.ok(codes.length > 90))
  it('has each code once', () => assert.deepEqual(codes, [...new Set(codes)]))
  for (const code of codes) {
    it(`${code} is raised somewhere and seen by a test`, () => {
      assert.match(raised, new RegExp(`['.]${code}\\b`), `nothing raises ${code}`)
      assert.ok(tested.includes(code), `no test names ${code}`)
    })
  }
})
