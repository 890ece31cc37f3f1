import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { keyOf, step, user } from '../../../kit/conversation.ts'
import { call } from '../../../kit/evidence.ts'
import { Session } from '../../../kit/history.ts'

const items = [user('fix it'), ...step('read_file', { path: 'a' })]
const key = keyOf('read_file', { path: 'a' })

describe('another attempt', () => {
  it('is known by its mark and a row of the same fingerprint, and counts no key', () => {
    const session = new Session()
    const first = session.add(call({ items }))
    const place = session.place(call({ items, retry: true }))
    assert.equal(place.original, first)
    assert.deepEqual([place.thread, place.root, place.keys], [first.thread, first.root, []])
  })
  it('is one of the request itself, not of an attempt before', () => {
    const session = new Session()
    const first = session.add(call({ items }))
    assert.equal(session.add(call({ items, retry: true })).retry, true)
    assert.equal(session.place(call({ items, retry: true })).original, first)
  })
  it('is a first one if nothing like it is known', () => {
    const place = new Session().place(call({ items, retry: true }))
    assert.equal(place.original, undefined)
    assert.deepEqual(place.keys, [key])
  })
  it('is an ordinary repeat without the mark', () => {
    const session = new Session()
    session.add(call({ items }))
    assert.equal(session.place(call({ items })).original, undefined)
  })
  it('is not one of a request that never left', () => {
    const session = new Session()
    session.add(call({ items }), { decision: 'block' })
    assert.equal(session.place(call({ items, retry: true })).original, undefined)
  })
  it('is not one of a request that another like it was refused after', () => {
    const session = new Session()
    session.add(call({ items }))
    const refused = session.add(call({ items }), { decision: 'block' })
    const original = () => session.place(call({ items, retry: true })).original
    assert.equal(original(), undefined)
    const later = session.add(call({ items }))
    assert.equal(original(), later)
    refused.last_at = later.at + 1
    assert.equal(original(), undefined)
  })
  it('is a request of its own after the tenth', () => {
    const session = new Session()
    session.add(call({ items }))
    for (let n = 1; n < 10; n++) assert.equal(session.add(call({ items, retry: true })).retry, true)
    assert.equal(session.place(call({ items, retry: true })).original, undefined)
    session.rows.pop()
    session.add(call({ items, retry: true }))
    assert.equal(session.place(call({ items, retry: true })).original, undefined)
  })
})
