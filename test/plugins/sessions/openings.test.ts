import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { type House, idOf, openHouse, sessionOf } from './kit.ts'

const MINUTE = 60_000

describe('sessions without an id', () => {
  let house: House
  beforeEach(async () => {
    house = await openHouse()
  })
  afterEach(() => house.close())

  it('are known by how the conversation starts', async () => {
    const one = await house.ask({}, { opening: 'write a poem' })
    assert.equal((await house.ask({}, { opening: 'write a poem' })).session, one.session)
    assert.notEqual((await house.ask({}, { opening: 'write a song' })).session, one.session)
    assert.match(idOf(one), /^ses_/)
    assert.match(sessionOf(one).row.external_id ?? '', /^opening:[a-z2-7]{24}$/)
    assert.equal(sessionOf(one).row.external_source, 'derived')
  })

  it('are kept apart by project, agent, program and API style', async () => {
    const calls = [
      await house.ask(),
      await house.ask({ 'x-guard-project-id': 'other' }),
      await house.ask({ 'x-guard-agent-id': 'someone' }),
      await house.ask({}, { client: 'another-agent/1.0' }),
      await house.ask({}, { style: 'chat_completions' }),
    ]
    assert.equal(new Set(calls.map(idOf)).size, calls.length)
  })

  it('outlive an update of the program', async () => {
    const one = await house.ask({}, { client: 'agent/1.0 (linux)' })
    assert.equal((await house.ask({}, { client: 'agent/1.1' })).session, one.session)
  })

  it('start over after 30 minutes without a request, not before', async () => {
    const one = await house.ask()
    house.clock.advance(30 * MINUTE - 1)
    assert.equal((await house.ask()).session, one.session)
    house.clock.advance(30 * MINUTE - 1)
    assert.equal((await house.ask()).session, one.session)
    house.clock.advance(30 * MINUTE)
    const next = await house.ask()
    assert.notEqual(idOf(next), idOf(one))
    assert.equal(sessionOf(next).row.external_id, sessionOf(one).row.external_id)
    assert.equal((await house.ask()).session, next.session)
  })

  it('start over when a clock that was far ahead is set right, and continue where it was little', async () => {
    const one = await house.ask()
    house.clock.jump(-29 * MINUTE)
    assert.equal((await house.ask()).session, one.session)
    house.clock.jump(-MINUTE)
    const next = await house.ask()
    assert.notEqual(idOf(next), idOf(one))
    assert.equal((await house.ask()).session, next.session)
  })

  it('take the idle time from the configuration', async () => {
    const quick = await openHouse({ idle_timeout_minutes: 1 })
    const one = await quick.ask()
    quick.clock.advance(MINUTE)
    assert.notEqual((await quick.ask()).session, one.session)
    await quick.close()
  })

  it('are not idle while a reply is in progress, nor for 30 minutes after it', async () => {
    const one = await house.ask()
    sessionOf(one).open = 1
    house.clock.advance(90 * MINUTE)
    await house.settle(one)
    sessionOf(one).open = 0
    house.clock.advance(30 * MINUTE - 1)
    assert.equal((await house.ask()).session, one.session)
  })

  it('cannot be left by waiting while they are paused', async () => {
    const one = await house.ask()
    await house.settle(one)
    await house.http('POST', `/api/sessions/${idOf(one)}/pause`)
    house.clock.advance(300 * MINUTE)
    const later = await house.ask()
    assert.equal(later.session, one.session)
    assert.equal((await house.decide(later)).reason, 'PAUSED_SESSION')
  })

  it('are one session for requests that arrive together, at first and after idling', async () => {
    const together = async () => new Set((await Promise.all([1, 2, 3].map(() => house.ask()))).map(idOf))
    const first = await together()
    assert.equal(first.size, 1)
    house.clock.advance(31 * MINUTE)
    const second = await together()
    assert.equal(second.size, 1)
    assert.notDeepEqual(second, first)
  })

  it('continue after a restart with the newest, or start over if that is idle', async () => {
    const old = await house.ask()
    await house.settle(old)
    house.clock.advance(31 * MINUTE)
    const newest = await house.ask()
    await house.settle(newest)
    house = await house.restart()
    assert.equal(idOf(await house.ask()), idOf(newest))
    house = await house.restart()
    house.clock.advance(30 * MINUTE)
    const next = idOf(await house.ask())
    assert.ok(next !== idOf(newest) && next !== idOf(old))
  })
})
