import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { GuardError } from 'guard-gateway/core'
import { type Answer, type House, list, object, openHouse } from './kit.ts'

const FORM = /^gak_[A-Za-z0-9_-]{43}$/
const errorCode = (answer: Answer) => [answer.status, object(answer, 'error').code]

describe('agent keys', () => {
  let house: House
  beforeEach(async () => {
    house = await openHouse()
  })
  afterEach(() => house.close())
  const register = (body: object = { id: 'bot' }) => house.http('POST', '/api/agents', body)
  const issue = async (): Promise<{ key: string; id: string }> => {
    const { json } = await house.http('POST', '/api/agents/bot/keys')
    return { key: String(json.key), id: String(json.key_id) }
  }
  const agentOf = (key: string) => house.gateway.keys.identify([key])?.agent_id

  it('are shown once, when the agent is registered', async () => {
    const answer = await register()
    assert.equal(answer.status, 201)
    const key = String(answer.json.key)
    assert.match(key, FORM)
    assert.equal(agentOf(key), 'bot')
    const [shown] = object(answer, 'agent').keys as { id: string; prefix: string }[]
    assert.deepEqual([shown?.id, shown?.prefix], [answer.json.key_id, key.slice(0, 8)])
    for (const url of ['/api/agents', '/api/agents/bot']) {
      const { text } = await house.http('GET', url)
      assert.ok(text.includes(key.slice(0, 8)) && !text.includes(key.slice(0, 12)))
    }
  })

  it('are never stored', async () => {
    const key = String((await register()).json.key)
    const stored = await Promise.all(
      (['agents', 'agent_keys', 'sessions', 'session_events'] as const).map((table) =>
        house.gateway.storage.find(table),
      ),
    )
    const text = JSON.stringify(stored)
    assert.ok(text.includes(key.slice(0, 8)))
    assert.ok(!text.includes(key.slice(0, 12)) && !text.includes(key.slice(-12)))
  })

  it('open the proxy after a restart', async () => {
    const key = String((await register()).json.key)
    house = await house.restart()
    assert.equal(agentOf(key), 'bot')
    assert.equal(house.gateway.keys.identify(['gak_wrong']), undefined)
  })

  it('can be left out, and issued later', async () => {
    const answer = await register({ id: 'bot', issue_key: false })
    assert.equal(answer.status, 201)
    assert.ok(!('key' in answer.json) && !('key_id' in answer.json))
    assert.equal(agentOf((await issue()).key), 'bot')
  })

  it('can be rotated: the new one and the old one hold until the old one is revoked', async () => {
    const old = (await register()).json
    const next = await issue()
    assert.deepEqual([agentOf(String(old.key)), agentOf(next.key)], ['bot', 'bot'])
    assert.equal((await house.http('DELETE', `/api/agents/bot/keys/${old.key_id}`)).status, 204)
    assert.deepEqual([agentOf(String(old.key)), agentOf(next.key)], [undefined, 'bot'])
    const keys = object(await house.http('GET', '/api/agents/bot'), 'agent').keys as { id: string }[]
    assert.deepEqual(
      keys.map(({ id }) => id),
      [next.id],
    )
  })

  it('stay revoked after a restart, and their revocation survives a power cut', async () => {
    const { key, key_id } = (await register()).json
    const from = house.disk.syncs.length
    await house.http('DELETE', `/api/agents/bot/keys/${key_id}`)
    assert.deepEqual(house.disk.syncs.slice(from), [true])
    house = await house.restart()
    assert.equal(agentOf(String(key)), undefined)
  })

  it('are shut at once even if the revocation cannot be written, which can be repeated', async () => {
    const { key, key_id } = (await register()).json
    house.disk.failure = new GuardError('STORAGE_FULL')
    assert.equal((await house.http('DELETE', `/api/agents/bot/keys/${key_id}`)).status, 503)
    assert.equal(agentOf(String(key)), undefined)
    assert.equal((await house.http('DELETE', `/api/agents/bot/keys/${key_id}`)).status, 204)
  })

  it('are at most five an agent, also when asked for at once', async () => {
    await register({ id: 'bot', issue_key: false })
    const answers = await Promise.all(Array.from({ length: 7 }, () => house.http('POST', '/api/agents/bot/keys')))
    assert.equal(answers.filter(({ status }) => status === 201).length, 5)
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      assert.deepEqual(errorCode(answer), [409, 'TOO_MANY_KEYS'])
    }
    const [first] = answers
    assert.ok(first)
    await house.http('DELETE', `/api/agents/bot/keys/${first.json.key_id}`)
    assert.match((await issue()).key, FORM)
  })

  it('do not exist if they could not be written', async () => {
    await register({ id: 'bot', issue_key: false })
    house.disk.failure = new GuardError('STORAGE_FULL')
    assert.equal((await house.http('POST', '/api/agents/bot/keys')).status, 503)
    assert.deepEqual(object(await house.http('GET', '/api/agents/bot'), 'agent').keys, [])
    house.disk.refuse = true
    assert.deepEqual(errorCode(await house.http('POST', '/api/agents/bot/keys')), [503, 'STORAGE_BUSY'])
    house.disk.refuse = false
  })

  it('belong to one agent', async () => {
    const { key_id } = (await register()).json
    await register({ id: 'other', issue_key: false })
    assert.deepEqual(errorCode(await house.http('DELETE', `/api/agents/other/keys/${key_id}`)), [404, 'KEY_NOT_FOUND'])
    assert.deepEqual(errorCode(await house.http('DELETE', '/api/agents/bot/keys/gk_none')), [404, 'KEY_NOT_FOUND'])
    assert.deepEqual(errorCode(await house.http('DELETE', `/api/agents/none/keys/${key_id}`)), [404, 'AGENT_NOT_FOUND'])
    assert.deepEqual(errorCode(await house.http('POST', '/api/agents/none/keys')), [404, 'AGENT_NOT_FOUND'])
  })

  it('tell when they were used last, to the minute and without a write for every use', async () => {
    const identity = house.gateway.keys.identify([String((await register()).json.key)])
    assert.ok(identity)
    const lastUse = async () => {
      const keys = object(await house.http('GET', '/api/agents/bot'), 'agent').keys as { last_used_at: unknown }[]
      return keys[0]?.last_used_at
    }
    assert.equal(await lastUse(), null)
    house.clock.advance(61_500)
    await house.ask({ 'x-guard-session-id': 'a' }, { identity })
    const from = house.disk.syncs.length
    house.clock.advance(20_000)
    await house.ask({ 'x-guard-session-id': 'a' }, { identity })
    assert.ok(house.disk.syncs.length - from <= 1)
    const used = await lastUse()
    assert.equal(used, '2026-03-01T12:01:00.000Z')
    house = await house.restart()
    assert.equal(await lastUse(), used)
    assert.deepEqual(house.faults, [])
  })

  it('report a use that could not be noted, and serve the request', async () => {
    const identity = house.gateway.keys.identify([String((await register()).json.key)])
    assert.ok(identity)
    await house.ask({ 'x-guard-session-id': 'a' })
    house.disk.failure = new GuardError('STORAGE_FULL')
    await house.ask({ 'x-guard-session-id': 'a' }, { identity })
    await house.gateway.hooks.close.promise()
    assert.equal(house.faults.length, 1)
  })
})

