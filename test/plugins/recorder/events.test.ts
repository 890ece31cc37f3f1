import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sessionEvent } from '#lib/trace'
import { assertEventV1 } from '../../kit/event-v1.ts'
import { aCall, aDecision, aMatch, aSessionRow, blocked, NOON, settled } from '../../kit/settled.ts'
import { type Bench, present, startBench } from './kit.ts'

interface Page {
  readonly events: readonly {
    readonly id: string
    readonly name: string
    readonly request_id: string
    readonly attributes: Record<string, unknown>
  }[]
  readonly next_cursor: string | null
  readonly truncated: boolean
}

describe('GET /api/sessions/{id}/events', () => {
  let bench: Bench
  before(async () => {
    bench = await startBench()
    const flagged = aDecision({
      decision: 'shadow_flag',
      reason: 'LOOP_TOOL_CALL',
      rule_id: 'tool_repeat',
      matches: [aMatch(), aMatch({ rule_id: 'other', rule_type: 'exact_repeat', key: 'k2' })],
      faults: ['broken'],
    })
    await bench.settle(
      settled(),
      settled({
        call: aCall({ id: 'guardreq_2', at: NOON + 1, notes: { agent_header_ignored: true } }),
        decision: flagged,
      }),
      blocked(aCall({ id: 'guardreq_3', at: NOON + 2, mode: 'enforce' })),
      blocked(aCall({ id: 'guardreq_4', at: NOON + 3, mode: 'enforce' }), 'guardreq_3'),
    )
    await bench.gateway.storage.put(
      'session_events',
      sessionEvent(aSessionRow(), 'session.paused', NOON + 1_000, { reason: 'lunch' }),
    )
    assert.deepEqual(bench.faults, [])
  })
  after(() => bench.close())

  const raw = (query = '', id = 'ses_a') => bench.app.inject({ url: `/api/sessions/${id}/events${query}` })
  const page = async (query = '', id?: string): Promise<Page> => (await raw(query, id)).json()
  const attributes = async (id: string) =>
    present((await page()).events.find((event) => event.request_id === id)).attributes
  const error = async (query: string, id?: string) => {
    const reply = await raw(query, id)
    return [reply.statusCode, reply.json().error.code]
  }

  it('returns decisions and pauses, newest first, as event.v1', async () => {
    const { events, next_cursor, truncated } = await page()
    assert.deepEqual(
      events.map((event) => event.name),
      ['session.paused', 'policy.decision', 'policy.decision', 'policy.decision'],
    )
    assert.deepEqual([next_cursor, truncated], [null, false])
    for (const event of events) assertEventV1(event)
  })

  it('writes every digit of the time', async () => {
    assert.ok((await raw('?decision=allow')).body.includes(`"time_ns":${NOON}000000,"time":"2026-03-01T12:00:00.000Z"`))
  })

  it('describes an allowed request and its forwarding', async () => {
    assert.deepEqual(await attributes('guardreq_1'), {
      decision: 'allow',
      mode: 'shadow',
      reason_code: null,
      rule_id: null,
      rule_type: null,
      action: null,
      policy_version: 'v7',
      argument_hash: null,
      forwarded: true,
      upstream: 'main',
      style: 'messages',
      model: 'm-1',
      bytes: aCall().body.length,
      outcome: 'ok',
      retries: 0,
      last_at: null,
      last_request_id: null,
      probe: false,
      faults: [],
      matches: [],
    })
  })

  it('describes the deciding rule, all matches, errors and evidence', async () => {
    const { matches, rule_type, action, argument_hash, faults, forwarded, agent_header_ignored } =
      await attributes('guardreq_2')
    assert.deepEqual(
      [rule_type, action, argument_hash, faults, forwarded, agent_header_ignored],
      ['tool_repeat', 'block', 'k1', ['broken'], true, true],
    )
    assert.deepEqual(matches, [aMatch(), aMatch({ rule_id: 'other', rule_type: 'exact_repeat', key: 'k2' })])
  })

  it('counts repeats of a block on the first event', async () => {
    const { decision, mode, forwarded, retries, last_at, last_request_id } = await attributes('guardreq_3')
    assert.deepEqual(
      [decision, mode, forwarded, retries, last_at, last_request_id],
      ['block', 'enforce', false, 1, NOON + 3, 'guardreq_4'],
    )
  })

  it('retains the attributes of other events', async () => {
    const { events } = await page('?name=session.paused')
    assert.deepEqual(
      events.map((event) => event.attributes),
      [{ reason: 'lunch' }],
    )
  })

  it('filters by decision', async () => {
    assert.deepEqual(
      (await page('?decision=shadow_flag')).events.map((event) => event.request_id),
      ['guardreq_2'],
    )
  })

  it('pages in both directions', async () => {
    for (const order of ['asc', 'desc']) {
      const all = (await page(`?order=${order}`)).events.map((event) => event.id)
      const first = await page(`?order=${order}&limit=3`)
      const second = await page(`?order=${order}&limit=3&cursor=${first.next_cursor}`)
      assert.deepEqual(
        [...first.events, ...second.events].map((event) => event.id),
        all,
      )
      assert.equal(second.next_cursor, null)
    }
  })

  it('accepts the external id', async () => assert.equal((await page('', 'window-1')).events.length, 4))

  it('rejects an unknown session, filter, cursor and limit', async () => {
    assert.deepEqual(await error('', 'ses_none'), [404, 'SESSION_NOT_FOUND'])
    assert.deepEqual(await error('?reason=LOOP_EXACT'), [400, 'UNKNOWN_FILTER'])
    assert.deepEqual(await error('?cursor=xx'), [400, 'INVALID_CURSOR'])
    for (const query of ['?limit=0', '?limit=201', '?decision=maybe', '?order=up'])
      assert.equal((await raw(query)).statusCode, 400, query)
  })
})
