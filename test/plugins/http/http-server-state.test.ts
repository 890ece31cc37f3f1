import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Gateway } from 'guard-gateway/core'
import { foundation } from 'guard-gateway/presets/foundation'
import { HttpServerState } from '../../../plugins/http/http-server-state.ts'

describe('the paths that pass through', () => {
  it('are those of the options as they are now', () => {
    const options = { gateway_key: 'guard_0123456789abcdef', passthrough: ['/v1/embeddings'] }
    const state = new HttpServerState(new Gateway().use(...foundation()), options)
    assert.deepEqual(
      ['/v1/embeddings', '/v1/files/a'].map((path) => state.passesThrough(path)),
      [true, false],
    )
    options.passthrough = ['/v1/files/*']
    assert.deepEqual(
      ['/v1/embeddings', '/v1/files/a'].map((path) => state.passesThrough(path)),
      [false, true],
    )
    assert.equal(
      new HttpServerState(new Gateway().use(...foundation()), { gateway_key: 'k' }).passesThrough('/v1/embeddings'),
      false,
    )
  })
})
