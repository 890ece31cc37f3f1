import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { dialectOf } from '../kit/dialogue.ts'
import { decisionOf, errorOf, type Service, startService } from '../kit/service.ts'

const chat = dialectOf('chat_completions')
const ask = [{ user: 'hi' }]

describe('2.1 session', () => {
  let service: Service
  before(async () => {
    service = await startService()
  })
  after(() => service[Symbol.asyncDispose]())
  const sessionIdOf = async (headers: Record<string, string>, text = 'hi') =>
    (await service.send(chat, [{ user: text }], headers)).headers.get('x-guard-session-id') ?? ''

  it('groups requests under an identifier with the prefix ses_', async () => {
    const [first, second] = [
      await sessionIdOf({ 'x-guard-session-id': 'one' }),
      await sessionIdOf({ 'x-guard-session-id': 'one' }, 'more'),
    ]
    assert.match(first, /^ses_/)
    assert.equal(first, second)
    assert.equal((await service.session(first)).requests, 2)
  })
  it('is identified by x-guard-session-id, before x-client-session-id', async () => {
    const both = { 'x-guard-session-id': 'ours', 'x-client-session-id': 'theirs' }
    const { external_id, external_source } = await service.session(await sessionIdOf(both))
    assert.deepEqual([external_id, external_source], ['ours', 'x-guard-session-id'])
  })
  it('has a name in letters of any alphabet, sent as UTF-8 or as Latin-1', async () => {
    const utf8 = (text: string) => Buffer.from(text).toString('latin1')
    for (const [sent, name] of [
      [utf8('größe'), 'größe'],
      [utf8('日本'), '日本'],
      [utf8('привет'), 'привет'],
      [utf8('🙂'), '🙂'],
      ['grün', 'grün'],
    ] as const) {
      const id = await sessionIdOf({ 'x-guard-session-id': sent })
      assert.equal((await service.session(id)).external_id, name)
      const paused = await service.request('POST', `/api/sessions/${encodeURIComponent(name)}/pause`)
      assert.equal(paused.status, 200, name)
      assert.equal((await service.session(id)).paused, true)
    }
  })
  it('is identified by x-client-session-id when the other header is absent', async () => {
    const { external_id, external_source } = await service.session(
      await sessionIdOf({ 'x-client-session-id': 'theirs' }),
    )
    assert.deepEqual([external_id, external_source], ['theirs', 'x-client-session-id'])
  })
  it('records requests without an external id too, and keeps them together', async () => {
    const grown = [{ user: 'a task' }, { assistant: 'done' }, { user: 'more' }]
    const first = await service.send(chat, grown.slice(0, 1))
    const second = await service.send(chat, grown)
    const id = first.headers.get('x-guard-session-id') ?? ''
    assert.equal(second.headers.get('x-guard-session-id'), id)
    assert.deepEqual([(await service.session(id)).external_source, (await service.events(id)).length], ['derived', 2])
  })
  it('has a pause state and metadata that can be changed', async () => {
    const id = await sessionIdOf({ 'x-guard-session-id': 'changed' })
    assert.equal((await service.session(id)).paused, false)
    const metadata = { task: 'repair' }
    assert.equal((await service.request('PATCH', `/api/sessions/${id}`, { metadata, name: 'Repair' })).status, 200)
    const session = await service.session(id)
    assert.deepEqual([session.metadata, session.name], [metadata, 'Repair'])
  })
})

describe('2.2 agent', () => {
  let service: Service
  before(async () => {
    service = await startService()
  })
  after(() => service[Symbol.asyncDispose]())

  it('is registered through the API, with an identifier', async () => {
    const named = await service.request('POST', '/api/agents', { id: 'builder' })
    assert.equal(named.status, 201)
    assert.equal((named.json as { agent: { id: string } }).agent.id, 'builder')
    const unnamed = await service.request('POST', '/api/agents')
    assert.match((unnamed.json as { agent: { id: string } }).agent.id, /^agent_/)
  })
  it('can carry a key of its own, which tells the gateway whose request it is', async () => {
    const made = await service.request('POST', '/api/agents', { id: 'keyed', project_id: 'shop' })
    const { key } = made.json as { key: string }
    const answer = await service.send(chat, ask, { authorization: `Bearer ${key}` })
    assert.equal(answer.status, 200)
    const { agent_id, project_id } = await service.session(answer.headers.get('x-guard-session-id') ?? '')
    assert.deepEqual([agent_id, project_id], ['keyed', 'shop'])
  })
  it('can be paused', async () => {
    await service.request('POST', '/api/agents', { id: 'stopped' })
    assert.equal((await service.request('POST', '/api/agents/stopped/pause')).status, 200)
    assert.equal((await service.send(chat, ask, { 'x-guard-agent-id': 'stopped' })).status, 409)
  })
})

