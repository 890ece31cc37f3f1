import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { StreamEnd } from '../../../core/pipeline/stream-end.ts'

const within = (...chunks: string[]) => {
  const end = new StreamEnd()
  return chunks.map((chunk) => end.within(Buffer.from(chunk)))
}

describe('the end of the last whole event of a chunk', () => {
  it('stands behind a blank line, whatever ends its lines', () => {
    assert.deepEqual(within('data: 1\n\ndata: 2\n\ndata'), [18])
    assert.deepEqual(within('data: 1\r\n\r\ndata'), [11])
    assert.deepEqual(within('data: 1\r\rdata'), [9])
  })
  it('is found where the blank line spans chunks', () => {
    assert.deepEqual(within('data: 1\n', '\ndata: 2'), [-1, 1])
    assert.deepEqual(within('data: 1\r\n\r', '\ndata: 2'), [-1, 1])
    assert.deepEqual(within('data: 1\r\n', '\r\n', 'data: 2'), [-1, 2, -1])
  })
  it('stands behind each line where a line is an event', () => {
    const end = new StreamEnd()
    const lines = ['{"a":1}\n{"a":2}\n{"a"', ':3}', '\r\n{']
    assert.deepEqual(
      lines.map((chunk) => end.within(Buffer.from(chunk), true)),
      [16, -1, 2],
    )
  })
  it('is not there while an event goes on', () => assert.deepEqual(within('data: 1\nid: 2\n', 'data: 3\n'), [-1, -1]))
})
