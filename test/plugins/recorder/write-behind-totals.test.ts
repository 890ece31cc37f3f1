import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { aCall, blocked } from '../../kit/settled.ts'
import { fresh, Requests, totalsOf } from './requests.ts'

describe('session totals', () => {
  let requests: Requests
  beforeEach(async () => {
    requests = new Requests()
    await requests.start()
  })
  afterEach(async () => {
    assert.deepEqual(requests.bench.faults, [])
    await requests.bench.close()
  })

  it('are deferred for a single request, after the first', async () => {
    const session = fresh()
    for (let n = 0; n < 3; n++) await requests.one(session)
    assert.deepEqual(requests.tables(), ['calls,sessions', 'calls', 'calls'])
  })

  it('are written once before reads', async () => {
    const session = fresh()
    const other = fresh('ses_b')
    for (let n = 0; n < 3; n++) for (const one of [session, other]) await requests.one(one)
    requests.tables()
    const { storage } = requests.bench.gateway
    assert.deepEqual([(await requests.stored()).requests, requests.tables()], [3, ['sessions']])
    const { rows } = await storage.find('sessions', { order: ['recorded', 'asc'] })
    assert.deepEqual([rows.map(({ total_tokens }) => total_tokens), requests.tables()], [[90, 90], ['sessions']])
    await requests.stored()
    assert.deepEqual(requests.tables(), [])
    await requests.one(session)
    assert.deepEqual(requests.tables(), ['calls'])
    assert.deepEqual(totalsOf(await requests.stored()), totalsOf(session.row))
  })

  it('delay a reader while they are written', async () => {
    const session = fresh()
    for (let n = 0; n < 2; n++) await requests.one(session)
    const { storage } = requests.bench.gateway
    const read = [storage.get('sessions', 'ses_a'), storage.get('sessions', 'ses_a'), storage.find('sessions')] as const
    const [one, another, { rows }] = await Promise.all(read)
    assert.deepEqual([one?.requests, another?.requests, rows[0]?.requests], [2, 2, 2])
  })

  it('are written with the record while other requests are in flight, and with the next record', async () => {
    const session = fresh()
    for (let n = 0; n < 2; n++) await requests.one(session)
    const ends = [requests.begin(session), requests.begin(session)]
    requests.clock.advance(5)
    requests.tables()
    for (const end of ends) await end()
    assert.deepEqual(requests.tables(), ['calls,sessions', 'calls,sessions'])
    assert.deepEqual(totalsOf(await requests.stored()), totalsOf(session.row))
    await requests.one(session)
    assert.deepEqual(requests.tables(), ['calls'])
  })

  it('are written with a record that ended before or at the last write', async () => {
    const session = fresh()
    await requests.one(session)
    const end = requests.begin(session)
    await end()
    requests.clock.jump(-60_000)
    await requests.one(session)
    assert.deepEqual(requests.tables(), ['calls,sessions', 'calls,sessions', 'calls,sessions'])
  })

  it('are written with the record of a delayed request', async () => {
    const session = fresh()
    await requests.one(session)
    const free = Promise.withResolvers<void>()
    requests.bench.gateway.hooks.record.tapPromise('test', () => free.promise)
    const ended = requests.begin(session)
    requests.clock.advance(5)
    const end = ended()
    await setImmediate()
    requests.clock.advance(2_000)
    free.resolve()
    await end
    assert.deepEqual(requests.tables(), ['calls,sessions', 'calls,sessions'])
  })

  it('are written with the record after a failed one', async () => {
    const session = fresh()
    const { storage } = requests.bench.gateway
    await requests.one(session)
    const ends = [requests.begin(session), requests.begin(session)]
    await ends[0]?.()
    const { write } = storage
    const failure = new Error('disk gone')
    storage.write = () => Promise.reject(failure)
    await ends[1]?.()
    storage.write = write
    assert.deepEqual(requests.bench.faults.splice(0), [{ error: failure, where: 'settle:recorder' }])
    requests.tables()
    await requests.one(session)
    assert.deepEqual(requests.tables(), ['calls,sessions'])
  })

  it('are written with the repeat of a blocked request, and with the next record', async () => {
    const session = fresh()
    await requests.one(session)
    await requests.one(session, 'block')
    requests.tables()
    session.row.last_seen_at = requests.clock.now() + 5
    await requests.bench.settle(blocked(aCall({ id: 'guardreq_again', session }), 'guardreq_2'))
    requests.clock.advance(5)
    await requests.one(session)
    await requests.one(session)
    // that of the repetition itself is made beneath
    assert.deepEqual(requests.tables(), ['sessions', 'calls,sessions', 'calls'])
    assert.deepEqual(totalsOf(await requests.stored()), totalsOf(session.row))
  })

  it('are retried after a failed write', async () => {
    const session = fresh()
    for (let n = 0; n < 2; n++) await requests.one(session)
    const { storage } = requests.bench.gateway
    const { write } = storage
    storage.write = () => Promise.reject(new Error('not now'))
    assert.equal((await requests.stored()).requests, 1)
    storage.write = write
    assert.equal((await requests.stored()).requests, 2)
  })

  it('are inserted with a complete row after a deletion', async () => {
    const session = fresh()
    for (let n = 0; n < 2; n++) await requests.one(session)
    const { storage } = requests.bench.gateway
    await storage.remove('sessions', { id: 'ses_a' }, 1)
    assert.equal(await storage.get('sessions', 'ses_a'), undefined)
    await requests.one(session)
    assert.deepEqual(totalsOf(await requests.stored()), totalsOf(session.row))
  })

  it('are written when the gateway closes', async () => {
    const session = fresh()
    for (let n = 0; n < 2; n++) await requests.one(session)
    requests.tables()
    await requests.bench.close()
    assert.deepEqual(requests.tables(), ['sessions'])
    await requests.start()
  })
})
