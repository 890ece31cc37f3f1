import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sha256 } from '#lib/ids'
import { ask, chatBody, jsonOf, KEY, type Started, start, styles } from './kit.ts'

const agentKey = (letter: string): string => `gak_${letter.repeat(43)}`

describe('keys', () => {
  let running: Started
  before(async () => {
    running = await start()
    for (const [letter, agent_id] of [
      ['a', 'builder'],
      ['b', 'reviewer'],
    ] as const) {
      running.gateway.keys.add({ id: `gk_${letter}`, agent_id, hash: sha256(agentKey(letter)) })
    }
  })
  after(() => running[Symbol.asyncDispose]())

  const accepted: readonly (readonly [string, Record<string, string>, string | null])[] = [
    ['the gateway key as bearer token', { authorization: `Bearer ${KEY}` }, null],
    ['the scheme in any case', { authorization: `bEARER ${KEY}` }, null],
    ['the gateway key in x-api-key', { 'x-api-key': KEY }, null],
    ['the gateway key in x-guard-key', { 'x-guard-key': KEY }, null],
    ['the same key in both usual places', { authorization: `Bearer ${KEY}`, 'x-api-key': KEY }, null],
    ["one valid key beside somebody else's", { authorization: 'Bearer sk-of-the-user-000000', 'x-api-key': KEY }, null],
    ["an agent's key", { authorization: `Bearer ${agentKey('a')}` }, 'builder'],
    [
      "an agent's key before the gateway key",
      { authorization: `Bearer ${KEY}`, 'x-api-key': agentKey('a') },
      'builder',
    ],
    ["one agent's key twice", { authorization: `Bearer ${agentKey('b')}`, 'x-guard-key': agentKey('b') }, 'reviewer'],
  ]
  for (const [name, headers, agent] of accepted) {
    it(`takes ${name}`, async () => {
      const got = await ask(running.port, { key: null, headers, body: chatBody })
      assert.equal(got.status, 200, got.body.toString())
      assert.equal(running.settled.at(-1)?.call.identity.agent_id, agent)
    })
  }

  const refused: readonly (readonly [string, Record<string, string>])[] = [
    ['no key', {}],
    ['a wrong key', { authorization: 'Bearer wrong' }],
    ['a truncated key', { authorization: `Bearer ${KEY.slice(0, -1)}` }],
    ['a key with a blank at its end inside', { 'x-api-key': `${KEY} x` }],
    ['two blanks behind the scheme', { authorization: `Bearer  ${KEY}` }],
    ['another scheme', { authorization: `Basic ${Buffer.from(`x:${KEY}`).toString('base64')}` }],
    ['a key without its scheme', { authorization: KEY }],
    ['an empty key', { 'x-api-key': '' }],
    ['a key in a cookie', { cookie: `key=${KEY}` }],
    ['an agent key that nobody issued', { 'x-api-key': agentKey('c') }],
  ]
  for (const [name, headers] of refused) {
    it(`refuses ${name}, without repeating it`, async () => {
      const before = running.provider.requests.length
      for (const [path, body] of styles) {
        const got = await ask(running.port, { path, key: null, headers, body })
        assert.equal(got.status, 401)
        assert.equal(got.headers['www-authenticate'], 'Bearer realm="guard"')
        assert.equal(jsonOf(got).error.code, 'UNAUTHORIZED')
        assert.equal(jsonOf(got).error.type, 'authentication_error')
        assert.match(String(jsonOf(got).error.message), /Authorization: Bearer .*x-api-key: .*x-guard-key: .*a restart/)
        for (const value of Object.values(headers)) if (value !== '') assert.ok(!got.body.toString().includes(value))
      }
      assert.equal(running.provider.requests.length, before)
    })
  }

  it('says of the keys of two agents that it is these', async () => {
    const headers = { authorization: `Bearer ${agentKey('a')}`, 'x-api-key': agentKey('b') }
    const got = await ask(running.port, { key: null, headers, body: chatBody })
    assert.deepEqual([got.status, jsonOf(got).error.code], [401, 'UNAUTHORIZED'])
    assert.match(String(jsonOf(got).error.message), /keys of two agents/)
  })

  it('a wrong key a hundred times locks nobody out', async () => {
    for (let turn = 0; turn < 100; turn++)
      assert.equal((await ask(running.port, { key: `wrong-${turn}`, body: chatBody })).status, 401)
    assert.equal((await ask(running.port, { body: chatBody })).status, 200)
  })

  it('a revoked key is refused at once', async () => {
    const key = agentKey('d')
    running.gateway.keys.add({ id: 'gk_d', agent_id: 'gone', hash: sha256(key) })
    assert.equal((await ask(running.port, { key, body: chatBody })).status, 200)
    running.gateway.keys.remove(sha256(key))
    assert.equal((await ask(running.port, { key, body: chatBody })).status, 401)
  })

  for (const path of [`/v1/chat/completions?key=${KEY}`, `/v1/chat/completions?key=${agentKey('e')}`, `/v1/${KEY}`]) {
    it(`a key in the address is refused and not repeated: ${path.replace(KEY, '<key>')}`, async () => {
      const got = await ask(running.port, { path, body: chatBody })
      assert.deepEqual([got.status, jsonOf(got).error.code], [400, 'CREDENTIAL_IN_URL'])
      assert.ok(!got.body.includes(KEY) && !got.body.includes(agentKey('e')))
    })
  }

  it('no key of ours reaches the provider, whatever header it is in; the call holds none either', async () => {
    const basic = Buffer.from(`me:${KEY}`).toString('base64')
    const headers = {
      'x-api-key': KEY,
      'x-guard-key': agentKey('a'),
      'x-custom': KEY,
      'x-encoded': encodeURIComponent(`${KEY}/`),
      'x-basic': `Basic ${basic}`,
      'x-agent': `token ${agentKey('a')}`,
      cookie: `a=${KEY}`,
      'x-mine': 'stays',
    }
    assert.equal((await ask(running.port, { headers, body: chatBody })).status, 200)
    const sent = running.provider.last.headers.join('\n')
    for (const secret of [KEY, agentKey('a'), basic]) assert.ok(!sent.includes(secret), sent)
    assert.match(sent, /x-mine\nstays/)
    const call = JSON.stringify(running.settled.at(-1)?.call)
    for (const secret of [KEY, agentKey('a'), basic]) assert.ok(!call.includes(secret))
  })
})
