import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { threadHeads } from '#lib/threads'
import { beside, called, type Item, keyOf, result, says, step, system, turn, user } from '../../../kit/conversation.ts'
import { call } from '../../../kit/evidence.ts'
import { Session } from '../../../kit/history.ts'

const begin: Item[] = [system('you are an agent'), user('fix it')]
const read = () => step('read_file', { path: 'a' })
const key = keyOf('read_file', { path: 'a' })

describe('a request among the rows of its session', () => {
  it('starts a thread when nothing is known', () => {
    const now = call({ items: begin })
    const place = new Session().place(now)
    assert.equal(place.thread, now.id)
    assert.equal(place.root, true)
  })
  it('extends the row that holds its beginning', () => {
    const session = new Session()
    const first = session.add(call({ items: begin }))
    const place = session.place(call({ items: [...begin, ...read()] }))
    assert.equal(place.thread, first.thread)
    assert.equal(place.root, false)
    assert.equal(place.parent, first)
  })
  it('is found in spite of a clock in the system prompt', () => {
    const session = new Session()
    const first = session.add(call({ items: [system('12:00'), user('fix it')] }))
    const place = session.place(call({ items: [system('12:01'), user('fix it'), ...read()] }))
    assert.equal(place.thread, first.thread)
    assert.equal(place.new_turns.length, 1)
  })
  it('knows which turns that row held, in spite of the clock', () => {
    const session = new Session()
    const held = [user('fix it'), ...step('a')]
    session.add(call({ items: [system('12:00'), ...held] }))
    const next = session.place(call({ items: [system('12:01'), ...held, result('late', 'more')] }))
    assert.deepEqual([next.new_turns, next.keys], [[], []])
    const more = session.place(call({ items: [system('12:01'), system('new'), ...held, ...step('b')] }))
    assert.deepEqual(
      more.new_turns.map((one) => one.calls[0]?.tool),
      ['b'],
    )
  })
  it('knows them to the item where the clock is one of many system messages', () => {
    const session = new Session()
    const begun = [system('12:00'), user('fix it'), ...step('a'), system('hurry')]
    session.add(call({ items: begun }))
    const now = call({ items: [system('12:01'), ...begun.slice(1), ...step('b'), system('hurry')] })
    const next = session.place(now)
    assert.deepEqual([next.new_turns.length, next.keys], [1, [keyOf('b')]])
    const bare = session.place(call({ items: [user('fix it'), ...step('a'), ...step('b')] }))
    assert.deepEqual([bare.new_turns.length, bare.keys], [1, [keyOf('b')]])
    session.seen = new Set(threadHeads(session.rows))
    assert.deepEqual(session.place(now).turns, now.conversation.turns.slice(1))
  })
  it('prefers a row with the same system prompt to a newer one without', () => {
    const session = new Session()
    const first = session.add(call({ items: begin }))
    session.add(call({ items: [system('another'), user('fix it')] }), { thread: 'other' })
    assert.equal(session.place(call({ items: [...begin, ...read()] })).thread, first.thread)
  })
  it('extends the newest of several', () => {
    const session = new Session()
    session.add(call({ items: begin }), { thread: 'old' })
    session.add(call({ items: begin, extra: 'b' }), { thread: 'new' })
    assert.equal(session.place(call({ items: [...begin, says('ok')] })).thread, 'new')
  })
  it('has thread and root of a row with equal tips', () => {
    const session = new Session()
    const first = session.add(call({ items: begin }))
    const again = session.place(call({ items: begin, extra: 'other tools' }))
    assert.deepEqual([again.thread, again.root], [first.thread, true])
    const items = [...begin, ...read()]
    session.add(call({ items }))
    assert.equal(session.place(call({ items, extra: 'other tools' })).root, false)
  })
  it('starts a thread when its history was trimmed', () => {
    const session = new Session()
    session.add(call({ items: [...begin, ...read(), ...step('b')] }))
    assert.equal(session.place(call({ items: [system('you are an agent'), ...step('b'), ...step('c')] })).root, true)
  })
  it('may extend a blocked row', () => {
    const session = new Session()
    const items = [...begin, ...read()]
    const refused = session.add(call({ items }), { decision: 'block' })
    assert.equal(session.place(call({ items: [...items, user('differently')] })).thread, refused.thread)
  })
  it('never joins the thread of another subagent', () => {
    const session = new Session()
    const items = [...begin, ...read()]
    const main = session.add(call({ items: begin }))
    const one = session.place(call({ items, subagent: 'one' }))
    assert.notEqual(one.thread, main.thread)
    assert.equal(one.root, true)
    const row = session.add(call({ items: begin, subagent: 'one' }))
    assert.equal(session.place(call({ items, subagent: 'one' })).thread, row.thread)
    assert.notEqual(session.place(call({ items, subagent: 'two' })).thread, row.thread)
    assert.equal(session.place(call({ items })).thread, main.thread)
  })
  it('tells the turns that the extended row did not hold', () => {
    const session = new Session()
    const items = [...begin, ...read(), ...step('b')]
    assert.equal(session.place(call({ items })).new_turns.length, 2)
    session.add(call({ items }))
    const place = session.place(call({ items: [...items, ...step('c')] }))
    assert.deepEqual(
      place.new_turns.map((one) => one.calls[0]?.tool),
      ['c'],
    )
  })
})

