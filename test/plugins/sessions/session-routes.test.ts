import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { GuardError } from 'guard-gateway/core'
import { type Answer, type House, idOf, list, object, openHouse, sessionOf } from './kit.ts'

const errorCode = (answer: Answer) => [answer.status, object(answer, 'error').code]

describe('sessions over HTTP', () => {
  let house: House
  beforeEach(async () => {
    house = await openHouse()
  })
  afterEach(() => house.close())
  const recorded = async (external: string, project: string, agent?: string): Promise<string> => {
    const headers = { 'x-guard-session-id': external, 'x-guard-project-id': project }
    const call = await house.ask({ ...headers, ...(agent === undefined ? {} : { 'x-guard-agent-id': agent }) })
    await house.settle(call)
    return idOf(call)
  }

  it('shows a session whole, times as text, without detection marks', async () => {
    const id = await recorded('window', 'shop', 'bot')
    assert.deepEqual((await house.http('GET', `/api/sessions/${id}`)).json, {
      session: {
        id,
        project_id: 'shop',
        agent_id: 'bot',
        external_id: 'window',
        external_source: 'x-guard-session-id',
        name: null,
        metadata: {},
        client: 'agent/1.0',
        paused: false,
        paused_at: null,
        pause_reason: null,
        ended_at: null,
        resumed_at: null,
        requests: 0,
        flagged: 0,
        blocked: 0,
        errors: 0,
        input_tokens: 0,
        total_input_tokens: 0,
        cached_input_tokens: 0,
        output_tokens: 0,
        total_tokens: 0,
        cache_read_tokens: 0,
        cost_micro: 0,
        playground: false,
        flagged_at: null,
        flagged_rule_id: null,
        flagged_reason: null,
        flagged_action: null,
        requests_since_flag: 0,
        tokens_since_flag: 0,
        cost_since_flag_micro: 0,
        created_at: '2026-03-01T12:00:00.000Z',
        last_seen_at: '2026-03-01T12:00:00.000Z',
      },
      budgets: [],
    })
  })

  it('finds a session by id, or by external id if one session bears it', async () => {
    const one = await recorded('only-one', 'shop')
    assert.equal(object(await house.http('GET', '/api/sessions/only-one'), 'session').id, one)
    const twins = [await recorded('twin', 'shop'), await recorded('twin', 'kiosk')]
    const answer = await house.http('GET', '/api/sessions/twin')
    assert.deepEqual(errorCode(answer), [409, 'AMBIGUOUS_ID'])
    assert.deepEqual(new Set(object(answer, 'error').known as string[]), new Set(twins))
    assert.deepEqual(errorCode(await house.http('POST', '/api/sessions/twin/pause')), [409, 'AMBIGUOUS_ID'])
    assert.deepEqual(errorCode(await house.http('GET', '/api/sessions/none')), [404, 'SESSION_NOT_FOUND'])
  })

  it('finds a session by external id while its first request is in progress, before anything of it is on record', async () => {
    await recorded('twin', 'kiosk')
    const headers = { 'x-guard-session-id': 'first', 'x-guard-project-id': 'shop' }
    const call = await house.ask(headers)
    assert.equal(object(await house.http('POST', '/api/sessions/first/pause'), 'session').id, idOf(call))
    assert.equal((await house.decide(await house.ask(headers))).reason, 'PAUSED_SESSION')
    await house.ask({ ...headers, 'x-guard-session-id': 'twin' })
    assert.deepEqual(errorCode(await house.http('GET', '/api/sessions/twin')), [409, 'AMBIGUOUS_ID'])
  })

  it('finds a session by external id while its row waits for a storage that fails', async () => {
    const call = await house.ask({ 'x-guard-session-id': 'kept-back' })
    // what the recorder notes once the row is in the queue
    if (call.session !== null) call.session.stored = true
    const found = await house.http('GET', '/api/sessions/kept-back')
    assert.equal(object(found, 'session').id, idOf(call))
    house.disk.failure = new GuardError('STORAGE_UNAVAILABLE')
    assert.deepEqual(errorCode(await house.http('POST', '/api/sessions/kept-back/pause')), [503, 'STORAGE_UNAVAILABLE'])
    house.disk.failure = undefined
    assert.equal((await house.http('POST', '/api/sessions/kept-back/pause')).status, 200)
  })

  it('finds a session by external id and project', async () => {
    const odd = 'a/b?c=d#e %2F \u6f22'
    const url = `/api/sessions/by-external/${encodeURIComponent(odd)}`
    assert.equal(errorCode(await house.http('GET', url))[1], 'SESSION_NOT_FOUND')
    const twins = [
      idOf(await house.ask({ 'x-guard-project-id': 'shop' }, { hints: { conversation: odd } })),
      idOf(await house.ask({ 'x-guard-project-id': 'kiosk' }, { hints: { conversation: odd } })),
    ]
    assert.equal(object(await house.http('GET', `${url}?project_id=kiosk`), 'session').id, twins[1])
    assert.deepEqual(errorCode(await house.http('GET', url)), [409, 'AMBIGUOUS_ID'])
    assert.deepEqual(errorCode(await house.http('GET', `${url}?project=kiosk`)), [400, 'UNKNOWN_FILTER'])
  })

  it('shows the live numbers of a session', async () => {
    const id = await recorded('window', 'shop')
    const call = await house.ask({ 'x-guard-session-id': 'window', 'x-guard-project-id': 'shop' })
    sessionOf(call).row.requests = 3
    for (const url of [`/api/sessions/${id}`, '/api/sessions/by-external/window']) {
      assert.equal(object(await house.http('GET', url), 'session').requests, 3)
    }
  })

  it('lists newest first, by filter and by page', async () => {
    const [a, b, c] = [await recorded('a', 'one', 'bot'), await recorded('b', 'two'), await recorded('c', 'one')]
    await house.http('POST', `/api/sessions/${b}/pause`)
    const ids = async (query: string) =>
      list(await house.http('GET', `/api/sessions?${query}`), 'sessions').map(({ id }) => id)
    assert.deepEqual(await ids(''), [c, b, a])
    assert.deepEqual(await ids('project_id=one'), [c, a])
    assert.deepEqual(await ids('agent_id=bot'), [a])
    assert.deepEqual(await ids('external_id=b'), [b])
    assert.deepEqual(await ids('paused=true'), [b])
    assert.deepEqual(await ids('paused=false&project_id=one'), [c, a])
    const page = await house.http('GET', '/api/sessions?limit=2')
    const cursor = encodeURIComponent(String(page.json.next_cursor))
    assert.deepEqual(await ids(`limit=2&cursor=${cursor}`), [a])
    assert.deepEqual(errorCode(await house.http('GET', `/api/sessions?project_id=one&cursor=${cursor}`)), [
      400,
      'INVALID_CURSOR',
    ])
  })

  it('lists sessions whose first request is in progress before all others, on the first page', async () => {
    const [a, b] = [await recorded('a', 'one'), await recorded('b', 'two')]
    const begin = (external: string, project: string) =>
      house.ask({ 'x-guard-session-id': external, 'x-guard-project-id': project })
    const early = await begin('c', 'one')
    const [c, d] = [idOf(early), idOf(await begin('d', 'two'))]
    const page = (query: string) => house.http('GET', `/api/sessions?${query}`)
    const ids = async (query: string) => list(await page(query), 'sessions').map(({ id }) => id)
    assert.deepEqual(await ids(''), [d, c, b, a])
    assert.deepEqual(await ids('project_id=one&paused=false'), [c, a])
    assert.deepEqual(await ids('paused=true'), [])
    assert.deepEqual(await ids('external_id=d'), [d])
    for (const [limit, first] of [
      [3, [d, c, b]],
      // where they fill the page it goes one further: no cursor could lead back to them
      [2, [d, c, b]],
      [1, [d, b]],
    ] as const) {
      assert.deepEqual(await ids(`limit=${limit}`), first)
      const cursor = encodeURIComponent(String((await page(`limit=${limit}`)).json.next_cursor))
      assert.deepEqual(await ids(`limit=${limit}&cursor=${cursor}`), [a])
    }
    await house.settle(early)
    assert.deepEqual(await ids(''), [d, c, b, a])
  })

  it('refuses filters and limits that there are not', async () => {
    const answer = await house.http('GET', '/api/sessions?colour=red')
    assert.deepEqual(errorCode(answer), [400, 'UNKNOWN_FILTER'])
    assert.match(
      String(object(answer, 'error').message),
      /project_id, agent_id, external_id, paused, rule_id, playground, limit, cursor/,
    )
    for (const query of ['limit=0', 'limit=201', 'limit=x', 'paused=maybe']) {
      assert.equal((await house.http('GET', `/api/sessions?${query}`)).status, 400, query)
    }
  })

  it('changes name and metadata, durably, and nothing else', async () => {
    const id = await recorded('window', 'shop')
    const from = house.disk.syncs.length
    const change = { name: 'The long one', metadata: { ticket: 'A-1', tags: ['x'] } }
    const answer = object(await house.http('PATCH', `/api/sessions/${id}`, change), 'session')
    assert.deepEqual([answer.name, answer.metadata], [change.name, change.metadata])
    assert.deepEqual(house.disk.syncs.slice(from), [true])
    const cleared = object(await house.http('PATCH', `/api/sessions/${id}`, { name: null }), 'session')
    assert.deepEqual([cleared.name, cleared.metadata], [null, change.metadata])
    house = await house.restart()
    assert.deepEqual(object(await house.http('GET', `/api/sessions/${id}`), 'session').metadata, change.metadata)
  })

  it('writes nothing for a change that changes nothing', async () => {
    const id = await recorded('window', 'shop')
    const from = house.disk.syncs.length
    assert.equal((await house.http('PATCH', `/api/sessions/${id}`, {})).status, 200)
    assert.equal(house.disk.syncs.length, from)
  })

  for (const [what, body, path] of [
    ['a member that is not changeable', { agent_id: 'x' }, '/agent_id'],
    ['an unknown member, its name escaped', { 'a/b~c': 1 }, '/a~1b~0c'],
    ['a number in metadata that JSON does not keep', { metadata: { list: [{ n: 2 ** 60 }] } }, '/metadata/list/0/n'],
    ['metadata over 64 KiB', { metadata: { text: 'x'.repeat(65_536) } }, '/metadata'],
    [
      'metadata deeper than 8 levels',
      { metadata: { a: { b: { c: { d: { e: { f: { g: { h: {} } } } } } } } } },
      '/metadata',
    ],
  ] as const) {
    it(`refuses ${what}`, async () => {
      const id = await recorded('window', 'shop')
      const answer = await house.http('PATCH', `/api/sessions/${id}`, body)
      assert.deepEqual([...errorCode(answer), object(answer, 'error').path], [400, 'INVALID_REQUEST', path])
      assert.deepEqual(object(await house.http('GET', `/api/sessions/${id}`), 'session').metadata, {})
    })
  }

  it('refuses a name over 200 characters and metadata that is no object', async () => {
    const id = await recorded('window', 'shop')
    for (const body of [{ name: 'x'.repeat(201) }, { metadata: 'text' }]) {
      assert.equal((await house.http('PATCH', `/api/sessions/${id}`, body)).status, 400)
    }
    const deep = { metadata: { a: { b: { c: { d: { e: { f: { g: {} } } } } } } } }
    assert.equal((await house.http('PATCH', `/api/sessions/${id}`, deep)).status, 200)
  })

  it('hides secrets in name and metadata at once', async () => {
    const id = await recorded('window', 'shop')
    const secret = 'ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789'
    const { text } = await house.http('PATCH', `/api/sessions/${id}`, {
      name: secret,
      metadata: { api_key: 'hunter22', note: secret },
    })
    assert.ok(!text.includes(secret) && !text.includes('hunter22'))
  })

  it('tells the health page how much it holds', async () => {
    await recorded('window', 'shop', 'bot')
    await house.http('POST', '/api/agents', { id: 'keyed' })
    assert.deepEqual(house.gateway.health.get('sessions')?.(), { in_memory: 1, agents_in_memory: 2, agent_keys: 1 })
  })
})
