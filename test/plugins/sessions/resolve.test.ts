import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { code, type House, idOf, object, openHouse, sessionOf } from './kit.ts'

describe('ids of sessions', () => {
  let house: House
  before(async () => {
    house = await openHouse()
  })
  after(() => house.close())
  const ask = (external: string, project: string) =>
    house.ask({ 'x-guard-session-id': external, 'x-guard-project-id': project })

  it('keeps two projects with the same external id apart, each with a stable id', async () => {
    const one = await ask('window', 'one')
    const two = await ask('window', 'two')
    assert.match(idOf(one), /^ses_[a-z2-7]{24}$/)
    assert.match(idOf(two), /^ses_[a-z2-7]{24}$/)
    assert.notEqual(idOf(one), idOf(two))
    assert.equal((await ask('window', 'one')).session, one.session)
    const another = await openHouse()
    const alone = await another.ask({ 'x-guard-session-id': 'window', 'x-guard-project-id': 'two' })
    await another.close()
    assert.equal(idOf(two), idOf(alone))
  })

  it('gives the form ses_ to the project that uses it first', async () => {
    const one = await ask('ses_Mine-1', 'one')
    const two = await ask('ses_Mine-1', 'two')
    assert.equal(idOf(one), 'ses_Mine-1')
    assert.match(idOf(two), /^ses_[a-z2-7]{24}$/)
    assert.equal((await ask('ses_Mine-1', 'two')).session, two.session)
    assert.equal((await ask('ses_Mine-1', 'one')).session, one.session)
  })

  it('hashes what only starts like our ids', async () => {
    for (const external of ['ses_', 'ses_a b', 'ses_../../etc', `ses_${'x'.repeat(121)}`, 'SES_a']) {
      assert.match(idOf(await ask(external, 'one')), /^ses_[a-z2-7]{24}$/, external)
    }
    assert.equal(idOf(await ask(`ses_${'x'.repeat(120)}`, 'one')), `ses_${'x'.repeat(120)}`)
  })

  it('continues with a session by the id that it was told', async () => {
    const first = await ask('told', 'one')
    assert.equal((await ask(idOf(first), 'one')).session, first.session)
  })

  it('does not let a project take the ids of another one in advance', async () => {
    const probe = await openHouse()
    const target = idOf(await probe.ask({ 'x-guard-session-id': 'target', 'x-guard-project-id': 'victim' }))
    await probe.close()
    const squatter = await ask(target, 'squatter')
    const victim = await ask('target', 'victim')
    assert.equal(idOf(squatter), target)
    assert.notEqual(victim.session, squatter.session)
    assert.equal(sessionOf(victim).row.project_id, 'victim')
    assert.equal((await ask('target', 'victim')).session, victim.session)
  })

  it('is not confused by ids with the look of paths, markup or member names', async () => {
    for (const external of ['__proto__', 'constructor', '../../x', '<script>', "' OR 1=1 --", '%00', 'a/b?c#d']) {
      const call = await ask(external, 'one')
      assert.equal(sessionOf(call).row.external_id, external)
      assert.equal((await ask(external, 'one')).session, call.session)
    }
  })
})

