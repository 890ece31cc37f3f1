import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { SentMessages, sentAt } from '../../../../plugins/replay/stream/sent-messages.ts'

const numbers = (sent: SentMessages, kind: 'runs' | 'events', id: string) =>
  sent.after(kind, id)?.map(({ number }) => number)

describe('sent messages', () => {
  it('have ids of stream, number and time, by which those after one are found', () => {
    const sent = new SentMessages(() => 1_700)
    const start = sent.id
    assert.match(start, /^[0-9a-f]{12}-0-1700$/)
    const first = sent.add('runs', 'run.updated', '{"a":1}', 'shop')
    const name = start.slice(0, 12)
    assert.deepEqual(first, {
      number: 1,
      kind: 'runs',
      text: `id: ${name}-1-1700\nevent: run.updated\ndata: {"a":1}\n\n`,
      project_id: 'shop',
    })
    sent.add('events', 'event', '{}')
    sent.add('runs', 'run.updated', '{}')
    assert.deepEqual(numbers(sent, 'runs', start), [1, 3])
    assert.deepEqual(numbers(sent, 'runs', `${name}-1-1700`), [3])
    assert.deepEqual(numbers(sent, 'events', `${name}-1-1700`), [2])
    assert.deepEqual(numbers(sent, 'events', sent.id), [])
    for (const other of [`${name}-4-1700`, `${'0'.repeat(12)}-1-1700`, `${name}-1`, ''])
      assert.equal(sent.after('runs', other), undefined, other)
  })
  it('are 1,000 at most: the older half goes at once', () => {
    const sent = new SentMessages(() => 0)
    const name = sent.id.slice(0, 12)
    for (let count = 0; count < 1_000; count++) sent.add('runs', 'e', '')
    assert.equal(numbers(sent, 'runs', `${name}-0-0`)?.length, 1_000)
    sent.add('events', 'e', '')
    assert.equal(sent.after('runs', `${name}-500-0`), undefined)
    assert.equal(sent.after('events', `${name}-500-0`), undefined)
    assert.deepEqual(numbers(sent, 'runs', `${name}-501-0`)?.at(0), 502)
    assert.deepEqual(numbers(sent, 'events', `${name}-501-0`), [1_001])
  })
  it('have 524,288 characters at most', () => {
    const sent = new SentMessages(() => 0)
    const name = sent.id.slice(0, 12)
    const frame = sent.add('runs', 'e', '').text.length
    const half = 'x'.repeat(524_288 / 2 - frame)
    sent.add('runs', 'e', half)
    sent.add('runs', 'e', half.slice(frame))
    assert.deepEqual(numbers(sent, 'runs', `${name}-0-0`), [1, 2, 3])
    sent.add('runs', 'e', '')
    assert.equal(sent.after('runs', `${name}-1-0`), undefined)
    assert.deepEqual(numbers(sent, 'runs', `${name}-2-0`), [3, 4])
    // what went no longer counts
    sent.add('runs', 'e', half.slice(3 * frame))
    assert.deepEqual(numbers(sent, 'runs', `${name}-2-0`), [3, 4, 5])
  })
  it('that were lost are told from those of the other kind', () => {
    const sent = new SentMessages(() => 0)
    const before = sent.id
    sent.forget('runs')
    assert.equal(sent.after('runs', before), undefined)
    assert.deepEqual(sent.after('events', before), [])
    assert.deepEqual(sent.after('runs', sent.id), [])
  })
  it('say when they were sent', () => {
    assert.equal(sentAt(new SentMessages(() => 1_780_000_000_000).id), 1_780_000_000_000)
    for (const other of ['', '12-3', `${'g'.repeat(12)}-1-2`, `${'0'.repeat(12)}-1-${'2'.repeat(16)}`])
      assert.equal(sentAt(other), undefined, other)
  })
})
