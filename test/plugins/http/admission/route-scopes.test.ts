import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { classifiedScope, isUndivided, scopeOf } from '../../../../plugins/http/admission/route-scopes.ts'

describe('the scope of a route', () => {
  it('is that of its method and pattern, whether a slash ends it or not', () => {
    assert.equal(classifiedScope('HEAD', '/'), 'open')
    assert.equal(classifiedScope('POST', '/v1/messages/'), 'models')
    assert.equal(classifiedScope('POST', '/v1/messages'), 'models')
    assert.equal(classifiedScope('DELETE', '/v1/messages'), undefined)
    assert.equal(classifiedScope('GET', '/ui/assets/deep/style.css'), 'open')
    assert.equal(classifiedScope('GET', '/uis'), undefined)
    assert.equal(classifiedScope('GET', '/'), 'read')
  })
  it('is for HEAD that of GET', () => {
    assert.equal(classifiedScope('HEAD', '/v1/models'), 'models')
    assert.equal(classifiedScope('HEAD', '/v1/traces'), undefined)
  })
  it('is what the route says itself where the table says nothing, else the strictest', () => {
    assert.equal(scopeOf('GET', '/mine', 'read'), 'read')
    assert.equal(scopeOf('GET', '/mine', undefined), 'admin')
    assert.equal(scopeOf('GET', '/livez', 'admin'), 'open')
    assert.equal(scopeOf(['GET', 'POST'], '/login', undefined), 'open')
    assert.equal(scopeOf(['GET', 'DELETE'], '/login', undefined), 'admin')
  })
  it('is undivided where it tells of all projects together', () => {
    assert.equal(isUndivided('POST', '/ui/notify/test'), true)
    assert.equal(isUndivided(['PUT', 'HEAD'], '/api/v1/mcp/servers/:id/login'), true)
    assert.equal(isUndivided('GET', '/ui/notify/test'), false)
  })
})
