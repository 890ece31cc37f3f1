import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Gateway } from 'guard-gateway/core'
import { foundation } from 'guard-gateway/presets/foundation'
import { readInboundHeaders } from '../../../../plugins/http/admission/inbound-headers.ts'

const KEY = 'the-gateway-key-0123456789'
const said = ['Host', 'localhost', 'Authorization', `Bearer ${KEY}`, 'User-Agent', 'a/1', 'Content-Length', '2']
const known = () => {
  const gateway = new Gateway().use(...foundation())
  gateway.secrets.add(KEY)
  gateway.keys.setGateway(KEY)
  return { gateway, hear: (rawHeaders: readonly string[], shown = 1) => readInboundHeaders(gateway, rawHeaders, shown) }
}
const changed = (name: string, value: string) => said.map((text, index) => (said[index - 1] === name ? value : text))

describe('the headers of a request', () => {
  it('are received without the key that is shown and the length of the body', () => {
    const { headers, raw, login } = known().hear(said)
    assert.deepEqual({ ...headers }, { host: 'localhost', 'user-agent': 'a/1' })
    assert.deepEqual(raw, ['Host', 'localhost', 'User-Agent', 'a/1'])
    assert.deepEqual(login, [])
  })
  it('hold nothing in which a secret stands', () => {
    const { gateway, hear } = known()
    const held = changed('User-Agent', 'a-later-secret')
    assert.equal(hear(held).headers['user-agent'], 'a-later-secret')
    gateway.secrets.add('a-later-secret')
    assert.equal(hear(held).headers['user-agent'], undefined)
  })
  it('hold logins apart', () => {
    const { hear } = known()
    assert.deepEqual(hear(said, 2).login, [])
    assert.deepEqual(hear(changed('Authorization', 'Bearer mine'), 2).login, ['Authorization', 'Bearer mine'])
    assert.deepEqual(hear([...said, 'api-key', 'one']).login, ['api-key', 'one'])
  })
  it('hold a login of another scheme than that of keys, beside the one key that is shown', () => {
    const { hear } = known()
    const basic = (text: string) => ['Authorization', `Basic ${Buffer.from(text).toString('base64')}`]
    const asked = (login: readonly string[]) => hear(['Host', 'localhost', 'X-Guard-Key', KEY, ...login])
    for (const login of [basic('me:password'), basic('me:word'), ['authorization', 'Token mine']])
      assert.deepEqual(asked(login).login, login)
    assert.deepEqual(asked(basic(`me:${KEY}`)).login, [])
  })
})
