import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { EventReader, eventTexts, messageEvent, type RawEvent, withData } from '#lib/sse'

const read = (chunks: readonly (string | Buffer)[], limit = 1000): RawEvent[] => {
  const events: RawEvent[] = []
  const reader = new EventReader(limit, (event) => events.push(event))
  for (const chunk of chunks) reader.push(Buffer.from(chunk))
  return events
}
const told = (events: readonly RawEvent[]) =>
  events.map(({ raw, data, identified }) => [`${raw}`, `${data}`, identified])
/** Events that say anything: not those of blank lines alone. */
const said = (events: readonly RawEvent[]) =>
  events.filter(({ raw }) => `${raw}`.trim() !== '').map(({ data, identified }) => [`${data}`, identified])
const bytesOf = (events: readonly RawEvent[]): Buffer => Buffer.concat(events.map(({ raw }) => raw))

describe('EventReader', () => {
  it('keeps each event as it came and joins its data lines', () => {
    assert.deepEqual(
      told(read([': hi\n\nid: 1\nretry: 100\ndata:\n\nevent: message\r\ndata: a\r\ndata:b\r\n\r\ndata\r\rrest'])),
      [
        [': hi\n\n', '', false],
        ['id: 1\nretry: 100\ndata:\n\n', '', true],
        ['event: message\r\ndata: a\r\ndata:b\r\n\r\n', 'a\nb', false],
        ['data\r\r', '', false],
      ],
    )
  })

  it('knows fields by their whole name and takes one blank from a value', () => {
    assert.deepEqual(
      told(read(['database: x\nidle: 1\n data: y\ndata:  two\nid\n\n'])).map(([, data, identified]) => [
        data,
        identified,
      ]),
      [[' two', true]],
    )
  })

  it('takes no message from an event of another type, whose bytes stay: the last line that names one counts, an empty name is none', () => {
    const events = [
      'event: ping\ndata: {"a":1}\n\n',
      'id: 1\nevent: message\nevent: endpoint\ndata: /sse\n\n',
      'event: x\nevent: message\ndata: b\n\n',
      'event: x\nevent:\ndata: c\n\n',
      'event: Message\ndata: d\n\n',
      'event\ndata: e\n\n',
    ]
    assert.deepEqual(told(read(events)), [
      [events[0], '', false],
      [events[1], '', true],
      [events[2], 'b', false],
      [events[3], 'c', false],
      [events[4], '', false],
      [events[5], 'e', false],
    ])
  })

  it('says as text what an event of any type holds', () => {
    const texts = read(['\ufeffdata: é\n\n', 'id: 7\nevent: run\r\ndata:a\r\ndata\r\n\r\n', ': hi\rid\r\r']).map(
      ({ raw }) => eventTexts(raw),
    )
    assert.deepEqual(texts, [
      { event: '', data: 'é', id: undefined },
      { event: 'run', data: 'a\n', id: '7' },
      { event: '', data: undefined, id: '' },
    ])
  })

  it('reads over a byte order mark at the very beginning', () => {
    assert.deepEqual(
      told(read(['\ufeffdata: a\n\n\ufeffdata: b\n\n'])).map(([, data]) => data),
      ['a', ''],
    )
  })

  it('gives the same events and loses no byte, however the stream is cut', () => {
    const line = fc.constantFrom('data: é1', 'data:', 'id: 7', ': c', 'event: message', 'event: x', 'data: {"x":"💥"}')
    const stream = fc
      .array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\r', '\n\n', '\r\n\r\n', '\r\r')), { maxLength: 12 })
      .map((lines) => Buffer.from(lines.flat().join('')))
    fc.assert(
      fc.property(stream, fc.array(fc.nat(40), { maxLength: 12 }), (bytes, cuts) => {
        const chunks: Buffer[] = []
        let from = 0
        for (const size of cuts) {
          chunks.push(bytes.subarray(from, from + size))
          from += size
        }
        chunks.push(bytes.subarray(from))
        const whole = read([bytes])
        const cut = read(chunks)
        assert.deepEqual(said(cut), said(whole))
        assert.equal(bytesOf(cut).compare(bytesOf(whole)), 0)
        assert.equal(bytesOf(cut).compare(bytes.subarray(0, bytesOf(cut).length)), 0)
      }),
      { seed: 7, numRuns: 500 },
    )
  })

  it('gives the second half of a line end as soon as it comes: readers wait for it', () => {
    const chunks = ['data: a\r\n\r', '\ndata: b\r', '\n\r', '\n']
    assert.deepEqual(
      chunks.map((_, at) => `${bytesOf(read(chunks.slice(0, at + 1)))}`),
      ['data: a\r\n\r', 'data: a\r\n\r\n', 'data: a\r\n\r\ndata: b\r\n\r', 'data: a\r\n\r\ndata: b\r\n\r\n'],
    )
  })

  it('refuses an event that is too large, also one that never ends', () => {
    assert.throws(() => read([`data: ${'x'.repeat(95)}\n\n`], 100), RangeError)
    assert.throws(
      () =>
        read(
          Array.from({ length: 20 }, () => 'data: xxxxxx\n'),
          100,
        ),
      RangeError,
    )
    assert.equal(
      read(
        Array.from({ length: 20 }, () => 'data: xxxxxx\n\n'),
        100,
      ).length,
      20,
    )
  })
})

describe('withData', () => {
  it('changes data lines alone', () => {
    const raw = Buffer.from('id: 1\r\ndata: old\r\ndata: lines\r\nevent: message\r\n\r\n')
    assert.equal(`${withData(raw, '{"new":1}')}`, 'id: 1\r\ndata: {"new":1}\r\nevent: message\r\n\r\n')
    assert.equal(`${withData(raw, 'a\nb')}`, 'id: 1\r\ndata: a\r\ndata: b\r\nevent: message\r\n\r\n')
  })

  it('replaces data after a byte order mark, which it leaves out', () => {
    assert.equal(`${withData(Buffer.from('\ufeffdata: {\ndata: }\n\n'), '{"new":1}')}`, 'data: {"new":1}\n\n')
    assert.equal(`${withData(Buffer.from('\ufeffid: 1\ndata: {}\n\n'), 'a')}`, '\ufeffid: 1\ndata: a\n\n')
  })

  it('ends the event however its lines end', () => {
    for (const raw of ['data: {\rdata: }\n\n', 'data: {\nid: 1\rdata: }\n\n', 'data: {\r\ndata: }\r\r']) {
      const [event] = read([withData(Buffer.from(raw), '{"new":1}')])
      assert.equal(`${event?.data}`, '{"new":1}', JSON.stringify(raw))
    }
  })

  it('is read back as what was put in', () => {
    const [event] = read([withData(Buffer.from('id: 1\ndata: x\n\n'), '{\n"a":1\r\n}')])
    assert.equal(`${event?.data}`, '{\n"a":1\n}')
    assert.equal(`${read([messageEvent('{"a":1}')])[0]?.data}`, '{"a":1}')
  })
})
