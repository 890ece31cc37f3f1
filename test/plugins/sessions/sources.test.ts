import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { aReading, settled } from '../../kit/settled.ts'
import { code, type House, openHouse, sessionOf } from './kit.ts'

const UUID = '0b6d8a52-7f0c-4d8e-9f57-1c2d3e4f5a6b'
/** Each source with an id of its own, in order of precedence; the last one is found by what the session answered before. */
const headers = [
  'x-guard-session-id',
  'x-client-session-id',
  'x-claude-code-session-id',
  'session-id',
  'session_id',
  'x-session-id',
  'x-session-affinity',
  'agent-session-id',
]
const order = [
  'x-guard-session-id',
  'x-client-session-id',
  'x-claude-code-session-id',
  'metadata.user_id',
  'client_metadata.session_id',
  'session-id',
  'session_id',
  'x-session-id',
  'x-session-affinity',
  'agent-session-id',
  'conversation',
  'prompt_cache_key',
]
const idFor = (source: string) => (source === 'prompt_cache_key' ? UUID : `id of ${source}`)
const hintFor = (source: string) => (source === 'metadata.user_id' ? `user_a_session_${idFor(source)}` : idFor(source))

describe('where a session id comes from', () => {
  let house: House
  before(async () => {
    house = await openHouse()
  })
  after(() => house.close())

  const askWith = (sources: readonly string[]) => {
    const named = sources.filter((source) => headers.includes(source)).map((source) => [source, idFor(source)])
    const hinted = sources.filter((source) => !headers.includes(source)).map((source) => [source, hintFor(source)])
    return house.ask(Object.fromEntries(named), { hints: Object.fromEntries(hinted), transport: 'websocket' })
  }

  for (const [place, source] of order.entries()) {
    it(`takes ${source} before all that come later`, async () => {
      const { row } = sessionOf(await askWith(order.slice(place)))
      assert.equal(row.external_source, source)
      assert.equal(row.external_id, idFor(source))
    })
  }

  it('takes the session in a request of a socket only there: elsewhere its headers say it', async () => {
    const hints = { 'client_metadata.session_id': 'in-body' }
    const { row } = sessionOf(await house.ask({ 'session-id': 'in-head' }, { hints }))
    assert.deepEqual([row.external_source, row.external_id], ['session-id', 'in-head'])
  })

  it('takes the request for a title as part of its session', async () => {
    const first = sessionOf(await house.ask({ 'x-session-id': 'ses_de2eda722ffe' }))
    const title = sessionOf(await house.ask({ 'x-session-id': 'title-ses_de2eda722ffe' }))
    assert.equal(title.row.id, first.row.id)
    const own = sessionOf(await house.ask({ 'x-session-id': 'title-of-my-own' }))
    assert.equal(own.row.external_id, 'title-of-my-own')
  })

  it('follows a known response only when nothing names a session', async () => {
    const first = await house.ask({ 'session-id': 'window' })
    await house.settle(first, 'resp_first')
    const next = await house.ask({}, { previous_response_id: 'resp_first' })
    assert.equal(next.session, first.session)
    const other = await house.ask({ 'session-id': 'other window' }, { previous_response_id: 'resp_first' })
    assert.equal(sessionOf(other).row.external_id, 'other window')
  })

  it('derives a session when the response is unknown', async () => {
    const call = await house.ask({}, { previous_response_id: 'resp_nobody_knows' })
    assert.equal(sessionOf(call).row.external_source, 'derived')
  })

  it('follows no reply of a style in which none can be named', async () => {
    const first = await house.ask({ 'session-id': 'window' }, { style: 'messages' })
    await house.gateway.hooks.settle.promise(settled({ call: first, reading: aReading({ response_id: 'msg_7' }) }))
    const next = await house.ask({}, { previous_response_id: 'msg_7' })
    assert.equal(sessionOf(next).row.external_source, 'derived')
  })

  it('does not follow a response into another project', async () => {
    const first = await house.ask({ 'session-id': 'window', 'x-guard-project-id': 'one' })
    await house.settle(first, 'resp_of_one')
    const other = await house.ask({ 'x-guard-project-id': 'two' }, { previous_response_id: 'resp_of_one' })
    assert.equal(sessionOf(other).row.external_source, 'derived')
    assert.notEqual(other.session, first.session)
  })

  for (const header of ['x-guard-session-id', 'x-client-session-id']) {
    for (const [what, value] of [
      ['empty', ''],
      ['blank', '   '],
      ['too long', 'x'.repeat(513)],
      ['a control character', 'a\u0007b'],
      ['a line end', 'a\r\nset-cookie: b'],
      ['a change of writing direction', 'a\u202eb'],
      [
        'a credential',
        'sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGhIjKlMnOpQrStUvAA',
      ],
    ] as const) {
      it(`refuses ${header} that is ${what}, without repeating it`, async () => {
        await assert.rejects(house.ask({ [header]: value, 'session-id': 'good' }), (error) => {
          assert.ok(code('INVALID_HEADER')(error))
          assert.ok(error instanceof Error && error.message.includes(header))
          assert.ok(value.trim() === '' || !error.message.includes(value))
          return true
        })
      })
    }
  }

  for (const [place, source] of order.slice(0, -1).entries()) {
    const suspect = `test_${UUID.slice(0, -2)}${10 + place}`
    it(`keeps an id of ${source} that looks like a secret under a hash`, async () => {
      const value = source === 'metadata.user_id' ? `user_a_session_${suspect}` : suspect
      const ask = () =>
        headers.includes(source)
          ? house.ask({ [source]: value })
          : house.ask({}, { hints: { [source]: value }, transport: 'websocket' })
      const call = await ask()
      const { row } = sessionOf(call)
      assert.equal(row.external_source, source)
      assert.match(row.external_id ?? '', /^id_[a-z2-7]{24}$/)
      assert.equal((await ask()).session, call.session)
      await house.settle(call)
      for (const path of [`by-external/${suspect}`, suspect]) {
        const { status, text } = await house.http('GET', `/api/sessions/${path}`)
        assert.deepEqual([status, text.includes(row.id), text.includes(suspect)], [200, true, false], path)
      }
    })
  }

  it('passes over ids of other sources that cannot be used', async () => {
    const long = 'x'.repeat(513)
    const call = await house.ask(
      { 'x-claude-code-session-id': long, 'session-id': '\u0000', session_id: ' ', 'x-session-id': 'good' },
      { hints: { 'metadata.user_id': `_session_${long}` } },
    )
    assert.equal(sessionOf(call).row.external_source, 'x-session-id')
  })

  it('takes 512 characters of any writing', async () => {
    const name = `${'\u6f22'.repeat(511)}\u{1f980}`
    assert.equal(sessionOf(await house.ask({}, { hints: { conversation: name } })).row.external_id, name)
  })

  for (const [user, found] of [
    ['{"device_id":"d","session_id":"s-json"}', 's-json'],
    ['user_1_account__session_s-old', 's-old'],
    ['user_session_a_session_s-last', 's-last'],
    ['{"device_id":"d"}', undefined],
    ['{"session_id":7}', undefined],
    ['{"session_id":', undefined],
    ['{"__proto__":{"session_id":"x"}}', undefined],
    ['plain-user', undefined],
    ['', undefined],
  ] as const) {
    it(`reads ${user === '' ? 'an empty user id' : user} as ${found ?? 'no session'}`, async () => {
      const { row } = sessionOf(await house.ask({}, { hints: { 'metadata.user_id': user } }))
      assert.equal(row.external_source, found === undefined ? 'derived' : 'metadata.user_id')
      if (found !== undefined) assert.equal(row.external_id, found)
    })
  }

  for (const [key, counts] of [
    [UUID, true],
    ['ses_1', true],
    ['sess_1', true],
    ['thread_1', true],
    ['conv_1', true],
    ['my-app', false],
    ['ses_', false],
    [`${UUID}-v2`, false],
  ] as const) {
    it(`${counts ? 'counts' : 'does not count'} the cache key ${key} as a session`, async () => {
      const { row } = sessionOf(await house.ask({}, { hints: { prompt_cache_key: key } }))
      assert.equal(row.external_source === 'prompt_cache_key', counts)
    })
  }

  it('never takes other ids of the request for a session', async () => {
    const call = await house.ask(
      { 'x-client-request-id': UUID, 'x-request-id': UUID },
      { hints: { user: UUID, safety_identifier: UUID } },
    )
    assert.equal(sessionOf(call).row.external_source, 'derived')
  })
})
