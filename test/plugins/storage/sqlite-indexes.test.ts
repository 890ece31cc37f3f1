import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import type { Table } from 'guard-gateway/core'
import { findPlanOf, pageSql } from '../../../plugins/storage/kysely/find.ts'
import { CompiledQuery } from '../../../plugins/storage/sqlite/worker/compiled-query.ts'
import { compiler } from '../../../plugins/storage/sqlite/worker/compiler.ts'
import { openConnection } from '../../../plugins/storage/sqlite/worker/connection.ts'
import { Statements } from '../../../plugins/storage/sqlite/worker/statements.ts'

const folder = mkdtempSync(join(tmpdir(), 'guard-indexes-'))
after(() => rmSync(folder, { recursive: true }))
const start = (name: string, tables: readonly Table[]) =>
  ({
    file: join(folder, name),
    tables,
    synchronous: 'normal',
    exclusive: false,

    busy_ms: 5_000,
    max_pages: 0,
  }) as const

describe('sqlite: indexes', () => {
  it('looks up by a sparse index', async () => {
    const columns = { id: 'text', label: 'text', size: 'integer' } as const
    const things: Table = { id: 'things', columns, sparse: [['label']] }
    const { db, close } = await openConnection(start('sparse.db', [things]))
    const finder = new CompiledQuery(
      things,
      {
        kind: 'find',
        table: 'things',
        where: [
          ['label', 'eq'],
          ['size', 'eq'],
        ],
        order: ['recorded', 'desc'],
        search: false,
      },
      new Statements(db),
    )
    assert.deepEqual([[...finder.scan.held], finder.scan.exact], [['label'], false])
    const { sql, parameters } = pageSql(compiler, things, finder.shape, finder.scan, {
      phase: 'all',
      after: false,
      upto: false,
    })
    const plan = db.prepare(`explain query plan ${sql}`).all(parameters.map(() => 1)) as { detail: string }[]
    assert.match(String(plan[0]?.detail), /USING INDEX things__s__label \(label=\?\)/)
    const nulls = {
      kind: 'find',
      table: 'things',
      where: [['label', 'null']],
      order: ['recorded', 'desc'],
      search: false,
    } as const
    assert.deepEqual([...findPlanOf(things, nulls).held], [])
    close()
  })
})
