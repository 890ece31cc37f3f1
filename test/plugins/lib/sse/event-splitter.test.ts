import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { EventSplitter } from '#lib/sse'

const split = (chunks: readonly (string | Uint8Array)[], limit?: number, shortens = false): string[] => {
  const found: string[] = []
  const splitter = new EventSplitter((bytes, start, end) => found.push(bytes.toString('utf8', start, end)), {
    ...(limit === undefined ? {} : { limit }),
    shortens,
  })
  for (const chunk of chunks) splitter.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)
  splitter.end()
  return found
}

describe('EventSplitter', () => {
  it('gives the data of each event', () => {
    assert.deepEqual(split(['data: a\n\ndata: b\n\n']), ['a', 'b'])
  })

  it('takes LF, CRLF and CR as line ends, also mixed', () => {
    assert.deepEqual(split(['data: a\r\n\r\ndata: b\r\rdata: c\n\r\ndata: d\r\n\n']), ['a', 'b', 'c', 'd'])
  })

  it('takes a CRLF that is cut in two as one line end', () => {
    assert.deepEqual(split(['data: a\r', '\ndata: b\r', '\n\r', '\n']), ['a\nb'])
  })

  it('passes over a byte order mark, also a cut one', () => {
    assert.deepEqual(split(['\ufeffdata: a\n\n']), ['a'])
    assert.deepEqual(split([Uint8Array.of(0xef), Uint8Array.of(0xbb), Uint8Array.of(0xbf), 'data: a\n\n']), ['a'])
  })

  it('passes over comments, other fields and events without data', () => {
    assert.deepEqual(
      split([': hi\n\nevent: x\nid: 1\nretry: 5\n\nevent: y\ndata: a\n\ndatum: b\n\ndat: c\n\nDATA: d\n\n']),
      ['a'],
    )
  })

  it('removes one space after the colon and no more', () => {
    assert.deepEqual(split(['data:a\n\ndata:  b\n\n']), ['a', ' b'])
  })

  it('joins data lines by a line feed, empty ones too', () => {
    assert.deepEqual(split(['data: a\ndata\ndata:\ndata: b\n\n']), ['a\n\n\nb'])
  })

  it('gives an event of one empty data line', () => {
    assert.deepEqual(split(['data\n\ndata:\n\n']), ['', ''])
  })

  it('counts an event that the stream ends in', () => {
    assert.deepEqual(split(['data: a\n\ndata: b']), ['a', 'b'])
    assert.deepEqual(split(['data: b\n']), ['b'])
  })

  it('passes over an event that is too long, and continues after it', () => {
    const long = 'x'.repeat(40)
    for (const chunks of [
      [`data: ${long}\n\ndata: a\n\n`],
      [`data: ${long.slice(0, 30)}`, `${long.slice(30)}\n\n`, 'data: a\n\n'],
    ]) {
      assert.deepEqual(split(chunks, 32), ['a'])
    }
    assert.deepEqual(split([`data: ${long.slice(0, 20)}\ndata: ${long.slice(0, 20)}\n\ndata: a\n\n`], 32), ['a'])
    assert.deepEqual(split([`data: ${long}\n\n`], 40), [long])
  })

  it('passes over events above 8 MiB by itself', () => {
    const line = Buffer.alloc(1024 * 1024, 'x')
    const lengths: number[] = []
    const splitter = new EventSplitter((_, start, end) => lengths.push(end - start))
    for (const lines of [8, 9, 1]) {
      splitter.push(Buffer.from('data: '))
      for (let count = 0; count < lines; count++) splitter.push(line)
      splitter.push(Buffer.from('\n\n'))
    }
    assert.deepEqual(lengths, [8 * 1024 * 1024, 1024 * 1024])
  })

  it('shortens long strings of an event that is too long where it is told to, however it is cut and wherever they stand', () => {
    const image = 'A'.repeat(70_000)
    const events = [
      { images: [image, image], usage: { input_tokens: 11 } },
      { usage: { input_tokens: 12 }, text: `${'\\"\u00e9\n'.repeat(30_000)}é`, after: true },
    ]
    const shown = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
    for (const size of [7, 1_000, 65_536, shown.length]) {
      const bytes = Buffer.from(shown)
      const chunks: Buffer[] = []
      for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size))
      const read = split(chunks, 135_000, true).map((text) => JSON.parse(text))
      assert.deepEqual(
        read.map(({ usage }) => usage),
        [{ input_tokens: 11 }, { input_tokens: 12 }],
        `${size}`,
      )
      assert.deepEqual(
        read[0].images.map((text: string) => text.length),
        [65_536, 65_536],
      )
      assert.equal(read[1].after, true)
      assert.ok(events[1]?.text?.startsWith(read[1].text), `${size}`)
    }
    assert.deepEqual(split([shown, 'data: 1\n\n'], 60_000, true), ['1'])
  })

  it('does not change what it is shown', () => {
    const chunk = Buffer.from('data: a\n\ndata: b')
    const copy = Buffer.from(chunk)
    split([chunk])
    assert.deepEqual(chunk, copy)
  })

  it('gives the same events however a stream is cut', () => {
    const piece = fc.constantFrom(
      'data: ',
      'data:',
      'data',
      'da',
      ': ',
      'event: x',
      'a',
      'é',
      '{"b":1}',
      ' ',
      '\n',
      '\n\n',
      '\r',
      '\r\n',
      '\r\n\r\n',
      '\ufeff',
    )
    const stream = fc.array(piece, { maxLength: 30 }).map((pieces) => Buffer.from(pieces.join('')))
    const property = fc.property(
      stream,
      fc.array(fc.nat(200), { maxLength: 10 }),
      fc.constantFrom(4, 1000),
      (bytes, places, limit) => {
        const cuts = [
          0,
          ...places.map((place) => Math.min(place, bytes.length)).sort((left, right) => left - right),
          bytes.length,
        ]
        const chunks = cuts.slice(1).map((cut, index) => Uint8Array.from(bytes.subarray(cuts[index], cut)))
        assert.deepEqual(split(chunks, limit), split([bytes], limit))
        assert.deepEqual(split([bytes], limit), reference(bytes.toString(), limit))
      },
    )
    fc.assert(property, { seed: 3, numRuns: 2000 })
  })
})

/** The same by way of strings. */
const reference = (stream: string, limit: number): string[] => {
  const found: string[] = []
  let data: string[] = []
  const lines = stream.replace(/^\ufeff/, '').split(/\r\n|\r|\n/)
  for (const line of [...lines, '']) {
    const field = /^data(?::[ ]?([\s\S]*))?$/.exec(line)
    if (field !== null) data.push(field[1] ?? '')
    if (line !== '') continue
    const text = data.join('\n')
    if (data.length > 0 && Buffer.byteLength(text) <= limit) found.push(text)
    data = []
  }
  return found
}
