import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { fakeClock } from '../../kit/clock.ts'
import { aCall, aSession, aSessionRow, blocked, NOON, settled } from '../../kit/settled.ts'
import { type Bench, present, startBench } from './kit.ts'

describe('recorder: the session of a settled call', () => {
  let bench: Bench
  beforeEach(async () => {
    // an hour after the requests, so that their totals are not put off
    bench = await startBench({ clock: fakeClock(NOON + 3_600_000, 3_600_000) })
  })
  afterEach(() => bench.close())

  const sessionRow = async (id = 'ses_a') => present(await bench.gateway.storage.get('sessions', id))
  const count = async () => (await bench.gateway.storage.find('calls', { limit: 100 })).rows.length

  it('is inserted once, then only its totals change', async () => {
    const session = aSession()
    await bench.settle(settled({ call: aCall({ session }) }))
    assert.deepEqual(await sessionRow(), aSessionRow())
    await bench.gateway.storage.patch('sessions', 'ses_a', { paused: true, name: 'night shift' })
    Object.assign(session.row, { requests: 2, total_tokens: 60, last_seen_at: NOON + 50 })
    await bench.settle(settled({ call: aCall({ id: 'guardreq_2', session }) }))
    assert.deepEqual(
      await sessionRow(),
      aSessionRow({ paused: true, name: 'night shift', requests: 2, total_tokens: 60, last_seen_at: NOON + 50 }),
    )
    assert.equal(bench.writes.length, 2)
  })

  it('retains stored fields that this process has not written', async () => {
    await bench.gateway.storage.put('sessions', aSessionRow({ paused: true, requests: 0 }))
    await bench.settle(settled())
    assert.deepEqual(await sessionRow(), aSessionRow({ paused: true }))
    assert.equal(await count(), 1)
  })

  it('is inserted despite earlier requests that are in flight', async () => {
    await bench.settle(settled({ call: aCall({ session: aSession({ requests: 4 }) }) }))
    assert.deepEqual(await sessionRow(), aSessionRow({ requests: 4 }))
  })

  it('is inserted by the first of concurrent requests only', async () => {
    const session = aSession({ requests: 0, blocked: 40 })
    const calls = Array.from({ length: 40 }, (_, index) => aCall({ id: `guardreq_${index}`, session }))
    await Promise.all(calls.map((call) => bench.settle(blocked(call))))
    assert.deepEqual([bench.writes.length, await count(), bench.faults], [40, 40, []])
    assert.deepEqual(await sessionRow(), session.row)
  })

  it('is inserted by the next request if the first fails', async () => {
    const session = aSession({ requests: 2 })
    const { write } = bench.gateway.storage
    const failing = () => {
      bench.gateway.storage.write = write
      return Promise.reject(new Error('disk gone'))
    }
    bench.gateway.storage.write = failing
    await Promise.all(
      ['guardreq_1', 'guardreq_2', 'guardreq_3'].map((id) => bench.settle(settled({ call: aCall({ id, session }) }))),
    )
    assert.deepEqual([await count(), bench.faults.length, await sessionRow()], [2, 1, session.row])
  })

  it('is inserted again after a deletion', async () => {
    const session = aSession()
    await bench.settle(settled({ call: aCall({ session }) }))
    await bench.gateway.storage.remove('sessions', { id: 'ses_a' }, 1)
    await bench.settle(settled({ call: aCall({ id: 'guardreq_2', session }) }))
    assert.deepEqual([await sessionRow(), bench.faults], [session.row, []])
  })
})
