import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { type Change, GuardError } from 'guard-gateway/core'
import { aDecision } from '../../kit/settled.ts'
import { type House, idOf, object, openHouse, sessionOf } from './kit.ts'

describe('pausing and resuming', () => {
  let house: House
  beforeEach(async () => {
    house = await openHouse()
  })
  afterEach(() => house.close())
  const named = (name: string, headers = {}) => house.ask({ 'x-guard-session-id': name, ...headers })

  it('blocks what a paused session sends, whatever the mode, and nothing else', async () => {
    const call = await named('one')
    const before = aDecision({ row: null })
    assert.equal(await house.decide(call, before), before)
    await house.http('POST', `/api/sessions/${idOf(call)}/pause`)
    for (const mode of ['shadow', 'enforce'] as const) {
      const decision = await house.decide(await house.ask({ 'x-guard-session-id': 'one' }, { mode }))
      assert.deepEqual(decision, {
        decision: 'block',
        status: 409,
        reason: 'PAUSED_SESSION',
        rule_id: null,
        message: `Guard blocked this request: its session is paused. Resume it with POST /api/sessions/${idOf(call)}/resume.`,
        matches: [],
        policy_version: '',
        probe: false,
        faults: [],
        repeats: null,
        row: null,
      })
    }
    assert.equal((await house.decide(await named('another'))).decision, 'allow')
    await house.http('POST', `/api/sessions/${idOf(call)}/resume`)
    assert.equal((await house.decide(await named('one'))).decision, 'allow')
  })

  it('blocks what a paused agent sends, by header and by key; a paused session is named first', async () => {
    const { key } = (await house.http('POST', '/api/agents', { id: 'bot' })).json
    const identity = house.gateway.keys.identify([String(key)])
    assert.ok(identity)
    const headers = { 'x-guard-agent-id': 'bot' }
    const call = await named('one', headers)
    await house.http('POST', '/api/agents/bot/pause')
    const byHeader = await house.decide(call)
    assert.deepEqual([byHeader.status, byHeader.reason], [409, 'PAUSED_AGENT'])
    assert.match(byHeader.message, /POST \/api\/agents\/bot\/resume/)
    assert.equal(call.notes.paused, 'agent')
    const byKey = await house.ask({ 'x-guard-session-id': 'two' }, { identity })
    assert.equal((await house.decide(byKey)).reason, 'PAUSED_AGENT')
    await house.http('POST', `/api/sessions/${idOf(call)}/pause`)
    assert.equal((await house.decide(call)).reason, 'PAUSED_SESSION')
    assert.equal(call.notes.paused, 'session')
    await house.http('POST', '/api/agents/bot/resume')
    assert.equal((await house.decide(byKey)).decision, 'allow')
    assert.equal((await house.decide(call)).reason, 'PAUSED_SESSION')
  })

  it('keeps the message within 300 characters for the longest ids', async () => {
    const call = await named(`ses_${'x'.repeat(120)}`, { 'x-guard-agent-id': 'a'.repeat(128) })
    await house.http('POST', `/api/sessions/${idOf(call)}/pause`)
    assert.ok((await house.decide(call)).message.length <= 300)
    await house.http('POST', `/api/sessions/${idOf(call)}/resume`)
    await house.http('POST', `/api/agents/${'a'.repeat(128)}/pause`)
    const { message, reason } = await house.decide(call)
    assert.equal(reason, 'PAUSED_AGENT')
    assert.ok(message.length <= 300)
  })

  it('is there again after a restart, and survives a power cut', async () => {
    const recorded = await named('recorded', { 'x-guard-agent-id': 'bot' })
    await house.settle(recorded)
    const fresh = await named('only in memory')
    for (const path of [`sessions/${idOf(recorded)}/pause`, `sessions/${idOf(fresh)}/pause`, 'agents/bot/pause']) {
      const from = house.disk.syncs.length
      assert.equal((await house.http('POST', `/api/${path}`)).status, 200)
      assert.ok(house.disk.syncs.slice(from).length > 0 && house.disk.syncs.slice(from).every(Boolean), path)
    }
    house = await house.restart()
    assert.equal((await house.decide(await named('recorded'))).reason, 'PAUSED_SESSION')
    assert.equal((await house.decide(await named('only in memory'))).reason, 'PAUSED_SESSION')
    assert.equal((await house.decide(await named('third', { 'x-guard-agent-id': 'bot' }))).reason, 'PAUSED_AGENT')
    await house.http('POST', `/api/sessions/${idOf(recorded)}/resume`)
    await house.http('POST', '/api/agents/bot/resume')
    house = await house.restart()
    assert.equal((await house.decide(await named('recorded', { 'x-guard-agent-id': 'bot' }))).decision, 'allow')
  })

  it('holds for a request that is in progress already', async () => {
    const call = await named('one')
    await house.http('POST', `/api/sessions/${idOf(call)}/pause`)
    assert.equal((await house.decide(call)).reason, 'PAUSED_SESSION')
  })

  it('keeps the time and reason of the first pause, and forgets both on resume', async () => {
    const id = idOf(await named('one'))
    const pause = async (body?: object) =>
      object(await house.http('POST', `/api/sessions/${id}/pause`, body), 'session')
    const first = await pause({ reason: 'runs in circles' })
    house.clock.advance(5000)
    const second = await pause()
    assert.deepEqual([second.paused_at, second.pause_reason], [first.paused_at, 'runs in circles'])
    const resumed = object(await house.http('POST', `/api/sessions/${id}/resume`), 'session')
    assert.deepEqual([resumed.paused, resumed.paused_at, resumed.pause_reason], [false, null, null])
    assert.equal(resumed.resumed_at, new Date(house.clock.now()).toISOString())
  })

  it('changes nothing when the change cannot be written', async () => {
    const call = await named('one', { 'x-guard-agent-id': 'bot' })
    await house.settle(call)
    house.disk.failure = new GuardError('STORAGE_FULL')
    assert.equal((await house.http('POST', `/api/sessions/${idOf(call)}/pause`)).status, 503)
    house.disk.failure = new GuardError('STORAGE_FULL')
    assert.equal((await house.http('POST', '/api/agents/bot/pause')).status, 503)
    assert.equal((await house.decide(call)).decision, 'allow')
    assert.equal(sessionOf(call).row.paused_at, null)
  })

  it('gives up with 503 when the session changes again and again', async () => {
    const call = await named('one')
    house.disk.refuse = true
    const answer = await house.http('POST', `/api/sessions/${idOf(call)}/pause`)
    assert.deepEqual([answer.status, object(answer, 'error').code], [503, 'STORAGE_BUSY'])
    house.disk.refuse = false
    assert.equal((await house.decide(call)).decision, 'allow')
  })

  it('marks what detection remembers as seen, tells it, and keeps earlier marks', async () => {
    const call = await named('one')
    const session = sessionOf(call)
    const told: unknown[] = []
    session.tips = () => ['tip 1', 'tip 2']
    session.cleared = () => void told.push(session.row.resumed_at)
    await house.http('POST', `/api/sessions/${idOf(call)}/resume`)
    assert.deepEqual(session.row.seen_tips, ['tip 1', 'tip 2'])
    session.tips = () => ['tip 3', 'tip 2']
    house.clock.advance(10)
    await house.http('POST', `/api/sessions/${idOf(call)}/resume`)
    assert.deepEqual(told, [house.clock.now() - 10, house.clock.now()])
    house = await house.restart()
    assert.deepEqual(sessionOf(await named('one')).row.seen_tips, ['tip 3', 'tip 2', 'tip 1'])
  })

  it('marks the newest request of each stored thread when detection remembers nothing yet', async () => {
    const call = await named('one')
    await house.settle(call)
    const row = (id: string, thread: string, tip: string) =>
      ({
        table: 'calls',
        put: { id, session_id: idOf(call), thread, chain_tip: tip, talk_tip: `${tip}t` },
      }) as unknown as Change
    await house.gateway.storage.write([
      row('1', 'a', 'a1'),
      row('2', 'a', 'a2'),
      row('3', 'b', 'b1'),
      row('4', 'c', ''),
    ])
    house = await house.restart()
    await house.http('POST', `/api/sessions/${idOf(call)}/resume`)
    assert.deepEqual(new Set(sessionOf(await named('one')).row.seen_tips), new Set(['a2', 'a2t', 'b1', 'b1t', 't']))
  })

  it('writes pauses, resumes and changes into the history of the session', async () => {
    const id = idOf(await named('one'))
    await house.http('POST', `/api/sessions/${id}/pause`)
    await house.http('POST', `/api/sessions/${id}/resume`)
    await house.http('PATCH', `/api/sessions/${id}`, { name: 'x' })
    const { rows } = await house.gateway.storage.find('session_events', { where: { session_id: id } })
    assert.deepEqual(rows.map(({ name }) => name).reverse(), ['session.paused', 'session.resumed', 'session.updated'])
  })

  it('is refused for what does not exist', async () => {
    for (const verb of ['pause', 'resume']) {
      const session = await house.http('POST', `/api/sessions/ses_none/${verb}`)
      assert.deepEqual([session.status, object(session, 'error').code], [404, 'SESSION_NOT_FOUND'])
      const agent = await house.http('POST', `/api/agents/none/${verb}`)
      assert.deepEqual([agent.status, object(agent, 'error').code], [404, 'AGENT_NOT_FOUND'])
    }
  })

  it('takes no body, an empty one with a content type, or a reason, and no other member', async () => {
    const url = `/api/sessions/${idOf(await named('one'))}/pause`
    const headers = { 'content-type': 'application/json' }
    assert.equal((await house.inject({ method: 'POST', url })).status, 200)
    assert.equal((await house.inject({ method: 'POST', url, headers })).status, 200)
    assert.equal((await house.inject({ method: 'POST', url, headers, payload: '{}' })).status, 200)
    const odd = await house.http('POST', url, { until: 'tomorrow' })
    assert.deepEqual([odd.status, object(odd, 'error').path], [400, '/until'])
    await named('two', { 'x-guard-agent-id': 'bot' })
    for (const path of ['/api/agents/bot/pause', '/api/agents/bot/resume', '/api/agents/bot/keys']) {
      assert.ok((await house.inject({ method: 'POST', url: path, headers })).status < 300, path)
    }
  })
})
