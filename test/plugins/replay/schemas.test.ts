import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { assertsSchema, schemaFile } from '../../kit/schemas.ts'

const parsed = (file: URL): unknown => JSON.parse(readFileSync(file, 'utf8'))

describe('the published schemas', () => {
  for (const name of ['trace', 'jsonl', 'event'] as const) {
    it(`${name}.v1 is a schema with its own id`, () => {
      assert.ok(assertsSchema(name))
      const { $id, title } = parsed(schemaFile(name)) as { $id: string; title: string }
      assert.match($id, /^guard:/)
      assert.equal(title, `${name}.v1`)
    })

    it(`${name}.v1 equals the agreed version`, () => {
      const agreed = new URL(`../../../../shared/design/schemas/${name}.v1.json`, import.meta.url)
      if (existsSync(agreed)) assert.deepEqual(parsed(schemaFile(name)), parsed(agreed))
    })
  }

  it('reject a bundle without its run, and a line without its type', () => {
    assert.throws(() => assertsSchema('trace')({ schema: 'trace.v1', spans: [] }))
    assert.throws(() => assertsSchema('jsonl')({ trace_id: 't', id: 's', name: 'n' }))
  })
})
