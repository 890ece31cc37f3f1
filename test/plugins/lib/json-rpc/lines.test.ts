import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { type LineEnds, LineReader } from '#lib/json-rpc'

const read = (chunks: readonly (string | Buffer)[], limit = 20): string[] => {
  const lines: string[] = []
  const reader = new LineReader(
    limit,
    (line) => lines.push(`${line}`),
    () => lines.push('TOO LONG'),
  )
  for (const chunk of chunks) reader.push(Buffer.from(chunk))
  reader.end()
  return lines
}

describe('LineReader', () => {
  it('ends lines at LF and CRLF, skips empty ones and takes a last one without its end', () => {
    assert.deepEqual(read(['a\nb\r\n\n\r\nc']), ['a', 'b', 'c'])
  })
  it('gives the same lines however they are cut, also inside a character', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('é', '💥', 'x', '\n', '\r\n'), { maxLength: 30 }),
        fc.nat(9),
        (parts, size) => {
          const bytes = Buffer.from(parts.join(''))
          const chunks: Buffer[] = []
          for (let at = 0; at < bytes.length; at += size + 1) chunks.push(bytes.subarray(at, at + size + 1))
          assert.deepEqual(read(chunks, 100), parts.join('').split(/\r?\n/).filter(Boolean))
        },
      ),
      { seed: 8, numRuns: 300 },
    )
  })
  it('tells how a line that is too long starts and ends, however it came', () => {
    const line = `${'a'.repeat(300)}${'b'.repeat(300)}`
    for (const chunks of [
      [`${line}\n`],
      [line, '\n'],
      [...line, '\n'],
      [line.slice(0, 101), line.slice(101), '\nx\n'],
    ]) {
      const ends: LineEnds[] = []
      for (const limit of [300, 599]) {
        const reader = new LineReader(
          limit,
          () => {},
          (one) => ends.push(one),
        )
        for (const chunk of chunks) reader.push(Buffer.from(chunk))
      }
      const expected = { head: 'a'.repeat(256), tail: 'b'.repeat(256) }
      assert.deepEqual(ends, [expected, expected])
    }
  })
  it('drops a line that is too long to its end, wherever it is cut, and continues after it', () => {
    const long = 'x'.repeat(21)
    assert.deepEqual(read([`a\n${long}\nb\n`]), ['a', 'TOO LONG', 'b'])
    assert.deepEqual(read(['a\n', ...long, '\nb\n', long]), ['a', 'TOO LONG', 'b', 'TOO LONG'])
    assert.deepEqual(read([`${'x'.repeat(20)}\r\n`]), ['x'.repeat(20)])
    assert.deepEqual(read([`${'x'.repeat(100)}`, 'y'.repeat(100), '\nb']), ['TOO LONG', 'b'])
  })
})