describe('project and agent', () => {
  let house: House
  before(async () => {
    house = await openHouse()
  })
  after(() => house.close())

  it('fills in the default project and no agent', async () => {
    const call = await house.ask()
    assert.equal(call.project_id, 'default')
    assert.equal(call.agent_id, null)
  })

  it('registers an agent that a header names first, once and without a key', async () => {
    const calls = await Promise.all([1, 2, 3].map(() => house.ask({ 'x-guard-agent-id': 'newcomer' })))
    assert.deepEqual(new Set(calls.map((call) => call.agent_id)), new Set(['newcomer']))
    const agent = object(await house.http('GET', '/api/agents/newcomer'), 'agent')
    assert.equal(agent.registered_by, 'request')
    assert.deepEqual(agent.keys, [])
    assert.equal(agent.paused, false)
  })

  it('takes the project of the header before that of the agent, and that before the default', async () => {
    await house.http('POST', '/api/agents', { id: 'shopper', project_id: 'shop' })
    assert.equal((await house.ask({ 'x-guard-agent-id': 'shopper' })).project_id, 'shop')
    const headers = { 'x-guard-agent-id': 'shopper', 'x-guard-project-id': 'elsewhere' }
    assert.equal((await house.ask(headers)).project_id, 'elsewhere')
  })

  it('lets an agent key set agent and project, and notes a header that says otherwise', async () => {
    const { key } = (await house.http('POST', '/api/agents', { id: 'keyed', project_id: 'kiosk' })).json
    const identity = house.gateway.keys.identify(['guard_test_key_0123456789', String(key)])
    assert.ok(identity)
    assert.equal(identity.agent_id, 'keyed')
    const call = await house.ask({ 'x-guard-agent-id': 'somebody else' }, { identity })
    assert.deepEqual([call.agent_id, call.project_id], ['keyed', 'kiosk'])
    assert.equal(call.notes.agent_header_ignored, true)
    assert.equal((await house.http('GET', '/api/agents/somebody%20else')).status, 404)
    const same = await house.ask({ 'x-guard-agent-id': 'keyed' }, { identity })
    assert.deepEqual(same.notes, {})
  })

  for (const header of ['x-guard-project-id', 'x-guard-agent-id']) {
    for (const value of [
      '',
      'a b',
      'a/b',
      '.',
      '..',
      'x'.repeat(129),
      '\u00e9',
      'gak_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfG',
    ]) {
      it(`refuses ${header}: ${JSON.stringify(value.slice(0, 20))}`, async () => {
        await assert.rejects(house.ask({ [header]: value }), code('INVALID_HEADER'))
      })
    }
  }

  it('keeps an agent and a project that look like a secret under a hash, and finds them by what was sent', async () => {
    const SUSPECT = 'test_0b6d8a52-7f0c-4d8e-9f57-1c2d3e4f5a6b'
    const headers = { 'x-guard-agent-id': SUSPECT, 'x-guard-project-id': SUSPECT, 'x-guard-session-id': 'of-suspects' }
    const { agent_id, project_id, session } = await house.ask(headers)
    assert.match(String(agent_id), /^id_[a-z2-7]{24}$/)
    assert.equal(project_id, agent_id)
    assert.equal((await house.ask(headers)).session, session)
    assert.equal((await house.http('POST', `/api/agents/${SUSPECT}/pause`)).status, 200)
    for (const id of [SUSPECT, agent_id]) {
      const { text, json } = await house.http('GET', `/api/agents/${id}`)
      assert.equal((json.agent as { paused: boolean }).paused, true)
      assert.ok(!text.includes(SUSPECT))
    }
    assert.equal((await house.decide(await house.ask(headers))).decision, 'block')
    assert.equal((await house.http('POST', '/api/agents', { id: SUSPECT })).status, 409)
  })

  it('registers no agent for a request that it refuses', async () => {
    await assert.rejects(
      house.ask({ 'x-guard-agent-id': 'ghost', 'x-guard-project-id': 'a b' }),
      code('INVALID_HEADER'),
    )
    await assert.rejects(house.ask({ 'x-guard-agent-id': 'ghost', 'x-guard-session-id': '' }), code('INVALID_HEADER'))
    assert.equal((await house.http('GET', '/api/agents/ghost')).status, 404)
  })

  it('keeps first agent and client of a session, secrets hidden', async () => {
    const client = 'agent/1.0 (token=ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789)'
    const call = await house.ask({ 'x-guard-session-id': 'ua', 'x-guard-agent-id': 'first' }, { client })
    await house.ask({ 'x-guard-session-id': 'ua', 'x-guard-agent-id': 'second' })
    assert.equal(sessionOf(call).row.agent_id, 'first')
    assert.match(sessionOf(call).row.client, /^agent\/1\.0 /)
    assert.doesNotMatch(sessionOf(call).row.client, /ghp_AbCd/)
  })
})

describe('one session, one object', () => {
  it('gives concurrent first requests the same session, after one look into storage', async () => {
    const house = await openHouse()
    let open = () => {}
    house.disk.gate = new Promise((resolve) => {
      open = resolve
    })
    const asked = [1, 2, 3].map(() => house.ask({ 'x-guard-session-id': 'shared' }))
    open()
    const [first, ...others] = await Promise.all(asked)
    assert.ok(first)
    for (const call of others) assert.equal(call.session, first.session)
    assert.equal(house.disk.gets.get('sessions'), 1)
    await house.ask({ 'x-guard-session-id': 'shared' })
    assert.equal(house.disk.gets.get('sessions'), 1)
    await house.close()
  })

  it('keeps 10,000 sessions, and an open one however long ago it was asked for', async () => {
    const house = await openHouse()
    const named = (name: string) => house.ask({ 'session-id': name })
    const held = await named('held')
    sessionOf(held).open = 1
    const idle = await named('idle')
    for (let count = 0; count < 9_999; count++) await named(`other ${count}`)
    assert.equal((await named('held')).session, held.session)
    assert.notEqual((await named('idle')).session, idle.session)
    assert.deepEqual(house.gateway.health.get('sessions')?.(), {
      in_memory: 10_000,
      agents_in_memory: 0,
      agent_keys: 0,
    })
    await house.close()
  })

  it('does not keep a failed look', async () => {
    const house = await openHouse()
    house.disk.gate = Promise.reject(new Error('disk'))
    await assert.rejects(house.ask({ 'x-guard-session-id': 'later' }), /disk/)
    house.disk.gate = undefined
    assert.equal(sessionOf(await house.ask({ 'x-guard-session-id': 'later' })).row.external_id, 'later')
    await house.close()
  })

  it('reads a recorded session back after a restart', async () => {
    const house = await openHouse()
    const call = await house.ask({ 'x-guard-session-id': 'kept' })
    sessionOf(call).row.requests = 7
    await house.settle(call)
    const next = await house.restart()
    const again = sessionOf(await next.ask({ 'x-guard-session-id': 'kept' }))
    assert.equal(again.row.id, idOf(call))
    assert.equal(again.row.requests, 7)
    await next.close()
  })

  it('finds the session of a response after a restart', async () => {
    const house = await openHouse()
    const call = await house.ask({ 'session-id': 'kept' })
    await house.settle(call, 'resp_kept')
    const next = await house.restart()
    assert.equal(idOf(await next.ask({}, { previous_response_id: 'resp_kept' })), idOf(call))
    await next.close()
  })
})
