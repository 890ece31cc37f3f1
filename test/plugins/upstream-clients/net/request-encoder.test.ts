import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { encodeRequest } from '../../../../plugins/upstream-clients/net/request-encoder.ts'

const headers = ['host', 'api.example', 'x-a', 'a', 'content-length', '2', 'authorization', 'Bearer one', 'x-b', 'b']
const encoded = (changed: Record<string, string> = {}, body = '{}') => {
  const given = headers.map((text, index) => changed[headers[index - 1] ?? ''] ?? text)
  const { head } = encodeRequest({ method: 'POST', path: '/v1', headers: given, body: Buffer.from(body) })
  return head.toString('latin1')
}

describe('the bytes of a request', () => {
  it('are its headers as they are given, then its body', () => {
    const lines = ['host: api.example', 'x-a: a', 'content-length: 2', 'authorization: Bearer one', 'x-b: b']
    assert.equal(encoded(), ['POST /v1 HTTP/1.1', ...lines, 'Connection: keep-alive', '', '{}'].join('\r\n'))
  })
  it('are in absolute-form for a proxy, with the lines for it', () => {
    const { head } = encodeRequest(
      { method: 'GET', path: '/a', headers: ['host', 'b'], body: undefined },
      { prefix: 'http://b', lines: 'Proxy-Authorization: c\r\n' },
    )
    assert.equal(
      head.toString('latin1'),
      'GET http://b/a HTTP/1.1\r\nhost: b\r\nProxy-Authorization: c\r\nConnection: keep-alive\r\n\r\n',
    )
  })
  it('are refused for what cannot be sent', () => {
    for (const wrong of [
      { authorization: 'a\r\nb: c' },
      { 'content-length': '2\n' },
      { 'content-length': '3' },
      { 'x-a': '\n' },
    ])
      assert.throws(() => encoded(wrong), TypeError)
  })
  it('ask for the connection to be closed where a header says so', () => {
    const closes = (value: string) =>
      encodeRequest({ method: 'GET', path: '/', headers: ['connection', value], body: undefined }).closes
    assert.deepEqual(['close', 'keep-alive', 'Close, x'].map(closes), [true, false, true])
  })
})
