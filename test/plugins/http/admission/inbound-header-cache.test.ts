import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { describe, it } from 'node:test'
import { Gateway } from 'guard-gateway/core'
import { foundation } from 'guard-gateway/presets/foundation'
import { cachedInboundHeaders } from '../../../../plugins/http/admission/inbound-header-cache.ts'

const KEY = 'the-gateway-key-0123456789'
const said = ['Host', 'localhost', 'Authorization', `Bearer ${KEY}`, 'User-Agent', 'a/1', 'Content-Length', '2']
const connection = () => ({}) as Socket
const known = () => {
  const gateway = new Gateway().use(...foundation())
  gateway.secrets.add(KEY)
  gateway.keys.setGateway(KEY)
  const socket = connection()
  const hear = (rawHeaders: readonly string[], shown = 1, from = socket) =>
    cachedInboundHeaders(gateway, { socket: from, rawHeaders: [...rawHeaders] }, shown)
  return { gateway, hear }
}
const changed = (name: string, value: string) => said.map((text, index) => (said[index - 1] === name ? value : text))

describe('headers that a connection says again', () => {
  it('are received as one frozen object, whatever key is shown and however long the body is', () => {
    const { hear } = known()
    const first = hear(said)
    assert.deepEqual({ ...first.headers }, { host: 'localhost', 'user-agent': 'a/1' })
    assert.deepEqual(first.raw, ['Host', 'localhost', 'User-Agent', 'a/1'])
    for (const again of [said, changed('Content-Length', '3'), changed('Authorization', 'Bearer other')])
      assert.equal(hear(again), first)
    assert.ok(Object.isFrozen(first.headers) && Object.isFrozen(first.raw))
    assert.ok(!JSON.stringify(first.texts).includes(KEY))
  })
  it('are received anew where something else is said, or elsewhere', () => {
    const { hear } = known()
    hear(said)
    assert.equal(hear(changed('User-Agent', 'b/1')).headers['user-agent'], 'b/1')
    hear(said)
    assert.deepEqual(hear(said.map((text) => (text === 'User-Agent' ? 'X-Agent' : text))).headers['x-agent'], 'a/1')
    const first = hear(said)
    assert.notEqual(hear([...said, 'x-more', '1']), first)
    assert.notEqual(hear(said, 1, connection()), hear(said))
  })
  it('are received anew after one more secret', () => {
    const { gateway, hear } = known()
    const held = changed('User-Agent', 'a-later-secret')
    assert.equal(hear(held).headers['user-agent'], 'a-later-secret')
    gateway.secrets.add('a-later-secret')
    assert.equal(hear(held).headers['user-agent'], undefined)
    assert.equal(hear(held).texts, undefined)
  })
  it('are not kept where a login may be among them', () => {
    const { hear } = known()
    const login = changed('Authorization', 'Bearer mine')
    assert.deepEqual(hear(said, 2).login, [])
    assert.deepEqual(hear(login, 2).login, ['Authorization', 'Bearer mine'])
    hear(said)
    assert.deepEqual(hear(login, 2).login, ['Authorization', 'Bearer mine'])
    const cookie = [...said, 'api-key', 'one']
    assert.deepEqual(hear(cookie).login, ['api-key', 'one'])
    assert.deepEqual(hear([...said, 'api-key', 'two']).login, ['api-key', 'two'])
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
