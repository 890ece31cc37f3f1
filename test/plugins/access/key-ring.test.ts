import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newKey, sha256 } from '#lib/ids'
import { KeyRing } from '../../../plugins/access/key-ring.ts'

const keys = (): KeyRing => {
  const made = new KeyRing()
  made.setGateway('gateway-key')
  made.add({ id: 'gk_1', agent_id: 'one', hash: sha256('key-of-one') })
  made.add({ id: 'gk_2', agent_id: 'two', hash: sha256('key-of-two') })
  return made
}

describe('keys', () => {
  it('tell the gateway key and agents apart', () => {
    assert.deepEqual(keys().identify(['gateway-key']), { agent_id: null, key_id: null })
    assert.deepEqual(keys().identify(['key-of-one']), { agent_id: 'one', key_id: 'gk_1' })
  })
  it('take one valid credential of several, an agent key before the gateway key', () => {
    assert.deepEqual(keys().identify(['foreign', 'gateway-key']), { agent_id: null, key_id: null })
    assert.deepEqual(keys().identify(['gateway-key', 'key-of-two']), { agent_id: 'two', key_id: 'gk_2' })
    assert.deepEqual(keys().identify(['key-of-two', 'gateway-key']), { agent_id: 'two', key_id: 'gk_2' })
  })
  it('refuse none, wrong ones, and the keys of two agents', () => {
    for (const credentials of [[], [''], ['gateway-ke'], ['gateway-key '], ['key-of-one', 'key-of-two']]) {
      assert.equal(keys().identify(credentials), undefined)
    }
    assert.equal(new KeyRing().identify(['']), undefined)
  })
  it('forget a revoked key at once', () => {
    const some = keys()
    assert.equal(some.identify(['key-of-one'])?.key_id, 'gk_1')
    some.remove(sha256('key-of-one'))
    assert.equal(some.identify(['key-of-one']), undefined)
    assert.equal(some.identify(['gateway-key'])?.key_id, null)
    some.setGateway('another-key')
    assert.equal(some.identify(['gateway-key']), undefined)
    some.add({ id: 'gk_3', agent_id: 'three', hash: sha256('another-key') })
    assert.equal(some.identify(['another-key'])?.key_id, 'gk_3')
  })
  it('are random and long', () => {
    assert.match(newKey('gak_'), /^gak_[\w-]{43}$/)
    assert.notEqual(newKey('gak_'), newKey('gak_'))
  })
})
