import assert from 'node:assert/strict'
import {
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import type { Shape } from '../../../plugins/storage/kysely/shape.ts'
import { logFiles } from '../../../plugins/storage/sqlite/redo-log/format.ts'
import { RedoLog } from '../../../plugins/storage/sqlite/redo-log/redo-log.ts'
import { readLog } from '../../../plugins/storage/sqlite/redo-log/replay-logs.ts'

const folder = mkdtempSync(join(tmpdir(), 'guard-ahead-log-'))
after(() => rmSync(folder, { recursive: true }))

const shape = (table: string): Shape => ({ kind: 'remove', table })

const MEGABYTE = 1024 * 1024

/** A log of batches that are a megabyte each. */
const opened = (name: string) => {
  const file = join(folder, name)
  const shapes = [shape('one')]
  const log = new RedoLog(file, shapes, (error) => assert.fail(String(error)))
  log.begin('here')
  const append = (id: number, committed: number, text = 'x'.repeat(MEGABYTE)) =>
    log.append(JSON.stringify([[id, 0, text]]), id, committed)
  /** Heading, and shapes or numbers of batches, in either file. */
  const held = () =>
    logFiles(file).map((name) => {
      const { lines, ...heading } = readLog(name)
      return heading.turn === 0
        ? []
        : [heading, ...lines.map((line) => ('shapes' in line ? line.shapes : line[0]?.[0]))]
    })
  return { file, log, shapes, append, held }
}

describe('sqlite: the logs of batches', () => {
  it('take turns: one starts over when all that it held is committed and the other is long', () => {
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
    log.close(6)
  })

  it('hold nothing of an earlier turn where a line was not written whole', () => {
    const { file, log, append, held } = opened('torn.db')
    for (const id of [1, 2, 3, 4]) append(id, 4)
    append(5, 5, 'short')
    const before = held()
    assert.deepEqual(before[1], [{ database: 'here', turn: 3 }, [shape('one')], 5])
    // with what follows it in the file, this would be a line
    const place = readFileSync(`${file}-ahead-b`, 'latin1').lastIndexOf(' 3\n') + 3
    assert.match(readFileSync(`${file}-ahead-b`, 'latin1').slice(place, place + 100), /^x{100}$/)
    const handle = openSync(`${file}-ahead-b`, 'r+')
    writeSync(handle, '[[6,0,"', place)
    closeSync(handle)
    const [torn = ''] = readFileSync(`${file}-ahead-b`, 'latin1')
      .slice(place)
      .split(/ \d+\n/)
    assert.equal(JSON.parse(torn)[0][0], 6)
    assert.deepEqual(held(), before)
    log.close(5)
  })

  it('take no more room than four megabytes once what made them longer is committed', () => {
    const { file, log, append } = opened('long.db')
    for (const id of [1, 2, 3, 4, 5, 6, 7]) append(id, 0)
    const sizes = () => logFiles(file).map((name) => statSync(name).size)
    assert.ok((sizes()[0] ?? 0) > 5 * MEGABYTE)
    for (const id of [8, 9]) append(id, 7)
    assert.ok((sizes()[0] ?? 0) > 5 * MEGABYTE)
    append(10, 9)
    assert.deepEqual(
      sizes().map((size) => size <= 4 * MEGABYTE),
      [true, true],
    )
    log.close(10)
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
    log.close(3)
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
    log.close(1)
  })

  it('take nothing before the database is known, and nothing more at the end', () => {
    const log = new RedoLog(join(folder, 'none.db'), [], (error) => assert.fail(String(error)))
    assert.equal(log.append('[]', 1, 0), false)
    log.close(0)
    log.begin('here')
    assert.equal(log.append('[]', 1, 0), true)
    log.close(1)
    assert.equal(log.append('[]', 2, 1), false)
  })
})
