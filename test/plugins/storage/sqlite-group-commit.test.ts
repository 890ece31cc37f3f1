import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import type { Table } from 'guard-gateway/core'
import type { Shape } from '../../../plugins/storage/kysely/shape.ts'
import { Encoder } from '../../../plugins/storage/sqlite/encoder.ts'
import type { BatchValues } from '../../../plugins/storage/sqlite/protocol.ts'
import { openConnection } from '../../../plugins/storage/sqlite/worker/connection.ts'
import { GroupCommit } from '../../../plugins/storage/sqlite/worker/group-commit.ts'
import { prepareChange } from '../../../plugins/storage/sqlite/worker/prepared-change.ts'
import { Statements } from '../../../plugins/storage/sqlite/worker/statements.ts'

const folder = mkdtempSync(join(tmpdir(), 'guard-group-'))
after(() => rmSync(folder, { recursive: true }))

const things: Table = { id: 'things', columns: { id: 'text', size: 'integer', name: 'text' }, unique: [['name']] }

/** A group on a fresh file; `ran` tells the SQL that was run. */
const opened = async (name: string) => {
  const start = { file: join(folder, name), tables: [things], synchronous: 'normal', exclusive: false } as const
  const { db, close } = await openConnection({ ...start, busy_ms: 100, max_pages: 0 })
  const shapes: Shape[] = []
  const encoder = new Encoder([things], (number, shape) => {
    shapes[number] = shape
  })
  const statements = new Statements(db)
  const ran: string[] = []
  const prepare = db.prepare.bind(db)
  db.prepare = ((text: string) => {
    const statement = prepare(text)
    const run = statement.run.bind(statement)
    statement.run = (...values: unknown[]) => {
      ran.push(text)
      return run(...values)
    }
    return statement
  }) as typeof db.prepare
  const group = new GroupCommit(db, { ...start, busy_ms: 100, max_pages: 0 }, (number) => {
    const shape = shapes[number]
    if (shape?.kind !== 'put' && shape?.kind !== 'patch' && shape?.kind !== 'add')
      throw new TypeError(`no shape ${number}`)
    return prepareChange(things, shape, statements)
  })
  const batch = (id: number): BatchValues => [id, 0]
  const put = (values: BatchValues, row: Record<string, unknown>, absent = false) => {
    encoder.change({ kind: 'put', table: things, row, absent }, values)
    return values
  }
  const grow = (values: BatchValues, id: string, from: number) => {
    encoder.change({ kind: 'patch', table: things, key: [id], changes: { size: 9 }, expected: { size: from } }, values)
    return values
  }
  const add = (values: BatchValues, id: string, size: number) => {
    encoder.change({ kind: 'add', table: things, key: [id], sums: { size } }, values)
    return values
  }
  const rows = () => prepare('select id, size from things order by id').raw().all()
  return { group, close, ran, batch, put, grow, add, rows }
}

const row = (id: string, size: unknown = 1, name: string | null = null) => ({ id, size, name })

describe('sqlite: a group of batches', () => {
  it('is one transaction without savepoints', async () => {
    const { group, ran, batch, put, rows, close } = await opened('plain.db')
    const outcome = group.commit([put(batch(1), row('a')), put(put(batch(2), row('b')), row('c'))])
    assert.deepEqual(outcome, { done: [1, 1, 2, 1], failed: [] })
    assert.deepEqual([ran.at(0), ran.at(-1)], ['begin immediate', 'commit'])
    assert.equal(ran.filter((text) => text.includes('savepoint')).length, 0)
    assert.equal(rows().length, 3)
    close()
  })

  it('commits all batches but the one whose condition fails, whole', async () => {
    const { group, batch, put, grow, rows, close } = await opened('condition.db')
    group.commit([put(batch(1), row('a'))])
    const failing = grow(put(batch(3), row('lost')), 'a', 5)
    const outcome = group.commit([put(batch(2), row('b')), failing, grow(put(batch(4), row('c')), 'a', 1)])
    assert.deepEqual(outcome, { done: [2, 1, 3, 0, 4, 1], failed: [] })
    assert.deepEqual(rows(), [
      ['a', 9],
      ['b', 1],
      ['c', 1],
    ])
    close()
  })

  it('tells a taken unique column from a batch at fault, and commits the rest', async () => {
    const { group, batch, put, rows, close } = await opened('taken.db')
    group.commit([put(batch(1), row('a', 1, 'one'))])
    const { done, failed } = group.commit([
      put(batch(2), row('b')),
      put(batch(3), row('c', 1, 'one')),
      put(batch(4), row('a', 2, 'one'), true),
      put(put(batch(5), row('d')), row('e', 'no number')),
    ])
    assert.deepEqual(done, [2, 1, 3, 0, 4, 0])
    assert.deepEqual(
      failed.map(({ id, reason }) => [id, reason]),
      [[5, 'fault']],
    )
    assert.deepEqual(rows(), [
      ['a', 1],
      ['b', 1],
    ])
    close()
  })

  it('writes each row of sums once', async () => {
    const { group, ran, batch, add, rows, close } = await opened('sums.db')
    const outcome = group.commit([add(batch(1), 'a', 2), add(add(batch(2), 'b', 10), 'a', 3), add(batch(3), 'a', 4)])
    assert.deepEqual(outcome, { done: [1, 1, 2, 1, 3, 1], failed: [] })
    assert.deepEqual(rows(), [
      ['a', 9],
      ['b', 10],
    ])
    assert.equal(ran.filter((text) => text.startsWith('insert')).length, 2)
    close()
  })

  it('adds nothing of a batch whose condition fails', async () => {
    const { group, batch, put, grow, add, rows, close } = await opened('sums-condition.db')
    group.commit([put(batch(1), row('a'))])
    const failing = add(grow(add(batch(3), 'b', 100), 'a', 5), 'b', 100)
    const outcome = group.commit([add(batch(2), 'b', 1), failing, add(batch(4), 'b', 2)])
    assert.deepEqual(outcome, { done: [2, 1, 3, 0, 4, 1], failed: [] })
    assert.deepEqual(rows(), [
      ['a', 1],
      ['b', 3],
    ])
    close()
  })

  it('keeps the order of sums and of other changes to their table', async () => {
    const { group, batch, put, add, rows, close } = await opened('sums-order.db')
    group.commit([add(batch(1), 'a', 7), put(batch(2), row('a', 1)), add(batch(3), 'a', 2)])
    assert.deepEqual(rows(), [['a', 3]])
    close()
  })

  it('ends sums at the safe integers', async () => {
    const { group, batch, add, rows, close } = await opened('sums-most.db')
    const most = Number.MAX_SAFE_INTEGER
    group.commit([add(batch(1), 'a', most), add(batch(2), 'a', most)])
    assert.deepEqual(rows(), [['a', most]])
    close()
  })
})