describe('keys of the last turn', () => {
  const keys = (session: Session, items: readonly Item[], extra = '') => session.place(call({ items, extra })).keys
  const once = [...begin, ...read()]

  it('count once', () => assert.deepEqual(keys(new Session(), once), [key]))
  it('are a set', () => {
    const calls = [called('a'), called('a'), called('b')]
    assert.equal(keys(new Session(), [...begin, turn(...calls)]).length, 2)
  })
  it('do not count in a repeated request', () => {
    const session = new Session()
    session.add(call({ items: once }))
    assert.deepEqual(keys(session, once), [])
  })
  it('do not count if an extended request held the turn', () => {
    const session = new Session()
    session.add(call({ items: once }))
    assert.deepEqual(keys(session, [...once, result('late', 'more')]), [])
    assert.deepEqual(keys(session, [...once, ...read()]), [key])
  })
  it('do not count again when the same history goes to another model', () => {
    const session = new Session()
    session.add(call({ items: begin }))
    session.add(call({ items: once }))
    assert.deepEqual(keys(session, once, 'another model'), [])
  })
  it('count although a blocked request held the turn', () => {
    const session = new Session()
    session.add(call({ items: begin }))
    session.add(call({ items: once }), { decision: 'block' })
    assert.deepEqual(keys(session, once), [key])
  })
  it('do not count before a user message, unless nothing is extended', () => {
    const session = new Session()
    const asked = [...once, user('and?')]
    assert.deepEqual(keys(session, asked), [key])
    session.add(call({ items: begin }))
    assert.deepEqual(keys(session, asked), [])
  })
  it('count before a text beside the results', () => {
    const session = new Session()
    session.add(call({ items: begin }))
    assert.deepEqual(keys(session, [...once, beside('note')]), [key])
  })
})

describe('a text beside the results', () => {
  const once = [...begin, ...read()]
  const after = (session: Session, items: readonly Item[]) => session.place(call({ items })).turns.at(-1)?.user_after

  it('is a user message if the request was refused without it', () => {
    const session = new Session()
    session.add(call({ items: once }), { decision: 'block' })
    assert.equal(after(session, [...once, beside('try the other file')]), true)
  })
  it('is none if the refused request had it', () => {
    const session = new Session()
    const noted = [...once, beside('note')]
    session.add(call({ items: noted }), { decision: 'block' })
    assert.equal(after(session, noted), false)
    assert.equal(after(session, [...noted, beside('try the other file')]), true)
  })
  it('is none if the request was forwarded', () => {
    const session = new Session()
    session.add(call({ items: once }))
    assert.equal(after(session, [...once, beside('note')]), false)
  })
  it('is none after a later turn than the refused one', () => {
    const session = new Session()
    session.add(call({ items: once }), { decision: 'block' })
    assert.equal(after(session, [...once, beside('go on'), ...read(), beside('note')]), false)
  })
})
