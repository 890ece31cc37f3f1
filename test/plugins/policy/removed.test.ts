import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { startService } from 'guard-gateway/test'
import { Policies } from '../../../plugins/policy/policies.ts'
import { user } from '../../kit/conversation.ts'
import { dialectOf } from '../../kit/dialogue.ts'
import { call } from '../../kit/evidence.ts'
import { sharedMemory } from '../../kit/shared-memory.ts'
import { newSession, startApi } from './kit.ts'

const chat = dialectOf('chat_completions')
const everything = { mode: 'enforce', rules: [{ rule_type: 'exact_repeat', threshold: 1 }] }
const nothing = { mode: 'enforce', rules: [{ rule_type: 'exact_repeat', threshold: 99 }] }

const start = async () => {
  const api = await startApi()
  const remove = async (project = 'shop', query = '') => {
    const reply = await api.app.inject({ method: 'DELETE', url: `/api/policies/${project}${query}` })
    return { status: reply.statusCode, body: reply.json() }
  }
  let sessions = 0
  const first = (project = 'shop') =>
    api.send(
      call({ session: newSession({ id: `ses_${++sessions}`, project_id: project }), project, items: [user('a')] }),
    )
  const versions = async (project_id = 'shop') => {
    const { rows } = await api.gateway.storage.find('policy_versions', { where: { project_id }, limit: 100 })
    return rows.map(({ version }) => version)
  }
  return { ...api, remove, first, versions }
}

describe('DELETE /api/policies/{project_id}', () => {
  it('has the project follow the policy of default from the next request on, and says so', async () => {
    const { put, get, remove, first, versions } = await start()
    await put(everything, 'default')
    await put(nothing)
    assert.equal((await first()).decision, 'allow')
    const { status, body } = await remove()
    assert.equal(status, 200)
    const { project_id, source, version, mode, mode_in_force, rules } = body
    assert.deepEqual(
      [project_id, source, version, mode, mode_in_force, rules[0].threshold],
      ['shop', 'inherited', 0, 'enforce', 'enforce', 1],
    )
    assert.deepEqual(await get(), body)
    const { decision, policy_version } = await first()
    assert.deepEqual([decision, policy_version], ['block', 'default:1'])
    await put({ mode: 'shadow' }, 'default')
    assert.equal((await first()).decision, 'shadow_flag')
    assert.deepEqual(await versions(), [1])
  })

  it('of default leaves the rules that come with the gateway, also to those that inherit', async () => {
    const { put, get, remove, first } = await start()
    await put(everything, 'default')
    assert.equal((await first('heir')).decision, 'block')
    const { body } = await remove('default')
    assert.deepEqual([body.source, body.version, body.mode, body.mode_in_force], ['built_in', 0, null, 'shadow'])
    assert.equal((await get('heir')).source, 'built_in')
    const { decision, policy_version } = await first('heir')
    assert.deepEqual([decision, policy_version], ['allow', '0'])
    assert.equal((await put(everything, 'default')).body.version, 2)
  })

  it('takes it out of the list of policies', async () => {
    const { app, put, remove } = await start()
    await put(nothing)
    await remove()
    const { policies } = (await app.inject('/api/policies')).json()
    assert.deepEqual(
      policies.map(({ project_id }: { project_id: string }) => project_id),
      ['default'],
    )
  })

  it('keeps the versions, and a later policy gets a higher one, however often that happens', async () => {
    const { put, remove, versions } = await start()
    for (const expected of [2, 4, 6]) {
      await put(nothing)
      const { body } = await put({ ...everything, expected_version: expected - 1 })
      assert.equal(body.version, expected)
      assert.equal((await remove('shop', `?expected_version=${expected}`)).status, 200)
    }
    assert.equal((await put({ ...nothing, expected_version: 0 })).body.version, 7)
    assert.deepEqual(await versions(), [7, 6, 5, 4, 3, 2, 1])
  })

  it('is refused where there is none, and where somebody else was faster', async () => {
    const { put, get, remove } = await start()
    for (const query of ['', '?expected_version=0']) {
      const none = await remove('shop', query)
      assert.deepEqual([none.status, none.body.error.code], [404, 'NOT_FOUND'])
      assert.match(none.body.error.message, /^Project "shop" has no policy of its own\./)
    }
    await put(nothing)
    await put(everything)
    const stale = await remove('shop', '?expected_version=1')
    assert.deepEqual([stale.status, stale.body.error.code], [409, 'VERSION_CONFLICT'])
    assert.match(stale.body.error.message, /at version 2, not 1/)
    assert.equal((await get()).version, 2)
    await remove()
    const late = await put({ ...nothing, expected_version: 2 })
    assert.deepEqual([late.status, late.body.error.code], [409, 'VERSION_CONFLICT'])
  })

  it('removes nothing for a query that is misspelled or no version, for what names no project, or with a wrong key', async () => {
    await using service = await startService({ config: 'mcp: { approver_key: approver_key_of_the_tests }' })
    const path = '/api/policies/shop'
    const approver = { 'x-guard-approver-key': 'approver_key_of_the_tests' }
    assert.equal((await service.request('PUT', path, nothing, approver)).status, 200)
    const remove = async (to: string, headers = {}) => (await service.request('DELETE', to, undefined, headers)).status
    for (const query of ['?version=1', '?expected_version=x', '?expected_version=1e0', '?expected_version=-1'])
      assert.equal(await remove(path + query, approver), 400, query)
    assert.equal(await remove('/api/policies/no%20name', approver), 400)
    assert.deepEqual([await remove(path), await remove(path, { 'x-guard-approver-key': 'another' })], [401, 401])
    assert.equal(((await service.request('GET', path)).json as { version: number }).version, 1)
    assert.equal(await remove(path, approver), 200)
  })

  it('is not undone by a reader that was slow', async (test) => {
    const { gateway, put } = await start()
    await put(everything)
    const policies = new Policies(gateway)
    await policies.open(undefined)
    const { promise: removed, resolve: release } = Promise.withResolvers<void>()
    const read = gateway.storage.get('policies', 'shop')
    test.mock.method(gateway.storage, 'get', () => removed.then(() => read), { times: 1 })
    const slow = policies.load('shop')
    await policies.remove('shop', 1)
    release()
    assert.equal((await slow).project_id, 'default')
    assert.equal(policies.at('shop')?.project_id, 'default')
  })

  it('among changes that come at once gives no version twice', async () => {
    const { gateway, put, versions } = await start()
    await put(nothing)
    const policies = await Promise.all(
      [1, 2].map(async () => {
        const opened = new Policies(gateway)
        await opened.open(undefined)
        return opened
      }),
    )
    const given: number[] = []
    const attempts = Array.from({ length: 12 }, (_, at) => policies[at % 2]).map(async (store, at) => {
      if (at % 3 === 0) await store?.remove('shop').catch(() => undefined)
      else given.push((await store?.change('shop', { mode: 'shadow' }).catch(() => undefined))?.version ?? -at)
    })
    await Promise.all(attempts)
    assert.equal(new Set(given).size, given.length)
    const kept = await versions()
    assert.equal(new Set(kept).size, kept.length)
    const stored = await gateway.storage.get('policies', 'shop')
    for (const store of policies) {
      store.forget()
      assert.equal((await store.load('shop')).project_id, stored === undefined ? 'default' : 'shop')
    }
  })
})

