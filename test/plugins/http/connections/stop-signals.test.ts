import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { describe, it } from 'node:test'
import { Gateway } from 'guard-gateway/core'
import { foundation } from 'guard-gateway/presets/foundation'
import { type ProcessSignals, runUntilStopped } from '../../../../plugins/http/connections/stop-signals.ts'
import { fakeClock } from '../../../kit/clock.ts'
import { fakeIo } from '../../../kit/io.ts'

const secret = 'guard_0123456789abcdefghijklmnopqrstuvwxyzABCDEF'

/** A gateway that runs in a process of its own making; `drained` ends its server. */
const running = (state: Partial<Pick<ProcessSignals, 'connected' | 'env'>> = {}) => {
  const events = new EventEmitter()
  const exits: number[] = []
  const process = Object.assign(events, {
    exit: (code: number) => exits.push(code),
    env: {},
    ...state,
  }) as unknown as ProcessSignals
  const clock = fakeClock()
  const gateway = new Gateway({ clock }).use(...foundation())
  gateway.secrets.add(secret)
  const io = fakeIo()
  const closed = Promise.withResolvers<void>()
  let closes = 0
  const close = () => {
    closes++
    return closed.promise
  }
  const result = runUntilStopped({ close }, gateway, io, process)
  return { events, exits, io, clock, result, closes: () => closes, drained: closed.resolve, failed: closed.reject }
}

describe('a running gateway', () => {
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    it(`drains on ${signal} and ends with 0; a second one ends it at once with ${code}`, async () => {
      const { events, exits, clock, result, closes, drained } = running()
      events.emit(signal)
      assert.equal(closes(), 1)
      clock.advance(299)
      events.emit(signal)
      assert.deepEqual(exits, [], 'npm passes on what a terminal has sent to both')
      clock.advance(1)
      events.emit(signal)
      assert.deepEqual(exits, [code])
      assert.equal(closes(), 1)
      drained()
      assert.equal(await result, 0)
      assert.deepEqual(events.eventNames(), ['SIGINT', 'SIGTERM'], 'a late echo kills nothing that is still closing')
    })
    it(`takes the first repetition of ${signal} after npm for npm's own, however late it comes`, async () => {
      const { events, exits, clock, result, drained } = running({ env: { npm_lifecycle_event: 'start' } })
      events.emit(signal)
      clock.advance(5000)
      events.emit(signal)
      assert.deepEqual(exits, [])
      events.emit(signal)
      assert.deepEqual(exits, [code], 'a person who asks again is obeyed')
      drained()
      assert.equal(await result, 0)
    })
  }
  it('drains and ends with 0 when the process that started it over a channel ends', async () => {
    const { events, exits, result, closes, drained } = running()
    events.emit('disconnect')
    events.emit('disconnect')
    assert.equal(closes(), 1)
    drained()
    assert.equal(await result, 0)
    assert.deepEqual([exits, events.eventNames()], [[], ['SIGINT', 'SIGTERM']])
  })
  it('does so where that process ended before it listened', async () => {
    const { result, drained } = running({ connected: false })
    drained()
    assert.equal(await result, 0)
  })
  for (const event of ['uncaughtException', 'unhandledRejection']) {
    it(`logs an ${event} without credentials, drains, and ends with 1`, async () => {
      const { events, io, result, closes, drained } = running()
      events.emit(event, new Error(`sent ${secret}`))
      assert.equal(closes(), 1)
      const line = JSON.parse(io.errText())
      assert.equal(line.level, 'fatal')
      assert.match(line.message, /^Error: sent \[REDACTED/)
      assert.doesNotMatch(io.errText(), /0123456789/)
      drained()
      assert.equal(await result, 1)
    })
  }
  it('waits no longer than 10 seconds for a drain after a fault', async (test) => {
    test.mock.timers.enable({ apis: ['setTimeout'] })
    const { events, result } = running()
    events.emit('uncaughtException', new Error('broken'))
    test.mock.timers.tick(10_000)
    assert.equal(await result, 1)
  })
  it('ends with 1 if a fault comes while it drains', async () => {
    const { events, result, closes, exits, drained } = running()
    events.emit('SIGTERM')
    events.emit('unhandledRejection', 'broken')
    assert.equal(closes(), 1)
    assert.deepEqual(exits, [])
    drained()
    assert.equal(await result, 1)
  })
  it('reports that it could not close', async () => {
    const { events, result, failed } = running()
    events.emit('SIGTERM')
    failed(new Error('stuck'))
    await assert.rejects(result, /stuck/)
  })
})
