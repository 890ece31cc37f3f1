import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { WriteBehind } from '#lib/keyed-queue'

describe('WriteBehind', () => {
  const bench = () => {
    const written: string[] = []
    const open: (() => void)[] = []
    const rows = new WriteBehind<string>(async (item) => {
      written.push(item)
      await new Promise<void>((resolve) => open.push(resolve))
    })
    return { rows, written, finish: () => open.splice(0).forEach((end) => void end()) }
  }

  it('writes what changed last, once, two seconds after the first change', async (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] })
    const { rows, written } = bench()
    rows.add('a', 'one')
    context.mock.timers.tick(1_500)
    rows.add('a', 'two')
    rows.add('b', 'three')
    context.mock.timers.tick(499)
    assert.deepEqual(written, [])
    context.mock.timers.tick(1)
    assert.deepEqual(written, ['two', 'three'])
    context.mock.timers.tick(10_000)
    assert.equal(written.length, 2)
  })

  it('writes what a reader asks for, and lets every reader wait until it is written', async () => {
    const { rows, written, finish } = bench()
    assert.equal(rows.flush(), undefined)
    rows.add('a', 'one')
    rows.add('b', 'two')
    assert.equal(rows.flush('c'), undefined)
    const first = rows.flush('a')
    assert.deepEqual(written, ['one'])
    assert.equal(rows.flush('a'), first)
    const all = rows.flush()
    assert.deepEqual(written, ['one', 'two'])
    finish()
    await Promise.all([first, all])
    assert.equal(rows.flush('a'), undefined)
    assert.equal(rows.flush(), undefined)
  })

  it('lets a reader wait for the newer of two writes of a row', async () => {
    const { rows, written, finish } = bench()
    rows.add('a', 'one')
    const older = rows.flush('a')
    rows.add('a', 'two')
    const newer = rows.flush('a')
    assert.notEqual(newer, older)
    assert.deepEqual(written, ['one', 'two'])
    finish()
    await newer
    assert.equal(rows.flush('a'), undefined)
  })

  it('forgets what another change has written', () => {
    const { rows, written } = bench()
    rows.add('a', 'one')
    assert.equal(rows.get('a'), 'one')
    rows.delete('a')
    assert.equal(rows.get('a'), undefined)
    assert.equal(rows.flush('a'), undefined)
    assert.deepEqual(written, [])
  })

  it('writes everything at its end', async () => {
    const { rows, written, finish } = bench()
    rows.add('a', 'one')
    const end = rows.end()
    assert.deepEqual(written, ['one'])
    finish()
    await end
  })
})
