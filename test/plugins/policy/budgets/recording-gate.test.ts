import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { RecordingGate } from '../../../../plugins/policy/budgets/recording-gate.ts'

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
}

/** A gate, and what happened at it. */
const watched = () => {
  const gate = new RecordingGate()
  const happened: string[] = []
  const note = (what: string) => () => void happened.push(what)
  return { gate, happened, note }
}

describe('the gate before the record', () => {
  it('is open while nothing is read', () => {
    const { gate, happened, note } = watched()
    assert.equal(gate.enter(note('ended')), undefined)
    assert.deepEqual(happened, ['ended'])
  })
  it('keeps a reading until what entered has left', async () => {
    const { gate, happened, note } = watched()
    for (const one of ['one', 'other']) gate.enter(note(one))
    const reading = gate.still(async () => note('read')())
    await turns()
    gate.leave()
    await turns()
    assert.deepEqual(happened, ['one', 'other'])
    gate.leave()
    await reading
    assert.deepEqual(happened, ['one', 'other', 'read'])
  })
  it('keeps what ends meanwhile until all readings are over, also failed ones', async () => {
    const { gate, happened, note } = watched()
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const readings = [first, second].map(({ promise }) => gate.still(() => promise))
    await turns()
    const entering = gate.enter(note('ended'))
    first.resolve()
    await turns()
    assert.deepEqual(happened, [])
    second.reject(new Error('unreadable'))
    await Promise.allSettled(readings)
    await entering
    assert.deepEqual(happened, ['ended'])
  })
  it('takes a change for on the way until it is done or has failed', async () => {
    const { gate, happened, note } = watched()
    const { promise, resolve } = Promise.withResolvers<string>()
    const changing = gate.change(() => promise)
    await turns()
    const reading = gate.still(async () => note('read')())
    await turns()
    assert.deepEqual(happened, [])
    resolve('changed')
    assert.equal(await changing, 'changed')
    await reading
    assert.deepEqual(happened, ['read'])
    await assert.rejects(gate.change(() => Promise.reject(new Error('no'))))
    await gate.still(async () => note('again')())
    assert.deepEqual(happened, ['read', 'again'])
  })
  it('lets a reading go on after a second without end', async (test) => {
    test.mock.timers.enable({ apis: ['setTimeout'] })
    const { gate, happened, note } = watched()
    gate.enter(note('ended'))
    const reading = gate.still(async () => note('read')())
    await turns()
    test.mock.timers.tick(999)
    await turns()
    assert.deepEqual(happened, ['ended'])
    test.mock.timers.tick(1)
    await reading
    assert.deepEqual(happened, ['ended', 'read'])
  })
})
