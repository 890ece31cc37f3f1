import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { RequestEncoder } from '../../../../plugins/upstream-clients/net/request-encoder.ts'

const headers = ['host', 'api.example', 'x-a', 'a', 'content-length', '2', 'authorization', 'Bearer one', 'x-b', 'b']
const encode = (encoder: RequestEncoder, changed: Record<string, string> = {}, body = '{}') => {
  const given = headers.map((text, index) => changed[headers[index - 1] ?? ''] ?? text)
  const { head, closes } = encoder.encode({ method: 'POST', path: '/v1', headers: given, body: Buffer.from(body) })
  return { text: head.toString('latin1'), closes }
}

describe('requests that are encoded one after the other', () => {
  it('say what each says, whatever the one before said', () => {
    const texts = fc.constantFrom('a', 'b', '', 'é', 'close', 'keep-alive')
    const names = fc.constantFrom('x-a', 'X-A', 'authorization', 'x-api-key', 'connection', 'cookie')
    const said = fc.array(fc.tuple(names, texts), { maxLength: 5 })
    fc.assert(
      fc.property(fc.array(said, { maxLength: 6 }), fc.array(fc.nat(3)), (requests, sizes) => {
        const encoder = new RequestEncoder()
        for (const [index, own] of requests.entries()) {
          const body = Buffer.alloc(sizes[index] ?? 0, 'x')
          const request = {
            method: 'POST',
            path: '/v1',
            body,
            headers: ['content-length', `${body.length}`, ...own.flat()],
          }
          assert.deepEqual(encoder.encode(request), new RequestEncoder().encode(request))
        }
      }),
    )
  })
  it('have their own length and credential', () => {
    const encoder = new RequestEncoder()
    const { text } = encode(encoder)
    const other = { 'content-length': '3', authorization: 'Bearer two' }
    assert.equal(
      encode(encoder, other, '{ }').text,
      text.replace('length: 2', 'length: 3').replace('one', 'two').replace('{}', '{ }'),
    )
    assert.equal(encode(encoder).text, text)
  })
  it('are refused for what cannot be sent, also where the one before was sound', () => {
    const encoder = new RequestEncoder()
    encode(encoder)
    for (const wrong of [
      { authorization: 'a\r\nb: c' },
      { 'content-length': '2\n' },
      { 'content-length': '3' },
      { 'x-a': '\n' },
    ])
      assert.throws(() => encode(encoder, wrong), TypeError)
    assert.doesNotThrow(() => encode(encoder))
  })
  it('are closed behind by what they say themselves', () => {
    const encoder = new RequestEncoder()
    const closes = (value: string) =>
      encoder.encode({ method: 'GET', path: '/', headers: ['connection', value], body: undefined }).closes
    assert.deepEqual(['close', 'close', 'keep-alive', 'Close, x'].map(closes), [true, true, false, true])
  })
})