describe('2.3 Guard policy rule', () => {
  let service: Service
  before(async () => {
    service = await startService()
  })
  after(() => service[Symbol.asyncDispose]())
  const rule = {
    id: 'mine',
    rule_type: 'max_requests',
    threshold: 1,
    window_size: 8,
    action: 'block',
    enabled: true,
  }
  /** The second request in a project under one rule. */
  const second = async (project: string, over: object, mode = 'enforce') => {
    await service.policy({ mode, rules: [{ ...rule, ...over }] }, project)
    const headers = { 'x-guard-project-id': project, 'x-guard-session-id': 'x' }
    await service.send(chat, ask, headers)
    return service.send(chat, [{ user: 'next' }], headers)
  }

  it('keeps id, rule_type, threshold, window_size, action and enabled as they were put', async () => {
    await service.policy({ rules: [rule] }, 'kept')
    const read = await service.request('GET', '/api/policies/kept')
    assert.deepEqual((read.json as { rules: object[] }).rules, [rule])
  })
  it('of an unknown type is stored and never matches', async () => {
    assert.equal((await second('unknown', { rule_type: 'made_up', threshold: 1 })).status, 200)
    const read = await service.request('GET', '/api/policies/unknown')
    const { rules, warnings } = read.json as { rules: { rule_type: string }[]; warnings: { code: string }[] }
    assert.deepEqual([rules[0]?.rule_type, warnings[0]?.code], ['made_up', 'NO_EVALUATOR'])
  })
  it('with the action block blocks in enforce mode, and with another one flags', async () => {
    assert.equal((await second('blocks', {})).status, 429)
    assert.deepEqual(decisionOf(await second('flags', { action: 'flag' })), {
      status: 200,
      decision: 'shadow_flag',
      reason: 'LIMIT_REQUESTS',
    })
  })
  it('with the action block flags in shadow mode', async () => {
    const answer = await second('shadow', {}, 'shadow')
    assert.deepEqual(decisionOf(answer), { status: 200, decision: 'shadow_flag', reason: 'LIMIT_REQUESTS' })
  })
  it('that is not enabled does nothing', async () => {
    assert.equal(decisionOf(await second('disabled', { enabled: false })).decision, 'allow')
  })
  it('of each known type is in the default policy', async () => {
    const { rules } = (await service.request('GET', '/api/policies/nobody')).json as { rules: { rule_type: string }[] }
    assert.deepEqual(
      rules.map(({ rule_type }) => rule_type),
      ['exact_repeat', 'tool_repeat', 'error_retry', 'sequence_repeat', 'max_requests', 'max_tokens'],
    )
  })
  it('that cannot be used is refused with the place', async () => {
    const answer = await service.request('PUT', '/api/policies/p', { rules: [{ ...rule, threshold: 'many' }] })
    assert.deepEqual(
      [answer.status, errorOf(answer).code, errorOf(answer).path],
      [400, 'INVALID_POLICY', '/rules/0/threshold'],
    )
  })
})

describe('2.8 configuration', () => {
  it('is in shadow mode unless default_mode says otherwise', async () => {
    for (const [config, status] of [
      ['', 200],
      ['default_mode: enforce', 429],
    ] as const) {
      await using service = await startService({ config })
      for (let n = 0; n < 2; n++) await service.send(chat, ask)
      assert.equal((await service.send(chat, ask)).status, status)
    }
  })
  it('lets a request choose its mode only with server.allow_mode_header', async () => {
    for (const [config, status] of [
      ['', 200],
      ['server: { allow_mode_header: true }', 429],
    ] as const) {
      await using service = await startService({ config })
      for (let n = 0; n < 2; n++) await service.send(chat, ask)
      assert.equal((await service.send(chat, ask, { 'x-guard-mode': 'enforce' })).status, status)
    }
  })
  it('stores previews only with storage.full_content_logging', async () => {
    for (const logging of [false, true]) {
      await using service = await startService({ storage: `full_content_logging: ${logging}` })
      const answer = await service.send(chat, [{ user: 'please repair it' }])
      const id = answer.headers.get('x-guard-request-id') ?? ''
      const row = await service.gateway.gateway.storage.get('calls', id)
      assert.deepEqual(
        [row?.request_preview, row?.response_preview],
        logging ? ['please repair it', 'Hello there.'] : [null, null],
      )
    }
  })
})