describe('a removed policy', () => {
  it('is gone in every gateway on the same storage with its next decision, and so is one that comes after it', async () => {
    const plugin = sharedMemory()
    const begin = () => startService({ plugins: [plugin], backend: 'shared-memory' })
    await using one = await begin()
    await using other = await begin()
    let asked = 0
    const ask = async (service: typeof one) =>
      (await service.send(chat, [{ user: `${++asked}` }], { 'x-guard-project-id': 'shop' })).status
    await one.policy(nothing, 'shop')
    await one.policy(everything, 'default')
    assert.deepEqual([await ask(one), await ask(other)], [200, 200])
    assert.equal((await one.request('DELETE', '/api/policies/shop')).status, 200)
    assert.deepEqual([await ask(other), await ask(one)], [429, 429])
    const { json } = await other.request('PUT', '/api/policies/shop', { ...nothing, expected_version: 0 })
    assert.equal((json as { version: number }).version, 2)
    assert.deepEqual([await ask(one), await ask(other)], [200, 200])
  })

  it('stays removed after a restart, with its versions', async (test) => {
    const folder = await mkdtemp(join(tmpdir(), 'guard-removed-'))
    test.after(() => rm(folder, { recursive: true, force: true }))
    const begin = () => startService({ backend: 'sqlite', folder })
    {
      await using service = await begin()
      await service.policy(everything, 'shop')
      assert.equal((await service.request('DELETE', '/api/policies/shop')).status, 200)
    }
    await using again = await begin()
    const { json } = await again.request('GET', '/api/policies/shop')
    assert.equal((json as { source: string }).source, 'built_in')
    const put = await again.request('PUT', '/api/policies/shop', nothing)
    assert.equal((put.json as { version: number }).version, 2)
  })
})
