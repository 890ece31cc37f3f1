import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ApiStyle, Part } from 'guard-gateway/core'
import { targetOf } from '#lib/api-style'
import type { JsonObject } from '#lib/json'
import { RequestReader } from '#lib/request-reader'
import { plain } from '../../../kit/plain-style.ts'

const reader = new RequestReader()
const user = (text: string): Part => ({ kind: 'user', text })
const call = (tool: string, args: unknown, id?: string): Part => ({
  kind: 'call',
  tool,
  args,
  ...(id === undefined ? {} : { id }),
})
const result = (text: string, id?: string): Part => ({ kind: 'result', text, ...(id === undefined ? {} : { id }) })

let fresh = 0
const read = (items: unknown, rest: object = {}, hint = `fresh ${fresh++}`) =>
  reader.read(plain, Buffer.from(JSON.stringify({ model: 'm', ...rest, items })), hint).conversation

describe('a conversation as hashes', () => {
  it('is equal for equal content whatever its white space, key order and ids', () => {
    const left = read([user('do  it\n now'), call('read', { path: 'a', n: 1 }, 'call_1'), result('x', 'call_1')])
    const right = read([user(' do it now '), call('read', '{ "n": 1, "path": "a" }', 'call_9'), result('x', 'call_9')])
    assert.equal(left.fingerprint, right.fingerprint)
    assert.equal(left.chain.tip, right.chain.tip)
    assert.equal(left.turns[0]?.calls[0]?.key, right.turns[0]?.calls[0]?.key)
  })
  it('differs when a value differs, white space inside argument strings included', () => {
    const key = (args: unknown) => read([call('write', args)]).turns[0]?.calls[0]?.key
    assert.notEqual(key({ text: 'a b' }), key({ text: 'a  b' }))
    assert.notEqual(key({ id: 41 }), key({ id: 42 }))
    assert.equal(key({ a: 1, request_id: 'x', traceId: 'y', nonce: 1 }), key({ a: 1 }))
    assert.equal(key(''), key({}))
    assert.equal(key(null), key('{}'))
    assert.notEqual(key('plain words'), key('other words'))
  })
  it('covers model, tools and tool choice, but not the cache marks of a tool', () => {
    const print = (rest: object) => read([user('hi')], rest).fingerprint
    assert.notEqual(print({ model: 'a' }), print({ model: 'b' }))
    assert.notEqual(print({ tools: [{ name: 'a' }] }), print({ tools: [{ name: 'b' }] }))
    assert.notEqual(print({ tool_choice: 'auto' }), print({ tool_choice: 'none' }))
    assert.equal(
      print({ tools: [{ name: 'a', cache_control: { type: 'ephemeral' } }] }),
      print({ tools: [{ name: 'a' }] }),
    )
    assert.notEqual(
      print({ tools: [{ name: 'a', parameters: { id: 1 } }] }),
      print({ tools: [{ name: 'a', parameters: { id: 2 } }] }),
    )
  })
  it('covers which call a result answers where the provider keeps the conversation, and only there', () => {
    const kept = {
      ...plain,
      envelope: (members: JsonObject) => ({ ...plain.envelope(members, targetOf(plain)), conversation: 'conv_1' }),
    }
    const print = (style: ApiStyle, id: string) =>
      reader.read(style, Buffer.from(JSON.stringify({ model: 'm', items: [result('ok', id)] })), id).conversation
        .fingerprint
    assert.notEqual(print(kept, 'call_1'), print(kept, 'call_2'))
    assert.equal(print(kept, 'call_1'), print(kept, 'call_1'))
    assert.equal(print(plain, 'call_1'), print(plain, 'call_2'))
  })
  it('keeps reminder spans in the fingerprint and out of the chain', () => {
    const bare = read([user('go on')])
    const reminded = read([
      user('go <system-reminder>todo is empty</system-reminder>on'),
      user('<system-reminder>x</system-reminder>'),
    ])
    assert.notEqual(bare.fingerprint, reminded.fingerprint)
    assert.equal(bare.chain.tip, reminded.chain.tip)
  })
  it('leaves system items out of the talk chain', () => {
    const one = read([{ kind: 'system', text: 'it is 10:00' }, user('hi')])
    const two = read([{ kind: 'system', text: 'it is 10:05' }, user('hi')])
    assert.notEqual(one.chain.tip, two.chain.tip)
    assert.equal(one.talk.tip, two.talk.tip)
    assert.equal(one.chain.length, 2)
    assert.equal(one.talk.length, 1)
    assert.deepEqual(one.systems, [0])
  })
})

