import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { UsageFilter } from '../../../plugins/upstream/usage-filter.ts'

const filtered = (chunks: readonly string[]): string => {
  const filter = new UsageFilter()
  const shown = chunks.map((chunk) => filter.push(Buffer.from(chunk)))
  return Buffer.concat([...shown, filter.end()]).toString()
}

const USAGE = 'data: {"choices":[],"usage":{"total_tokens":3}}'
const WORDS = 'data: {"choices":[{"delta":{"content":"a \\"usage\\" é"}}],"usage":null}'

describe('UsageFilter', () => {
  for (const end of ['\n', '\r', '\r\n']) {
    const before = `: hi${end}${end}${WORDS}${end}${end}`
    const after = `data: [DONE]${end}${end}`
    const stream = Buffer.from(`${before}${USAGE}${end}${end}${after}`)

    it(`takes the usage chunk out of a stream of ${JSON.stringify(end)}, wherever it is cut`, () => {
      for (let at = 0; at <= stream.length; at++) {
        const filter = new UsageFilter()
        const parts = [filter.push(stream.subarray(0, at)), filter.push(stream.subarray(at)), filter.end()]
        // the LF of a CRLF that came late is a line of its own
        const shown = Buffer.concat(parts).toString()
        const late = `${before}\n${after}`
        assert.ok(shown === before + after || (end === '\r\n' && shown === late), `${at}: ${JSON.stringify(shown)}`)
      }
    })
  }

  it('holds back no more than an event, and gives what is left at the end', () => {
    const filter = new UsageFilter()
    assert.equal(`${filter.push(Buffer.from(`${WORDS}\n\nda`))}`, `${WORDS}\n\n`)
    assert.equal(`${filter.push(Buffer.from('ta: '))}`, '')
    assert.equal(`${filter.end()}`, 'data: ')
  })

  it('takes usage that stands beside other fields, and leaves events with choices', () => {
    assert.equal(filtered([`: x\nid: 1\n${USAGE}\n\n`]), '')
    for (const other of [`${USAGE.replace('[]', '[{}]')}\n\n`, 'data: {"usage":{}}\n\n', 'data: "usage"\n\n'])
      assert.equal(filtered([other]), other)
  })

  it('passes what is too large to be held as it comes, with all of its lines', () => {
    const large = `data: ${'x'.repeat(70_000)}`
    const filter = new UsageFilter()
    assert.equal(filter.push(Buffer.from(`${large}\r`)).length, large.length + 1)
    assert.equal(`${filter.push(Buffer.from('\nda'))}`, '\nda')
    assert.equal(`${filter.push(Buffer.from(`ta: more\r\n${USAGE}\r\n\r\n`))}`, `ta: more\r\n${USAGE}\r\n\r\n`)
    assert.equal(`${filter.push(Buffer.from(`${USAGE}\r\n\r\n${WORDS}\r\n\r\n`))}`, `${WORDS}\r\n\r\n`)
  })
})
