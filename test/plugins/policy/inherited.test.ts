import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Policies } from '../../../plugins/policy/policies.ts'
import { user } from '../../kit/conversation.ts'
import { call } from '../../kit/evidence.ts'
import { newSession, startApi } from './kit.ts'

let sessions = 0
const first = (project: string) =>
  call({ session: newSession({ id: `ses_${++sessions}`, project_id: project }), project, items: [user('a')] })
const everything = { mode: 'enforce', rules: [{ rule_type: 'exact_repeat', threshold: 1 }] }

describe('the policy of project default', () => {
  it('holds at once for every project that has none of its own, also for one that was judged before', async () => {
    const { send, put, get } = await startApi()
    assert.equal((await send(first('my-app'))).decision, 'allow')
    await put(everything, 'default')
    for (const project of ['default', 'my-app', 'never-seen']) {
      const { decision, policy_version } = await send(first(project))
      assert.deepEqual([decision, policy_version], ['block', project === 'default' ? '1' : 'default:1'], project)
    }
    await put({ mode: 'shadow' }, 'default')
    assert.equal((await send(first('my-app'))).decision, 'shadow_flag')
    const { source, version, mode, mode_in_force, rules } = await get('my-app')
    assert.deepEqual([source, version, mode, mode_in_force, rules.length], ['inherited', 0, 'shadow', 'shadow', 1])
  })

  it('gives way to a policy of the project, in mode and rules', async () => {
    const { send, put, get } = await startApi()
    await put({ mode: null, rules: [{ rule_type: 'exact_repeat', threshold: 9 }] }, 'own')
    await put(everything, 'default')
    assert.equal((await send(first('own'))).decision, 'allow')
    const own = await get('own')
    assert.deepEqual([own.source, own.version, own.mode, own.mode_in_force], ['own', 1, null, 'shadow'])
  })

  it('gives a project that changes a part of it the rest, and no more after that', async () => {
    const { send, put, get } = await startApi()
    await put(everything, 'default')
    const { status, body } = await put(
      { rules: [{ rule_type: 'max_requests', threshold: 1 }], expected_version: 0 },
      'part',
    )
    assert.deepEqual([status, body.mode, body.source, body.version], [200, 'enforce', 'own', 1])
    await put({ mode: 'shadow' }, 'default')
    assert.equal((await get('part')).mode, 'enforce')
    assert.equal((await send(first('my-app'))).decision, 'shadow_flag')
  })

  it('is what a document that was read of another project stores, sent back', async () => {
    const { put, get } = await startApi()
    await put(everything, 'default')
    const inherited = await get('copy')
    const { body } = await put({ ...inherited, expected_version: inherited.version }, 'copy')
    assert.deepEqual([body.source, body.rules], ['own', inherited.rules])
  })

  it('has the budget of a project counted for each project apart', async () => {
    const { send, put, app } = await startApi()
    const rule = { rule_type: 'max_requests', threshold: 2, params: { scope: 'project', per: 'day' } }
    await put({ mode: 'enforce', rules: [rule] }, 'default')
    const decisions = async (project: string) => {
      const made: string[] = []
      for (let count = 0; count < 3; count++) made.push((await send(first(project))).decision)
      return made
    }
    assert.deepEqual(await decisions('one'), ['allow', 'allow', 'block'])
    assert.deepEqual(await decisions('other'), ['allow', 'allow', 'block'])
    assert.deepEqual(await decisions('default'), ['allow', 'allow', 'block'])
    const { budgets } = (await app.inject('/api/budgets?project_id=one')).json()
    assert.deepEqual([budgets[0].project_id, budgets[0].used, budgets[0].left], ['one', 2, 0])
  })

  it('is tried on the sessions of all projects that it would hold for', async () => {
    const { send, put, app } = await startApi()
    await put({ rules: [{ rule_type: 'max_requests' }] }, 'own')
    for (const project of ['one', 'other', 'own']) await send(first(project))
    const tried = async (project: string) =>
      (await app.inject({ method: 'POST', url: `/api/policies/${project}/simulate`, payload: everything })).json()
    const all = await tried('default')
    assert.deepEqual([all.sessions, all.flagged.length], [2, 2])
    assert.equal((await tried('own')).sessions, 1)
  })

  it('is not brought back by a reader that was slow while a project got its own', async () => {
    const { gateway } = await startApi()
    const policies = new Policies(gateway)
    await policies.open(undefined)
    const slow = policies.load('own')
    await policies.change('own', { mode: 'enforce' })
    await slow
    assert.equal(policies.at('own')?.mode, 'enforce')
  })
})
