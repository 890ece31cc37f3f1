import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Gateway } from 'guard-gateway/core'
import type { Principal } from '#lib/principal'
import type { AccessKeys } from '../../../plugins/access/keys/access-keys.ts'
import { LoginSessions } from '../../../plugins/access/login/login-sessions.ts'
import { onEachBackend } from '../../kit/backends.ts'
import { remote } from './kit.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

const key: Principal = { name: 'Ada', kind: 'key', scopes: new Set(['read']), projects: null, key_id: 'akey_1' }

/** Logins of a gateway at a time that a test sets; two processes that share its storage. */
const atTimeOn =
  (backend: string) =>
  async (work: (made: { at: { now: number }; here: LoginSessions; there: LoginSessions }) => Promise<void>) => {
    await using running = await remote({ backend, host: '127.0.0.1' })
    const at = { now: 1_800_000_000_000 }
    const gateway = { storage: running.gateway.storage, clock: { now: () => at.now, tick: () => at.now } } as Gateway
    const keys = { currentPrincipalOf: async () => key } as unknown as AccessKeys
    await work({ at, here: new LoginSessions(gateway, keys), there: new LoginSessions(gateway, keys) })
  }

onEachBackend('logins', (backend) => {
  const atTime = atTimeOn(backend)
  it('are known to any process that has the storage', () =>
    atTime(async ({ here, there }) => {
      const { value } = await here.begin('akey_1')
      assert.deepEqual(await there.principalOf(value), { ...key, kind: 'session' })
      await there.end(value)
      assert.equal(await here.principalOf(value), undefined)
    }))
  it('end after twelve hours without a request', () =>
    atTime(async ({ at, here }) => {
      const { value } = await here.begin('akey_1')
      for (let hour = 0; hour < 30; hour += 11) {
        at.now += 11 * HOUR
        assert.ok((await here.principalOf(value)) !== undefined, `${hour}`)
      }
      at.now += 12 * HOUR
      assert.equal(await here.principalOf(value), undefined)
    }))
  it('end after seven days, however much they are used', () =>
    atTime(async ({ at, here }) => {
      let { value } = await here.begin('akey_1')
      const begun = at.now
      while (at.now - begun < 7 * 24 * HOUR - HOUR) {
        at.now += HOUR
        value = (await here.rotated(value))?.value ?? value
        assert.ok((await here.principalOf(value)) !== undefined, `${at.now - begun}`)
      }
      at.now += HOUR
      assert.equal(await here.principalOf(value), undefined)
    }))
  it('get another value now and then, and the old one ends within a minute', () =>
    atTime(async ({ at, here, there }) => {
      const { value } = await here.begin('akey_1')
      assert.equal(await here.rotated(value), undefined)
      at.now += 15 * MINUTE
      // of requests at once one alone gets a new value
      const both = await Promise.all([here.rotated(value), there.rotated(value)])
      const made = both.filter((one) => one !== undefined)
      assert.equal(made.length, 1)
      const next = made[0]?.value ?? ''
      assert.notEqual(next, value)
      at.now += MINUTE - 1
      assert.ok((await here.principalOf(value)) !== undefined)
      assert.ok((await here.principalOf(next)) !== undefined)
      at.now += 1
      assert.equal(await here.principalOf(value), undefined)
      assert.ok((await here.principalOf(next)) !== undefined)
    }))
  it('are removed once they have ended', () =>
    atTime(async ({ at, here }) => {
      const { value } = await here.begin('akey_1')
      at.now += 13 * HOUR
      await here.begin('akey_1')
      at.now -= 13 * HOUR
      assert.equal(await here.principalOf(value), undefined)
    }))
})
