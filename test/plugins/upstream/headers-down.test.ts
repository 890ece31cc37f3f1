import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Gateway } from 'guard-gateway/core'
import { foundation } from 'guard-gateway/presets/foundation'
import { clientResponseHeaders } from '../../../plugins/upstream/headers.ts'

const KEY = 'the-gateway-key-0123456789'
const { secrets } = new Gateway().use(...foundation())
secrets.add(KEY)

describe('headers on their way down', () => {
  it('pass in order, those that clients rely on among them', () => {
    const raw = [
      'Request-Id',
      'r',
      'x-request-id',
      'r',
      'Retry-After',
      '3',
      'retry-after-ms',
      '9',
      'x-should-retry',
      'true',
      'anthropic-ratelimit-tokens',
      '1',
      'x-ratelimit-limit',
      '2',
      'openai-processing-ms',
      '4',
      'anthropic-organization-id',
      'o',
      'Content-Length',
      '5',
      'X',
      '1',
      'X',
      '2',
    ]
    assert.deepEqual(clientResponseHeaders(raw, secrets), raw)
    assert.ok(!clientResponseHeaders(raw, secrets, false).includes('Content-Length'))
  })
  for (const name of [
    'Connection',
    'Keep-Alive',
    'Transfer-Encoding',
    'Trailer',
    'Upgrade',
    'Proxy-Authenticate',
    'Set-Cookie',
    'set-cookie2',
    'Access-Control-Allow-Origin',
    'X-Guard-Decision',
    'x-guard-request-id',
    'Alt-Svc',
    'Clear-Site-Data',
    'Strict-Transport-Security',
  ]) {
    it(`drop ${name}`, () => assert.deepEqual(clientResponseHeaders(['a', '1', name, 'x'], secrets), ['a', '1']))
  }
  it('drop what a connection header names, and values that hold a secret', () => {
    assert.deepEqual(
      clientResponseHeaders(['connection', 'x-mine', 'X-Mine', '1', 'x-echo', `you sent ${KEY}`, 'a', '1'], secrets),
      ['a', '1'],
    )
  })
})
