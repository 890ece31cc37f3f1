import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Backlog } from '../../../../plugins/replay/sdk/backlog.ts'
import type { Recording } from '../../../../plugins/replay/sdk/recording.ts'
import type { TraceRecord } from '../../../../plugins/replay/sdk/records.ts'

/** A trace as far as the queue needs one. */
class Waiting {
  waiting = 0
  waitingSpans = 0
  waitingSize = 0
  countedReady = false
  due = false
  hasEnded = false
  settled = 0
  get ready(): boolean {
    return this.due || this.hasEnded
  }
  added(): void {}
  settle(count: number): void {
    this.settled += count
  }
}
const aTrace = () => new Waiting() as Waiting & Recording

const event = (size = 0) =>
  ({ kind: 'event', name: 'e'.repeat(size), attributeSet: { size: 0 } }) as unknown as TraceRecord
const span = () => ({ kind: 'span', name: 's', attributeSet: { size: 0 } }) as unknown as TraceRecord

const queue = (max = 10_000) => {
  const reported: unknown[] = []
  return { backlog: new Backlog(max, (error) => reported.push(error)), reported }
}
const addTo = (backlog: Backlog, trace: Recording, count: number, record = event()): void => {
  for (let added = 0; added < count; added++) backlog.add(trace, record)
}

describe('the queue of records', () => {
  it('gives those of a trace once it has ended, the oldest first', () => {
    const { backlog } = queue()
    const [open, ended] = [aTrace(), aTrace()]
    addTo(backlog, open, 2)
    assert.deepEqual([backlog.ready, backlog.take()], [0, undefined])
    Object.assign(ended, { hasEnded: true })
    addTo(backlog, ended, 3)
    assert.deepEqual([backlog.size, backlog.ready], [5, 3])
    const batch = backlog.take()
    assert.deepEqual([batch?.recording === ended, batch?.entries.length, batch?.last], [true, 3, true])
    assert.deepEqual([backlog.size, backlog.ready, backlog.take()], [2, 0, undefined])
    assert.equal(backlog.release().size, 1)
    assert.deepEqual([backlog.ready, backlog.take()?.entries.length, backlog.size], [2, 2, 0])
  })
  it('gives 2,000 records at a time', () => {
    const { backlog } = queue()
    const trace = aTrace()
    addTo(backlog, trace, 2_001)
    backlog.release()
    const first = backlog.take()
    assert.deepEqual([first?.entries.length, first?.last], [2_000, false])
    const rest = backlog.take()
    assert.deepEqual([rest?.entries.length, rest?.last], [1, true])
  })
  it('gives a megabyte at a time', () => {
    const { backlog } = queue()
    const trace = aTrace()
    addTo(backlog, trace, 3, event(600_000))
    assert.deepEqual([backlog.take()?.entries.length, backlog.take()?.entries.length], [2, 1])
  })
  it('gives those of an open trace at 500 spans, or at a megabyte', () => {
    const { backlog } = queue()
    const [spans, large] = [aTrace(), aTrace()]
    addTo(backlog, spans, 499, span())
    assert.equal(backlog.ready, 0)
    addTo(backlog, spans, 1, span())
    assert.equal(backlog.ready, 500)
    addTo(backlog, large, 1, event(1_048_000))
    assert.equal(backlog.ready, 500)
    addTo(backlog, large, 4)
    assert.equal(backlog.ready, 505)
  })
  it('drops the oldest when it is full, and reports that once a minute', () => {
    const { backlog, reported } = queue(2)
    const trace = aTrace()
    addTo(backlog, trace, 4)
    assert.deepEqual([backlog.size, backlog.dropped, trace.waiting], [2, 2, 2])
    assert.equal(trace.settled, 2)
    assert.equal(reported.length, 1)
    assert.equal(backlog.clear().length, 2)
    assert.deepEqual([backlog.size, trace.waiting], [0, 0])
  })
})
