import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { RequestLayout } from '../../../../plugins/upstream-clients/net/request-bytes.ts'

const headers = ['host', 'api.example', 'x-a', 'a', 'content-length', '2', 'authorization', 'Bearer one', 'x-b', 'b']
const laid = (layout: RequestLayout, changed: Record<string, string> = {}, body = '{}') => {
  const given = headers.map((text, index) => changed[headers[index - 1] ?? ''] ?? text)
  const { head, closes } = layout.bytes({ method: 'POST', path: '/v1', headers: given, body: Buffer.from(body) })
  return { text: head.toString('latin1'), closes }
}

describe('requests that are laid out one after the other', () => {
  it('say what each says, whatever the one before said', () => {
    const texts = fc.constantFrom('a', 'b', '', 'é', 'close', 'keep-alive')
    const names = fc.constantFrom('x-a', 'X-A', 'authorization', 'x-api-key', 'connection', 'cookie')
    const said = fc.array(fc.tuple(names, texts), { maxLength: 5 })
    fc.assert(
      fc.property(fc.array(said, { maxLength: 6 }), fc.array(fc.nat(3)), (requests, sizes) => {
        const layout = new RequestLayout()
        for (const [index, request] of requests.entries()) {
          const body = Buffer.alloc(sizes[index] ?? 0, 'x')
          const asked = {
            method: 'POST',
            path: '/v1',
            body,
            headers: ['content-length', `${body.length}`, ...request.flat()],
          }
          assert.deepEqual(layout.bytes(asked), new RequestLayout().bytes(asked))
        }
      }),
    )
  })
  it('have their own length and credential', () => {
    const layout = new RequestLayout()
    const { text } = laid(layout)
    const other = { 'content-length': '3', authorization: 'Bearer two' }
    assert.equal(
      laid(layout, other, '{ }').text,
      text.replace('length: 2', 'length: 3').replace('one', 'two').replace('{}', '{ }'),
    )
    assert.equal(laid(layout).text, text)
  })
  it('are refused for what cannot be sent, also where the one before was sound', () => {
    const layout = new RequestLayout()
    laid(layout)
    for (const wrong of [
      { authorization: 'a\r\nb: c' },
      { 'content-length': '2\n' },
      { 'content-length': '3' },
      { 'x-a': '\n' },
    ])
      assert.throws(() => laid(layout, wrong), TypeError)
    assert.doesNotThrow(() => laid(layout))
  })
  it('are closed behind by what they say themselves', () => {
    const layout = new RequestLayout()
    const closes = (value: string) =>
      layout.bytes({ method: 'GET', path: '/', headers: ['connection', value], body: undefined }).closes
    assert.deepEqual(['close', 'close', 'keep-alive', 'Close, x'].map(closes), [true, true, false, true])
  })
})
