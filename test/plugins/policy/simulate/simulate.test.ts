import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sessionEvent } from '#lib/trace'
import { step, user } from '../../../kit/conversation.ts'
import { call } from '../../../kit/evidence.ts'
import { begin, growing, startSimulations as start } from './kit.ts'

const loose = [{ rule_type: 'tool_repeat', threshold: 3, window_size: 8 }]

describe('POST /api/policies/{project_id}/simulate', () => {
  it('says what would have been stopped, at which request, and what was spent after it', async () => {
    const { live, post } = await start()
    await live(
      'ses_loop',
      growing(7, () => step('read')),
    )
    await live(
      'ses_work',
      growing(7, (number) => step('read', { number })),
    )
    const { status, body } = await post({ rules: loose, mode: 'enforce' })
    assert.equal(status, 200)
    assert.deepEqual([body.sessions, body.requests, body.truncated, body.mode], [2, 14, false, 'enforce'])
    const [found, ...others] = body.flagged
    assert.deepEqual(others, [])
    assert.deepEqual(
      [found?.session_id, found?.decision, found?.step, found?.code, found?.count, found?.results_equal],
      ['ses_loop', 'block', 4, 'LOOP_TOOL_CALL', 3, true],
    )
    assert.deepEqual([found?.requests_after, found?.tokens_after], [3, 90])
    assert.deepEqual(
      body.rules.map(({ rule_id, sessions, share, tokens_after }) => [rule_id, sessions, share, tokens_after]),
      [['tool_repeat', 1, 0.5, 90]],
    )
  })
  it('counts runs whose repeated calls had differing results', async () => {
    const { live, post } = await start()
    await live(
      'ses_paging',
      growing(6, (number) => step('scroll', {}, `page ${number}`)),
    )
    const { body } = await post({ rules: loose })
    assert.deepEqual(
      body.rules.map((rule) => [rule.sessions, rule.differing_results]),
      [[1, 1]],
    )
    assert.equal(body.flagged[0]?.results_equal, false)
    const aware = await post({ rules: [{ ...loose[0], params: { result_aware: true } }] })
    assert.deepEqual(aware.body.flagged, [])
  })
  it('lets a user message end a loop', async () => {
    const { live, post } = await start()
    const twice = [...begin, ...step('read'), ...step('read')]
    await live('ses_asked', [twice, [...twice, ...step('read'), user('Thank you. And now?')]])
    assert.deepEqual((await post({ rules: loose })).body.flagged, [])
  })
  it('forgets windows where the session was resumed', async () => {
    const { live, post, send, gateway, clock } = await start()
    const session = await live('ses_resumed', [[...begin], [...begin]])
    const resumed_at = clock.now() + 1
    clock.advance(10_000)
    await send(call({ session, items: begin, at: clock.now() }))
    const rules = [{ rule_type: 'exact_repeat', threshold: 3 }]
    assert.equal((await post({ rules })).body.flagged[0]?.step, 3)
    await gateway.storage.patch('sessions', 'ses_resumed', { resumed_at })
    assert.deepEqual((await post({ rules })).body.flagged, [])
  })
  it('forgets them at every resume, not at the last one alone', async () => {
    const { live, post, send, gateway, clock } = await start()
    const session = await live('ses_often', [[...begin]])
    for (let n = 0; n < 2; n++) {
      clock.advance(10_000)
      const resumed_at = clock.now()
      const { storage } = gateway
      await storage.put('session_events', sessionEvent(session.row, 'session.resumed', resumed_at))
      await storage.patch('sessions', 'ses_often', { resumed_at })
      clock.advance(10_000)
      await send(call({ session, items: begin, at: clock.now() }))
    }
    assert.deepEqual((await post({ rules: [{ rule_type: 'exact_repeat', threshold: 2 }] })).body.flagged, [])
  })
  it('asks no rule about what a pause refused', async () => {
    const { live, post, send, clock } = await start()
    const session = await live('ses_paused', [[...begin], [...begin]])
    session.row.paused = true
    clock.advance(10_000)
    await send(call({ session, items: begin, at: clock.now() }))
    assert.deepEqual((await post({ rules: [{ rule_type: 'exact_repeat', threshold: 3 }] })).body.flagged, [])
  })
  it('counts the turns of each request where its client went back and on again', async () => {
    const { live, post } = await start()
    const back = [...begin, ...step('list')]
    const on = [...back, ...step('read')]
    await live('ses_back', [[...begin], back, on, back, on, back, on])
    assert.deepEqual((await post({ rules: loose })).body.flagged, [])
  })
  it('keeps the turns of a first request through its retry', async () => {
    const { live, post, send, clock } = await start()
    const once = [...begin, ...step('read')]
    const session = await live('ses_retried', [once])
    const sent = [once, [...once, ...step('read')], [...once, ...step('read'), ...step('read')]]
    for (const [index, items] of sent.entries()) {
      clock.advance(10_000)
      await send(call({ session, items, at: clock.now(), retry: index === 0 }))
    }
    const rules = [{ ...loose[0], params: { result_aware: true } }]
    assert.equal((await post({ rules })).body.flagged[0]?.step, 4)
  })
  it('counts the turns that a refused request brought', async () => {
    const { live, post, send, clock } = await start()
    const session = await live('ses_refused', [[...begin, ...step('read')]])
    for (const count of [2, 3]) {
      session.row.paused = count === 2
      clock.advance(10_000)
      const items = [...begin, ...Array.from({ length: count }, () => step('read')).flat()]
      await send(call({ session, items, at: clock.now() }))
    }
    assert.equal((await post({ rules: loose })).body.flagged[0]?.step, 3)
  })
  it('keeps to sessions, times and a limit', async () => {
    const { live, post, clock, gateway } = await start()
    await live(
      'ses_old',
      growing(5, () => step('read')),
    )
    const between = clock.now() + 1
    clock.advance(60_000)
    await live(
      'ses_new',
      growing(5, () => step('read')),
    )
    const ids = async (range: object) =>
      (await post({ rules: loose, ...range })).body.flagged.map(({ session_id }) => session_id)
    assert.deepEqual(await ids({}), ['ses_new', 'ses_old'])
    assert.deepEqual(await ids({ since: between }), ['ses_new'])
    assert.deepEqual(await ids({ since: '50s' }), ['ses_new'])
    assert.deepEqual(await ids({ until: new Date(between).toISOString() }), ['ses_old'])
    assert.deepEqual(await ids({ session_ids: ['ses_old', 'ses_unknown'] }), ['ses_old'])
    await gateway.storage.patch('sessions', 'ses_old', { external_id: 'old-window' })
    assert.deepEqual(await ids({ session_ids: ['old-window', 'ses_old', 'ses_old'] }), ['ses_old'])
    const { body } = await post({ rules: loose, limit: 1 })
    assert.deepEqual([body.sessions, body.truncated], [1, true])
    assert.deepEqual((await post({ rules: loose }, 'other')).body.sessions, 0)
  })
  it('takes the policy in force where no rules are given, and changes nothing', async () => {
    const { live, post, put, get } = await start()
    await put({ rules: [{ rule_type: 'max_requests', threshold: 2 }], mode: 'shadow' })
    await live(
      'ses_long',
      growing(4, (number) => step('read', { number })),
    )
    const { body } = await post({})
    assert.deepEqual([body.flagged[0]?.code, body.flagged[0]?.step, body.mode], ['LIMIT_REQUESTS', 3, 'shadow'])
    assert.equal((await get()).version, 1)
  })
  it('refuses what it cannot read, with its place', async () => {
    const { app } = await start()
    const refused = async (payload: object | string) => {
      const reply = await app.inject({
        method: 'POST',
        url: '/api/policies/shop/simulate',
        payload,
        headers: { 'content-type': 'application/json' },
      })
      assert.equal(reply.statusCode, 400)
      const { error } = reply.json()
      return [error.code, error.path]
    }
    assert.deepEqual(await refused({ since: 'lately' }), ['INVALID_REQUEST', '/since'])
    assert.deepEqual(await refused({ since: '2026-02-31' }), ['INVALID_REQUEST', '/since'])
    assert.deepEqual(await refused({ limit: 1001 }), ['INVALID_REQUEST', '/limit'])
    assert.deepEqual(await refused({ session_ids: 'ses_1' }), ['INVALID_REQUEST', '/session_ids'])
    assert.deepEqual(await refused({ rules: [{ rule_type: 'tool_repeat', threshold: 0 }] }), [
      'INVALID_POLICY',
      '/rules/0/threshold',
    ])
    assert.deepEqual(await refused([{ rule_type: 'tool_repeat', threshold: 0 }]), ['INVALID_POLICY', '/0/threshold'])
    assert.deepEqual(await refused([]), ['INVALID_POLICY', ''])
    assert.deepEqual(await refused({ preset: 'strict' }), ['INVALID_POLICY', '/preset'])
    for (const text of ['0', '"enforce"', 'false']) assert.deepEqual(await refused(text), ['INVALID_REQUEST', ''])
  })
})