describe('agents', () => {
  let house: House
  beforeEach(async () => {
    house = await openHouse()
  })
  afterEach(() => house.close())
  const register = (body?: object) => house.http('POST', '/api/agents', body)

  it('are registered with what was given, or with nothing', async () => {
    const body = { id: 'bot', name: 'The bot', project_id: 'shop', metadata: { team: 'a' }, issue_key: false }
    assert.deepEqual((await register(body)).json, {
      agent: {
        id: 'bot',
        name: 'The bot',
        project_id: 'shop',
        metadata: { team: 'a' },
        registered_by: 'api',
        playground: false,
        paused: false,
        paused_in: null,
        paused_at: null,
        created_at: '2026-03-01T12:00:00.000Z',
        keys: [],
      },
    })
    const made = await house.inject({ method: 'POST', url: '/api/agents' })
    assert.equal(made.status, 201)
    assert.match(String(object(made, 'agent').id), /^agent_[a-z0-9]+$/)
  })

  it('are registered once; the refused registration leaves no key', async () => {
    await register({ id: 'bot' })
    for (const issue_key of [true, false]) {
      assert.deepEqual(errorCode(await register({ id: 'bot', issue_key })), [409, 'AGENT_EXISTS'])
    }
    assert.equal((object(await house.http('GET', '/api/agents/bot'), 'agent').keys as unknown[]).length, 1)
  })

  for (const [what, body, path] of [
    ['an id with other characters', { id: 'a b' }, '/id'],
    ['an empty id', { id: '' }, '/id'],
    ['an id that is too long', { id: 'x'.repeat(129) }, '/id'],
    ['an id that looks like a credential', { id: 'gak_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfG' }, '/id'],
    ['a project with other characters', { project_id: 'a/b' }, '/project_id'],
    ['an unknown member', { id: 'x', color: 'red' }, '/color'],
    ['metadata that is too deep', { id: 'x', metadata: { a: [[[[[[[[1]]]]]]]] } }, '/metadata'],
  ] as const) {
    it(`refuse ${what}`, async () => {
      const answer = await register(body)
      assert.deepEqual([...errorCode(answer), object(answer, 'error').path], [400, 'INVALID_REQUEST', path])
    })
  }

  it('hide secrets in name and metadata', async () => {
    const secret = 'ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789'
    const { text } = await register({
      id: 'bot',
      name: `bot ${secret}`,
      metadata: { note: secret, password: 'hunter22' },
    })
    assert.ok(!text.includes(secret) && !text.includes('hunter22'))
  })

  it('are listed newest first, by page and by filter', async () => {
    for (const id of ['a', 'b', 'c']) await register({ id, project_id: id === 'b' ? 'two' : 'one', issue_key: false })
    await house.http('POST', '/api/agents/c/pause')
    const ids = async (query: string) =>
      list(await house.http('GET', `/api/agents?${query}`), 'agents').map(({ id }) => id)
    assert.deepEqual(await ids(''), ['c', 'b', 'a'])
    assert.deepEqual(await ids('project_id=one'), ['c', 'a'])
    assert.deepEqual(await ids('paused=true'), ['c'])
    assert.deepEqual(await ids('paused=false'), ['b', 'a'])
    const page = await house.http('GET', '/api/agents?limit=2')
    const rest = await ids(`limit=2&cursor=${encodeURIComponent(String(page.json.next_cursor))}`)
    assert.deepEqual(rest, ['a'])
    assert.deepEqual(errorCode(await house.http('GET', '/api/agents?colour=red')), [400, 'UNKNOWN_FILTER'])
  })
})
