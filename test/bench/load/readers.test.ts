import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { repliesOf } from '../../../bench/load/replies.ts'
import { type ParsedReply, ReplyReader } from '../../../bench/load/reply-reader.ts'
import { RequestReader } from '../../../bench/load/request-reader.ts'

/** Feeds the bytes to the reader in chunks and returns its result. */
const readIn = (reader: ReplyReader, bytes: Buffer, size: number): (ParsedReply | undefined)[] => {
  const seen: (ParsedReply | undefined)[] = []
  for (let at = 0; at < bytes.length; at += size) seen.push(reader.push(bytes.subarray(at, at + size)))
  return seen
}

describe('ReplyReader', () => {
  const whole = Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 5\r\nx-guard-decision: shadow_flag\r\n\r\nhello')
  const chunked = Buffer.from(
    'HTTP/1.1 503 Busy\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0b\r\n, you there\r\n0\r\n\r\n',
  )
  const empty = Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
  const cases = [
    ['a length', whole, { status: 200, bytes: 5, decision: 'shadow_flag' }],
    ['chunks', chunked, { status: 503, bytes: 16, decision: '' }],
    ['no body', empty, { status: 200, bytes: 0, decision: '' }],
  ] as const
  for (const [name, bytes, expected] of cases) {
    it(`parses replies with ${name} in chunks of any size, and completes at the last byte`, () => {
      const reader = new ReplyReader()
      for (let size = 1; size <= bytes.length; size++) {
        const seen = readIn(reader, bytes, size)
        assert.deepEqual(seen.pop(), expected, `in pieces of ${size}`)
        assert.ok(seen.every((reply) => reply === undefined))
      }
    })
  }
  it('rejects a reply without a length and a chunk without a size', () => {
    assert.throws(() => new ReplyReader().push(Buffer.from('HTTP/1.1 200 OK\r\n\r\n')), /without a length/)
    assert.throws(
      () => new ReplyReader().push(Buffer.from('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n')),
      /begins with "zz"/,
    )
  })
  it('parses the reply lengths that the provider sends', () => {
    for (const style of ['chat_completions', 'messages'] as const) {
      const { head, body_bytes } = repliesOf({ style })
      assert.equal(new ReplyReader().push(head)?.bytes, body_bytes)
      assert.ok(body_bytes > 800 && body_bytes < 1000, `${body_bytes} bytes`)
      const stream = repliesOf({ style, stream: { chunks: 3, interval_ms: 1 } })
      const streamed = new ReplyReader().push(Buffer.concat([stream.head, ...stream.chunks]))
      assert.equal(streamed?.bytes, stream.body_bytes)
    }
  })
  it('finds events of 60 bytes in a stream', () => {
    const { chunks } = repliesOf({ style: 'chat_completions', stream: { chunks: 3, interval_ms: 1 } })
    for (const chunk of chunks.slice(0, 3)) {
      const event = chunk.toString().split('\r\n')[1] ?? ''
      assert.equal(event.length, 60)
      assert.match(event, /^data: \{.*\}\n\n$/s)
      JSON.parse(event.slice(6))
    }
  })
})

describe('RequestReader', () => {
  const request = (body: string) => `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  it('finds the end of each request in pieces of any size', () => {
    const bytes = Buffer.from(request('hello') + request('') + request('{"a":1}'))
    for (let size = 1; size <= bytes.length; size++) {
      let count = 0
      const reader = new RequestReader(() => count++)
      for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size))
      assert.equal(count, 3, `in pieces of ${size}`)
    }
  })
  it('rejects a request without a length', () => {
    assert.throws(() => new RequestReader(() => {}).push(Buffer.from('GET / HTTP/1.1\r\n\r\n')), /content-length only/)
  })
})
