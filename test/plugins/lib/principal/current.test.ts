import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import {
  actorOf,
  currentPrincipal,
  everyProject,
  expandScopes,
  hasScope,
  type Principal,
  runAs,
  sees,
  visibleProjects,
} from '#lib/principal'

const team: Principal = { name: 'ci', kind: 'key', scopes: new Set(['read']), projects: ['shop'], key_id: 'ak_1' }

describe('the principal of running code', () => {
  it('is nobody in particular on loopback, who sees everything', () => {
    assert.equal(currentPrincipal(), undefined)
    assert.equal(actorOf().name, 'loopback')
    assert.equal(visibleProjects(), null)
    assert.equal(sees('any'), true)
    assert.equal(sees(null), true)
  })
  it('is whose request it serves, also after it waited', async () => {
    await runAs(team, async () => {
      await wait(1)
      assert.equal(actorOf(), team)
      assert.deepEqual([sees('shop'), sees('bank'), sees(null), sees(undefined)], [true, false, false, false])
    })
    assert.equal(currentPrincipal(), undefined)
  })
  it('is left by work for everybody', () => {
    runAs(team, () => {
      assert.equal(everyProject(visibleProjects), null)
      assert.deepEqual(visibleProjects(), ['shop'])
    })
  })
})

describe('scopes', () => {
  it('are all in admin, and none in another', () => {
    assert.equal(hasScope({ scopes: new Set(['admin']) }, 'ingest'), true)
    assert.equal(hasScope({ scopes: new Set(['operate']) }, 'read'), false)
    assert.deepEqual([...expandScopes(['read', 'admin'])].sort(), [...expandScopes(['admin'])].sort())
    assert.deepEqual([...expandScopes(['read'])], ['read'])
  })
})
