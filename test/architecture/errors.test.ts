import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { read, sources, tests } from './sources.ts'

describe('the error catalogue', () => {
  const codes = [...read('core/errors/catalogue.ts').matchAll(/^ {4}([A-Z][A-Z_]+): \[/gm)].map(
    (match) => match[1] ?? '',
  )
  const tested = tests
    .filter((name) => !name.startsWith('test/architecture/'))
    .map(read)
    .join('\n')
  const raised = sources
    .filter((name) => name !== 'core/errors/catalogue.ts')
    .map(read)
    .join('\n')
  it('is not empty', () => assert.ok(codes.length > 20))
  for (const code of codes) {
    it(`${code} is raised somewhere and seen by a test`, () => {
      assert.ok(raised.includes(`'${code}'`), `nothing raises ${code}`)
      assert.ok(tested.includes(code), `no test names ${code}`)
    })
  }
})
