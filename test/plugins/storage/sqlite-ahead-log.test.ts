import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import type { Shape } from '../../../plugins/storage/kysely/shape.ts'
import { AheadLog } from '../../../plugins/storage/sqlite/ahead/log.ts'

const folder = mkdtempSync(join(tmpdir(), 'guard-ahead-log-'))
after(() => rmSync(folder, { recursive: true }))

const shape = (table: string): Shape => ({ kind: 'remove', table })

/** A log of batches that are a megabyte each. */
const opened = (name: string) => {
  const file = join(folder, name)
  const shapes = [shape('one')]
  const log = new AheadLog(file, shapes, (error) => assert.fail(String(error)))
  log.begin('here')
  const append = (id: number, committed: number) =>
    log.append(`${JSON.stringify([[id, 0, 'x'.repeat(1_048_576)]])}\n`, id, committed)
  /** Heading and numbers of batches in either file. */
  const held = () =>
    ['a', 'b'].map((end) => {
      const [heading, ...lines] = readFileSync(`${file}-ahead-${end}`, 'utf8').split('\n').slice(0, -1)
      if (heading === undefined) return []
      return [JSON.parse(heading), ...lines.map((line) => JSON.parse(line)).map((line) => line.shapes ?? line[0][0])]
    })
  return { log, shapes, append, held }
}

describe('sqlite: the logs of batches', () => {
  it('take turns: one begins anew when all that it held is committed and the other is long', () => {
    const { log, append, held } = opened('turns.db')
    for (const id of [1, 2, 3]) assert.equal(append(id, 0), true)
    const first = [{ database: 'here', turn: 1 }, [shape('one')], 1, 2]
    assert.deepEqual(held(), [[{ database: 'here', turn: 2 }, [shape('one')], 3], first])
    // what the other one holds is not committed yet
    for (const id of [4, 5]) append(id, 1)
    assert.deepEqual(held()[1], first)
    append(6, 2)
    assert.deepEqual(held(), [
      [{ database: 'here', turn: 2 }, [shape('one')], 3, 4, 5],
      [{ database: 'here', turn: 3 }, [shape('one')], 6],
    ])
    log.end(6)
  })

  it('tell each shape before the first batch that may use it, in each log', () => {
    const { log, shapes, append, held } = opened('shapes.db')
    append(1, 0)
    shapes.push(shape('two'), shape('three'))
    append(2, 0)
    append(3, 0)
    assert.deepEqual(held(), [
      [{ database: 'here', turn: 2 }, shapes, 3],
      [{ database: 'here', turn: 1 }, [shape('one')], 1, [shape('two'), shape('three')], 2],
    ])
    log.end(3)
  })

  it('are files of their own, for their owner alone, whatever bears the name', () => {
    const elsewhere = join(folder, 'elsewhere')
    writeFileSync(elsewhere, 'mine')
    symlinkSync(elsewhere, join(folder, 'link.db-ahead-a'))
    writeFileSync(join(folder, 'link.db-ahead-b'), 'old', { mode: 0o644 })
    const { log, append } = opened('link.db')
    assert.equal(append(1, 0), true)
    assert.equal(readFileSync(elsewhere, 'utf8'), 'mine')
    assert.equal(statSync(join(folder, 'link.db-ahead-b')).mode & 0o777, 0o600)
    log.end(1)
  })

  it('take nothing before the database is known, and nothing more at the end', () => {
    const log = new AheadLog(join(folder, 'none.db'), [], (error) => assert.fail(String(error)))
    assert.equal(log.append('[]\n', 1, 0), false)
    log.end(0)
    log.begin('here')
    assert.equal(log.append('[]\n', 1, 0), true)
    log.end(1)
    assert.equal(log.append('[]\n', 2, 1), false)
  })
})
