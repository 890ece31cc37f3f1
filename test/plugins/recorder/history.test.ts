import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type SessionEvent, sessionEvent } from '#lib/trace'
import { aCall, aSession, aSessionRow, NOON, settled } from '../../kit/settled.ts'
import { type Bench, startBench } from './kit.ts'

interface Page {
  readonly events: readonly { readonly id: string; readonly name: string }[]
  readonly next_cursor: string | null
  readonly truncated: boolean
}

/** What happened, oldest first: calls by the letter of their id, other events by the last word of their name. */
const STORY = ['a', 'b', 'paused', 'c', 'resumed', 'updated', 'd', 'e', 'f', 'paused']

describe('a session history of calls and other events', () => {
  let bench: Bench
  const session = aSession()
  const call = (letter: string, at: number) =>
    bench.settle(settled({ call: aCall({ id: `guardreq_${letter}`, session }), ended_at: NOON + at }))
  const event = (over: Partial<SessionEvent>) =>
    bench.gateway.storage.put('session_events', { ...sessionEvent(aSessionRow(), 'session.paused', NOON), ...over })
  before(async () => {
    bench = await startBench()
    for (const [at, what] of STORY.entries()) {
      if (what.length === 1) await call(what, at)
      else await event({ id: `evt_${at}${what}`, name: `session.${what}`, at: NOON + at })
    }
    assert.deepEqual(bench.faults, [])
  })
  after(() => bench.close())

  const page = async (query: string): Promise<Page> =>
    (await bench.app.inject({ url: `/api/sessions/ses_a/events?${query}` })).json()
  const told = ({ events }: Page): string[] =>
    events.map(({ id, name }) => (name === 'policy.decision' ? id.slice(4) : name.slice(8)))
  const inPages = async (query: string): Promise<string[]> => {
    const seen: string[] = []
    let cursor: string | null = ''
    do {
      const found: Page = await page(`${query}${cursor === '' ? '' : `&cursor=${cursor}`}`)
      seen.push(...told(found))
      cursor = found.next_cursor
    } while (cursor !== null)
    return seen
  }

  it('has the order of recording, in pages of any size and direction', async () => {
    for (let limit = 1; limit <= STORY.length; limit++) {
      assert.deepEqual(await inPages(`order=asc&limit=${limit}`), STORY, `asc by ${limit}`)
      assert.deepEqual(await inPages(`order=desc&limit=${limit}`), STORY.toReversed(), `desc by ${limit}`)
    }
  })

  it('ends without a cursor if its last entry fills the page', async () => {
    for (const order of ['asc', 'desc']) {
      const { next_cursor, truncated } = await page(`order=${order}&limit=${STORY.length}`)
      assert.deepEqual([next_cursor, truncated], [null, false])
    }
  })

  it('filters by name and decision, also across pages', async () => {
    assert.deepEqual(await inPages('order=asc&limit=2&name=policy.decision'), ['a', 'b', 'c', 'd', 'e', 'f'])
    assert.deepEqual(await inPages('order=asc&limit=1&name=session.paused'), ['paused', 'paused'])
    assert.deepEqual(await inPages('limit=4&decision=allow'), ['f', 'e', 'd', 'c', 'b', 'a'])
    assert.deepEqual(await inPages('limit=4&decision=allow&name=session.paused'), [])
  })

  it('orders events of one millisecond by id', async () => {
    const tied = aSession({ id: 'ses_tied', external_id: 'tied' })
    for (const id of ['guardreq_1', 'guardreq_3'])
      await bench.settle(settled({ call: aCall({ id, session: tied }), ended_at: NOON }))
    await event({ session_id: 'ses_tied', id: 'evt_2' })
    const ids = async (order: string) => {
      const { events } = (await bench.app.inject({ url: `/api/sessions/tied/events?order=${order}` })).json()
      return events.map(({ id }: { id: string }) => id)
    }
    assert.deepEqual(await ids('asc'), ['evt_1', 'evt_2', 'evt_3'])
    assert.deepEqual(await ids('desc'), ['evt_3', 'evt_2', 'evt_1'])
  })

  it('pages consistently while events arrive: descending without them, ascending with them', async () => {
    const desc = await page('order=desc&limit=9')
    const asc = await page('order=asc&limit=9')
    await event({ id: 'evt_z', name: 'session.updated', at: NOON + 50 })
    assert.deepEqual(told(await page(`order=desc&limit=9&cursor=${desc.next_cursor}`)), ['a'])
    assert.deepEqual(told(await page(`order=asc&limit=9&cursor=${asc.next_cursor}`)), ['paused', 'updated'])
    await bench.gateway.storage.write([{ table: 'session_events', key: 'evt_z', remove: true }])
  })

  it('rejects a cursor of another query, or an invalid one', async () => {
    const { next_cursor } = await page('order=asc&limit=3')
    const odd = ['W10', 'WzEsMl0', 'e30', 'x', Buffer.from('["x","y"]').toString('base64url')]
    for (const query of [`order=desc&cursor=${next_cursor}`, ...odd.map((cursor) => `order=asc&cursor=${cursor}`)]) {
      const reply = await bench.app.inject({ url: `/api/sessions/ses_a/events?${query}` })
      assert.deepEqual([reply.statusCode, reply.json().error.code], [400, 'INVALID_CURSOR'], query)
    }
  })
})