describe('turns', () => {
  it('join texts and calls that follow one another, and count equal parallel calls once', () => {
    const { turns, chain } = read([
      user('go'),
      { kind: 'text', text: 'I look' },
      call('read', { p: 1 }, 'a'),
      call('read', { p: 1 }, 'b'),
      call('list', {}, 'c'),
    ])
    assert.equal(turns.length, 1)
    assert.equal(chain.length, 2)
    assert.deepEqual(turns[0]?.calls.map(({ tool }) => tool).sort(), ['list', 'read'])
    assert.equal(turns[0]?.item, 1)
  })
  it('pair results by id, else by position, and know errors', () => {
    const byId = read([call('a', {}, '1'), call('b', {}, '2'), result('of b', '2'), result('exit code 1', '1')])
      .turns[0]
    const error = byId?.calls.find(({ tool }) => tool === 'a')
    assert.equal(error?.error, true)
    assert.equal(byId?.calls.find(({ tool }) => tool === 'b')?.error, false)
    const byPlace = read([call('a', {}), call('b', {}), result('one'), result('two')]).turns[0]
    assert.ok(byPlace?.calls.every(({ result }) => result !== null))
    assert.equal(read([call('a', {}, '1'), result('  \n ', '1')]).turns[0]?.calls[0]?.result, null)
  })
  it('pair a late result with its call in an earlier turn, the latest of that id', () => {
    const answered = (...items: Part[]) =>
      read(items).turns.map(({ calls }) => calls.map(({ tool, result }) => (result === null ? '' : tool)).join(''))
    const [one, two, three] = [call('a', {}, '1'), call('b', {}, '2'), call('c', {}, '1')]
    assert.deepEqual(answered(one, user('wait'), two, result('late', '1')), ['a', ''])
    assert.deepEqual(answered(one, user('wait'), two, user('wait'), three, user('wait'), two, result('late', '1')), [
      '',
      '',
      'c',
      '',
    ])
    assert.deepEqual(answered(one, call('d', {}, '1'), user('wait'), two, result('late', '1')), ['d', ''])
    assert.deepEqual(answered(one, call('d', {}, '1'), result('now', '1')), ['d'])
  })
  it('pair late results after a body that ended otherwise', () => {
    const shared = [user('x'.repeat(3000)), call('a', {}, '1'), result('ok', '1'), ...'more'].map((item) =>
      typeof item === 'string' ? user(item) : item,
    )
    const goOn = (...items: Part[]) => read([...shared, ...items], {}, 'late results')
    const end = (...items: Part[]) => goOn(...items).turns
    end(call('b', {}, '2'), user('wait'), call('c', {}, '3'), result('late', '2'))
    end(call('b', {}, '2'), user('wait'), call('c', {}, '3'), result('late', '2'), user('well'))
    const turns = end(call('d', {}, '2'), user('wait'), call('c', {}, '3'), result('late', '2'))
    assert.deepEqual(
      turns.map(({ calls: [first] }) => [first?.tool, first?.result !== null]),
      [
        ['a', true],
        ['d', true],
        ['c', false],
      ],
    )
    const { loose_results } = goOn(call('e', {}, '4'), user('wait'), call('c', {}, '3'), result('late', '2'))
    assert.deepEqual(
      loose_results.map(({ id }) => id),
      ['2'],
    )
  })
  it('pair each result with its call where a turn has very many, at little cost', () => {
    const many = Array.from({ length: 5_000 }, (_, index) => `call_${index}`)
    const { turns } = read([
      ...many.map((id) => call(id, {}, id)),
      ...many.toReversed().map((id) => result(`of ${id}`, id)),
    ])
    const alone = (id: string) => read([call(id, {}, id), result(`of ${id}`, id)]).turns[0]?.calls[0]?.result
    const results = new Map(turns[0]?.calls.map(({ tool, result }) => [tool, result]))
    for (const id of ['call_0', 'call_17', 'call_4999']) assert.equal(results.get(id), alone(id))
  })
  it('mask digits in errors only', () => {
    const of = (text: string) => read([call('a', {}, '1'), result(text, '1')]).turns[0]?.calls[0]?.result
    assert.equal(of('line 12: exited with code 2'), of('line 99: exited with code 2'))
    assert.notEqual(of('progress 12 of 90'), of('progress 13 of 90'))
    assert.equal(of('Chunk ID: 1\nWall time: 2 s\nok'), of('Chunk ID: 7\nWall time: 9 s\nok'))
  })
  it('know the user message that follows, and results that came without their call', () => {
    const { turns, loose_results } = read([
      call('a', {}, '1'),
      result('x', '1'),
      user('stop'),
      call('b', {}, '2'),
      result('y', 'elsewhere'),
    ])
    assert.deepEqual(
      turns.map(({ user_after }) => user_after),
      [true, false],
    )
    assert.deepEqual(
      loose_results.map(({ id }) => id),
      ['elsewhere'],
    )
  })
  it('list the positions of texts beside results', () => {
    const { besides } = read([
      user('a'),
      call('a', {}, '1'),
      result('x', '1'),
      { kind: 'beside', text: 'new prompt' },
      { kind: 'beside', text: '<system-reminder>r</system-reminder>' },
    ])
    assert.deepEqual(besides, [3])
  })
})

describe('the opening', () => {
  it('masks times and ids in the system text, and nothing in the first user text', () => {
    const of = (system: string, text: string) => read([user(text)], { system }).opening
    assert.equal(
      of('Now: 2026-11-21T10:00:01, id 4f9c1a2b77', 'fix it'),
      of('Now: 2027-01-02T23:59:59, id 0a1b2c3d4e', 'fix it'),
    )
    assert.equal(of('Today is Sat Nov 21 2026.', 'fix it'), of('Today is Tue Dec 1 2026.', 'fix it'))
    for (const [one, other] of [
      ['It is 9:05 AM.', 'It is 12:10 PM.'],
      ['It is 9:05 a.m. in Rome', 'It is 9:05pm in Rome'],
      ['It is 9 am, Nov 23rd, 2026', 'It is 10 PM, Dec 1st, 2027'],
      ['Today: the 1st of December', 'Today: the 22nd of May'],
    ] as const)
      assert.equal(of(one, 'fix it'), of(other, 'fix it'))
    assert.notEqual(of('Take 3 amps', 'fix it'), of('Take 4 amps', 'fix it'))
    assert.notEqual(of('s', 'fix issue 1'), of('s', 'fix issue 2'))
    assert.notEqual(of('s', 'fix it'), of('t', 'fix it'))
  })
})
