import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { EventReader, EventSplitter } from '#lib/sse'
import { LineEnds } from '../../../../plugins/lib/sse/line-ends.ts'

/** A chunk, and how many of its bytes were searched. */
const watched = (text: string) => {
  const bytes = Buffer.from(text)
  const seen = { bytes: 0 }
  bytes.indexOf = (value: unknown, from = 0) => {
    const found = Uint8Array.prototype.indexOf.call(bytes, Number(value), Number(from))
    seen.bytes += (found === -1 ? bytes.length : found + 1) - Number(from)
    return found
  }
  return { bytes, seen }
}

describe('LineEnds', () => {
  it('finds LF and CR in turn, then the end, and continues with another chunk', () => {
    const ends = new LineEnds(Buffer.from('ab\ncd\r\ne'))
    assert.deepEqual(
      [0, 2, 3, 6, 7].map((at) => ends.from(at)),
      [2, 2, 5, 6, 8],
    )
    ends.begin(Buffer.from('\r'))
    assert.deepEqual([ends.from(0), ends.from(1)], [0, 1])
  })

  for (const lineEnd of ['\n', '\r', '\r\n'])
    it(`looks at each byte of a chunk at most twice where lines end in ${JSON.stringify(lineEnd)}`, () => {
      for (const cutter of [new EventSplitter(() => {}), new EventReader(1_000_000, () => {})]) {
        const { bytes, seen } = watched(`data: a${lineEnd}${lineEnd}`.repeat(2_000))
        cutter.push(bytes)
        assert.ok(seen.bytes > 0 && seen.bytes <= 2 * bytes.length, `${seen.bytes} of ${bytes.length}`)
      }
    })
})
