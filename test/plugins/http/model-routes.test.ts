import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { ask, chatBody, KEY, type Started, start, styles } from './kit.ts'

describe('model paths', () => {
  let it_is: Started
  before(async () => {
    it_is = await start()
  })
  after(() => it_is[Symbol.asyncDispose]())

  for (const [path, body] of styles) {
    for (const stream of [false, true]) {
      it(`${path} ${stream ? 'streams' : 'answers'}: the provider gets the bytes, the client gets the reply`, async () => {
        const sent = JSON.stringify({ ...body, stream })
        const got = await ask(it_is.port, { path, body: sent })
        assert.equal(got.status, 200, got.body.toString())
        assert.equal(it_is.provider.last.body.toString(), sent)
        assert.equal(it_is.provider.last.path, path)
        assert.match(String(got.headers['x-guard-request-id']), /^guardreq_/)
        assert.ok(got.complete)
      })
    }
  }
})
