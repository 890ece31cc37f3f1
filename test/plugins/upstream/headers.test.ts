import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { Gateway } from 'guard-gateway/core'
import { foundation } from 'guard-gateway/presets/foundation'
import { headerRules, type Outbound, upstreamRequestHeaders } from '../../../plugins/upstream/headers.ts'

const KEY = 'the-gateway-key-0123456789'
const AGENT = `gak_${'Ab3-_'.repeat(9).slice(0, 43)}`
const { secrets } = new Gateway().use(...foundation())
secrets.add(KEY)

const rules = headerRules('api.example', 'auto', undefined, {})
const outbound = (raw: readonly string[], more: Partial<Outbound> = {}): Outbound => ({
  raw,
  login: [],
  style: 'chat_completions',
  length: 2,
  ...more,
})
const up = (raw: readonly string[], more: Partial<Outbound> = {}, by = rules): string[] =>
  upstreamRequestHeaders(by, outbound(raw, more), secrets)
const always = ['accept-encoding', 'identity', 'content-length', '2']

describe('headers on their way up', () => {
  it('are judged again for each upstream, and after one more secret, though their list is the same', () => {
    const own = new Gateway().use(...foundation()).secrets
    const raw = Object.freeze(['x-a', 'a', 'x-b', 'a-later-secret', 'provider-version', '2'])
    const [first, second] = [
      headerRules('a', 'none', undefined, {}),
      headerRules('b', 'none', undefined, { 'x-a': 'c' }),
    ]
    const sent = (by: typeof first, style: string) =>
      upstreamRequestHeaders(by, outbound(raw, { style, length: undefined }), own)
    const identity = ['accept-encoding', 'identity']
    assert.deepEqual(sent(first, 'messages'), ['host', 'a', ...raw, 'anthropic-version', '2', ...identity])
    assert.deepEqual(sent(first, 'responses'), ['host', 'a', ...raw, ...identity])
    assert.deepEqual(sent(second, 'responses'), ['host', 'b', ...raw.slice(2), ...identity, 'x-a', 'c'])
    own.add('a-later-secret')
    assert.deepEqual(sent(first, 'responses'), ['host', 'a', 'x-a', 'a', 'provider-version', '2', ...identity])
  })
  it('keep order, spelling and doubles of what passes', () => {
    const raw = [
      'User-Agent',
      'codex/1',
      'X-Stainless-Lang',
      'js',
      'anthropic-beta',
      'a',
      'Anthropic-Beta',
      'b',
      'session-id',
      's',
    ]
    assert.deepEqual(up(raw), ['host', 'api.example', ...raw, ...always])
  })
  for (const name of [
    'Host',
    'Connection',
    'Keep-Alive',
    'Proxy-Authorization',
    'Proxy-Connection',
    'TE',
    'Trailer',
    'Transfer-Encoding',
    'Upgrade',
    'Expect',
    'Content-Length',
    'Authorization',
    'X-Api-Key',
    'Api-Key',
    'ApiKey',
    'x-goog-api-key',
    'X-Auth-Token',
    'X-Access-Token',
    'X-Other-Api-Key',
    'my_api_key',
    'x-my-secret',
    'x-my-password',
    'Cookie',
    'Forwarded',
    'Via',
    'X-Forwarded-For',
    'X-Forwarded-Anything',
    'X-Real-IP',
    'X-Guard-Session-Id',
    'X-Guard-Other',
    'X-Client-Session-Id',
    'Accept-Encoding',
  ]) {
    it(`drop ${name}`, () =>
      assert.deepEqual(up(['a', '1', name, 'x', 'b', '2']), ['host', 'api.example', 'a', '1', 'b', '2', ...always]))
  }
  it('drop what a connection header names', () => {
    assert.deepEqual(up(['Connection', 'close, X-Mine', 'x-mine', '1', 'X-Yours', '2']), [
      'host',
      'api.example',
      'X-Yours',
      '2',
      ...always,
    ])
  })
  for (const [name, value] of [
    ['bare', KEY],
    ['behind a scheme', `Token ${KEY}`],
    ['inside other text', `a=${KEY};b`],
    ['in percent signs', encodeURIComponent(KEY).replaceAll('-', '%2d')],
    ['in Basic', `Basic ${Buffer.from(`user:${KEY}`).toString('base64')}`],
    ['an agent key', AGENT],
    ['an agent key in Basic', `Basic ${Buffer.from(`user:${AGENT}`).toString('base64')}`],
    ['an agent key in percent signs', AGENT.replaceAll('_', '%5F')],
  ] as const) {
    it(`drop a value that holds a key of ours: ${name}`, () => {
      assert.deepEqual(up(['x-odd', value]), ['host', 'api.example', ...always])
      const passing = headerRules('api.example', 'passthrough', undefined, {})
      assert.deepEqual(up(['x-odd', value], { login: ['x-token', value] }, passing), ['host', 'api.example', ...always])
    })
  }
  it('carry the credential of the upstream, by style or as configured, and win over the client', () => {
    const by = (auth: 'auto' | 'bearer' | 'x-api-key' | 'none') => headerRules('h', auth, 'sk-1', {})
    const added = (auth: 'auto' | 'bearer' | 'x-api-key' | 'none', key_header?: string) =>
      up([], { key_header }, by(auth)).slice(2 + always.length)
    assert.deepEqual(added('auto'), ['authorization', 'Bearer sk-1'])
    assert.deepEqual(added('auto', 'x-api-key'), ['x-api-key', 'sk-1'])
    assert.deepEqual(added('auto', 'x-goog-api-key'), ['x-goog-api-key', 'sk-1'])
    assert.deepEqual(added('bearer', 'x-api-key'), ['authorization', 'Bearer sk-1'])
    assert.deepEqual(added('x-api-key', 'x-goog-api-key'), ['x-api-key', 'sk-1'])
    assert.deepEqual(added('none', 'x-api-key'), [])
    const own = headerRules('h', 'auto', 'sk-1', { 'X-Org': 'ours' })
    assert.deepEqual(up(['x-org', 'theirs', 'a', '1'], {}, own), [
      'host',
      'h',
      'a',
      '1',
      ...always,
      'authorization',
      'Bearer sk-1',
      'X-Org',
      'ours',
    ])
  })
  for (const [name, value] of [
    ['Host', 'virtual.example'],
    ['Accept-Encoding', 'gzip'],
    ['Authorization', 'Custom ours'],
    ['X-Api-Key', 'ours'],
    ['Anthropic-Version', '2024-01-01'],
    ['Content-Type', 'application/json; charset=utf-8'],
  ] as const)
    it(`say ${name} once where the upstream sets it, whoever else would`, () => {
      const raw = ['provider-version', '2023-06-01', 'content-type', 'application/json']
      const login = ['authorization', 'Bearer user-login-token', 'x-api-key', 'user-key-000']
      for (const auth of ['auto', 'bearer', 'passthrough'] as const)
        for (const style of ['messages', 'responses']) {
          const sent = up(raw, { style, login }, headerRules('h', auth, 'sk-1', { [name]: value }))
          const values = sent.filter((_, at) => at % 2 === 1 && sent[at - 1]?.toLowerCase() === name.toLowerCase())
          assert.deepEqual(values, [value], `${auth} ${style}`)
        }
    })
  it("carry the client's login only where the upstream passes logins through", () => {
    const login = ['Authorization', 'Bearer user-login-token', 'X-Api-Key', 'user-key-000']
    assert.ok(!up([], { login }).includes('Bearer user-login-token'))
    const passing = headerRules('h', 'passthrough', 'unused', {})
    assert.deepEqual(up([], { login }, passing), ['host', 'h', ...login, ...always])
    assert.deepEqual(up(['Connection', 'x-api-key'], { login }, passing), [
      'host',
      'h',
      ...login.slice(0, 2),
      ...always,
    ])
  })
  it('give a provider-version its other name for Messages, unless it is there already', () => {
    const version = ['provider-version', '2023-06-01']
    assert.deepEqual(up(version, { style: 'messages' }).slice(2, 6), [...version, 'anthropic-version', '2023-06-01'])
    assert.equal(
      up([...version, 'Anthropic-Version', 'x'], { style: 'messages' }).filter(
        (entry) => entry.toLowerCase() === 'anthropic-version',
      ).length,
      1,
    )
    assert.equal(
      up(['Anthropic-Version', 'x', ...version], { style: 'messages' }).filter(
        (entry) => entry.toLowerCase() === 'anthropic-version',
      ).length,
      1,
    )
    assert.ok(!up(version).includes('anthropic-version'))
  })
  it('never hold a secret, and keep every other header as it came (any headers)', () => {
    const token = fc.stringMatching(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,20}$/)
    const value = fc.oneof(fc.stringMatching(/^[!-~]{0,30}$/), fc.constantFrom(KEY, `x ${KEY}`, `Bearer ${AGENT}`))
    fc.assert(
      fc.property(fc.array(fc.tuple(token, value), { maxLength: 12 }), (pairs) => {
        const sent = up(pairs.flat())
        const text = sent.join('\n')
        assert.ok(!text.includes(KEY) && !text.includes(AGENT))
        const kept = sent.slice(2, sent.length - always.length)
        let at = 0
        for (let index = 0; index < kept.length; index += 2) {
          at =
            pairs.findIndex(([name, held], place) => place >= at && name === kept[index] && held === kept[index + 1]) +
            1
          assert.ok(at > 0)
        }
      }),
      { seed: 11, numRuns: 300 },
    )
  })
})
