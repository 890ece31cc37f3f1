import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import Database from 'better-sqlite3'
import { Statements } from '../../../plugins/storage/sqlite/worker/statements.ts'

describe('prepared statements', () => {
  it('are 500 at most, those that were used least recently go first', () => {
    const db = new Database(':memory:')
    try {
      const statements = new Statements(db)
      const [old, used] = [statements.get('SELECT 1'), statements.get('SELECT 2')]
      for (let n = 3; n <= 500; n++) statements.get(`SELECT ${n}`)
      assert.equal(statements.get('SELECT 2'), used)
      statements.get('SELECT 501')
      assert.equal(statements.get('SELECT 2'), used)
      assert.notEqual(statements.get('SELECT 1'), old)
    } finally {
      db.close()
    }
  })
})
