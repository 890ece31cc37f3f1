import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ExportQueue, type QueuedSpans } from '../../../plugins/otlp-push/export-queue.ts'
import { RecentKeys } from '../../../plugins/otlp-push/push.ts'

const one = (id: string, count = 1): QueuedSpans => ({ from: 'calls', trace_id: 't', id, count, since: 0 })
const ids = (waiting: readonly QueuedSpans[]): string => waiting.map(({ id }) => id).join('')

describe('the span queue', () => {
  it('returns the oldest entries first, at least one', () => {
    const queue = new ExportQueue<QueuedSpans>(100)
    for (const [id, spans] of [
      ['a', 2],
      ['b', 3],
      ['c', 9],
      ['d', 1],
    ] as const)
      queue.add(one(id, spans))
    assert.equal(ids(queue.take(5)), 'ab')
    assert.equal(queue.count, 10)
    assert.equal(ids(queue.take(5)), 'c')
    assert.equal(ids(queue.take(Infinity)), 'd')
    assert.deepEqual([queue.take(5), queue.count], [[], 0])
  })

  it('drops the oldest entries beyond its limit, also after requeue', () => {
    const queue = new ExportQueue<QueuedSpans>(3)
    assert.deepEqual([queue.add(one('a')), queue.add(one('b')), queue.add(one('c', 2))], [0, 0, 1])
    const taken = queue.take(1)
    assert.deepEqual([queue.add(one('d')), queue.requeue(taken)], [0, 1])
    assert.equal(ids(queue.take(9)), 'cd')
    assert.equal(queue.add(one('e', 4)), 4)
    assert.equal(queue.count, 0)
  })
})

describe('the set of recent keys', () => {
  it('retains at least its size, and at most twice as many', () => {
    const remembered = new RecentKeys(3)
    for (const text of ['a', 'b', 'c', 'd', 'e']) assert.ok(remembered.add(text))
    for (const text of ['a', 'b', 'c', 'd', 'e']) assert.ok(!remembered.add(text), text)
    remembered.add('f')
    assert.ok(!remembered.add('d'))
    assert.ok(remembered.add('a'))
  })
})
