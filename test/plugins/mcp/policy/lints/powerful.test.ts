import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { powerfulArguments, reachesOf, wordsOf } from '../../../../../plugins/mcp/policy/lints/powerful.ts'

const nested = (depth: number): object =>
  depth === 0 ? { properties: { path: { type: 'string' } } } : { properties: { in: nested(depth - 1) } }

describe('arguments whose names say that they reach out', () => {
  it('are known by their words', () => {
    assert.deepEqual(wordsOf('filePath-2_URL'), ['file', 'path', 'url'])
    assert.deepEqual(reachesOf('outputFileUrl'), ['file', 'file', 'address'])
    assert.deepEqual(reachesOf('filing'), [])
  })
  it('are found in objects, lists and branches, once', () => {
    const schema = {
      properties: {
        command: {},
        note: { type: 'string' },
        files: { type: 'array', items: { properties: { path: true } } },
        many: { items: { properties: { url: { type: ['string', 'null'] } } } },
        more: { additionalProperties: { properties: { 'a/sql': {} } } },
      },
      anyOf: [{ properties: { command: {} } }],
      oneOf: [{ properties: { host: {} } }],
      allOf: [{ properties: { code: {} } }, 7],
    }
    assert.deepEqual(powerfulArguments(schema), [
      '/command',
      '/files',
      '/many/*/url',
      '/more/*/a~1sql',
      '/host',
      '/code',
    ])
  })
  it('hold text: numbers, switches and choices reach nowhere', () => {
    const properties = {
      file: { type: 'integer' },
      path: { type: ['boolean', 'null'] },
      url: { enum: ['a'] },
      host: { const: 'a' },
      sql: false,
      cmd: { type: ['number', 'string'] },
      dir: { type: [] },
    }
    assert.deepEqual(powerfulArguments({ properties }), ['/cmd', '/dir'])
  })
  it('are looked for six levels deep', () => {
    assert.deepEqual(powerfulArguments(nested(5)), ['/in/in/in/in/in/path'])
    assert.deepEqual(powerfulArguments(nested(6)), [])
  })
})
