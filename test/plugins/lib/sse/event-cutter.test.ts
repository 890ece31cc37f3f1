import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { EventCutter } from '#lib/sse'

const cut = (chunks: readonly string[]): string[] => {
  const events: string[] = []
  const cutter = new EventCutter((raw) => events.push(`${raw}`))
  for (const chunk of chunks) cutter.push(Buffer.from(chunk))
  return [...events, `${cutter.take()}`]
}

describe('EventCutter', () => {
  it('gives each event with its blank line, and what waits for one', () => {
    for (const end of ['\n', '\r', '\r\n']) {
      const events = [`data: a${end}id: 1${end}${end}`, `:${end}${end}`, `data: b${end}`]
      assert.deepEqual(cut([events.join('')]), events)
    }
  })

  it('gives the same bytes wherever the stream is cut', () => {
    const stream = 'data: a\r\n\r\ndata: b\r\rdata: c\n\n\ndata: d'
    for (let at = 0; at <= stream.length; at++) {
      const chunks = [stream.slice(0, at), stream.slice(at)]
      const said = (events: readonly string[]) => events.map((event) => event.trim()).filter((event) => event !== '')
      assert.equal(cut(chunks).join(''), stream, String(at))
      assert.deepEqual(said(cut(chunks)), ['data: a', 'data: b', 'data: c', 'data: d'], String(at))
    }
  })

  it('goes on in an event of which a part was taken, also between CR and LF', () => {
    const events: string[] = []
    const cutter = new EventCutter((raw) => events.push(`${raw}`))
    cutter.push(Buffer.from('data: a\r'))
    assert.equal(`${cutter.take()}`, 'data: a\r')
    assert.equal(cutter.length, 0)
    cutter.push(Buffer.from('\ndata: b\r\n\r\n'))
    assert.deepEqual(events, ['\ndata: b\r\n\r\n'])
  })
})
