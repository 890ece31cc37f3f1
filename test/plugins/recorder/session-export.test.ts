import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sessionEvent } from '#lib/trace'
import { assertEventV1 } from '../../kit/event-v1.ts'
import { aCall, aSession, aSessionRow, NOON, settled } from '../../kit/settled.ts'
import { type Bench, startBench } from './kit.ts'

const CALLS = 620

describe('GET /api/export/sessions/{id}.json', () => {
  let bench: Bench
  before(async () => {
    bench = await startBench({ clock: { now: () => NOON, tick: () => 0 } })
    const session = aSession()
    const other = aSession({ id: 'ses_b', external_id: null })
    for (let index = 0; index < CALLS; index++)
      await bench.settle(settled({ call: aCall({ id: `guardreq_${index}`, session }) }))
    await bench.settle(settled({ call: aCall({ id: 'guardreq_other', session: other }) }))
    await bench.gateway.storage.put('session_events', sessionEvent(aSessionRow(), 'session.resumed', NOON + 1_000))
  })
  after(() => bench.close())

  it('returns session, calls and events of several pages, oldest first', async () => {
    const reply = await bench.app.inject({ url: '/api/export/sessions/ses_a.json' })
    const { schema, exported_at, session, calls, events } = reply.json()
    assert.deepEqual([schema, exported_at, session], ['session.v1', '2026-03-01T12:00:00.000Z', aSessionRow()])
    assert.deepEqual(
      calls.map(({ id }: { id: string }) => id),
      Array.from({ length: CALLS }, (_, index) => `guardreq_${index}`),
    )
    assert.equal(calls[0].new_turns[0].calls[0].tool, 'read_file')
    assert.deepEqual([calls[0].user_first, 'turns' in calls[0]], [false, false])
    assert.equal(events.length, CALLS + 1)
    assert.equal(events[0].attributes.decision, 'allow')
    assert.equal(events.at(-1).name, 'session.resumed')
    for (const event of events) assertEventV1(event)
  })

  it('is a download', async () => {
    const { headers, statusCode } = await bench.app.inject({ url: '/api/export/sessions/window-1.json' })
    assert.equal(statusCode, 200)
    assert.equal(headers['content-type'], 'application/json; charset=utf-8')
    assert.equal(headers['content-disposition'], 'attachment; filename="ses_a.json"')
  })

  it('finds a session by an id with dots', async () => {
    await bench.settle(
      settled({ call: aCall({ id: 'guardreq_dots', session: aSession({ id: 'ses_c', external_id: 'a.b/c' }) }) }),
    )
    const reply = await bench.app.inject({ url: '/api/export/sessions/a.b%2Fc.json' })
    assert.equal(reply.json().session.id, 'ses_c')
  })

  it('rejects an unknown session before it sends anything', async () => {
    const reply = await bench.app.inject({ url: '/api/export/sessions/ses_none.json' })
    assert.deepEqual([reply.statusCode, reply.json().error.code], [404, 'SESSION_NOT_FOUND'])
    assert.equal(reply.headers['content-disposition'], undefined)
  })
})
