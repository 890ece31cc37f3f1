import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { calledTool } from '#lib/request-reader'
import { type ThreadPlacement, threadHeads } from '#lib/threads'
import { type Item, keyOf, result, step, system, user } from '../../../kit/conversation.ts'
import { call } from '../../../kit/evidence.ts'
import { Session } from '../../../kit/history.ts'
import { aRow } from '../../../kit/settled.ts'

const tools = (place: ThreadPlacement): (string | undefined)[] => place.turns.map((one) => one.calls[0]?.tool)

/** A conversation whose history the provider keeps: each request sends the results of the reply before. */
const talk = (...called: string[]): Session => {
  const session = new Session()
  session.add(call({ items: [user('fix it')] }), { response_id: 'resp_0' })
  called.forEach((tool, index) => {
    session.replied.set(`call_${index}`, calledTool(tool, {}))
    if (index < called.length - 1) session.add(after(index), { response_id: `resp_${index + 1}` })
  })
  return session
}
/** The request that answers the call of reply `index`. */
const after = (index: number, more: readonly Item[] = []) =>
  call({ items: [result(`call_${index}`, 'done'), ...more], envelope: { previous_response_id: `resp_${index}` } })

describe('a request that names the response it continues', () => {
  it('extends the row of that response', () => {
    const session = talk('a')
    const place = session.place(after(0))
    assert.equal(place.thread, session.rows[0]?.thread)
    assert.equal(place.root, false)
  })
  it('starts a thread if the response is not known', () => {
    const place = new Session().place(after(7))
    assert.equal(place.root, true)
  })
  it('follows a turn of words where it answers no call: the call before is not its last turn', () => {
    const said = call({ items: [user('thanks, now the other')], envelope: { previous_response_id: 'resp_1' } })
    const session = talk('a', 'b')
    const place = session.place(said)
    assert.deepEqual(tools(place), ['a', undefined])
    assert.deepEqual([place.turns.at(-1)?.user_after, place.keys], [true, []])
    session.add(said, { response_id: 'resp_2' })
    session.replied.set('call_2', calledTool('c', {}))
    assert.deepEqual(tools(session.place(after(2))), ['a', undefined, 'c'])
  })
  it('gets its last turn back from the calls of the reply', () => {
    const place = talk('a').place(after(0))
    const [only] = place.turns
    assert.equal(place.turns.length, 1)
    assert.deepEqual(
      only?.calls.map((one) => [one.tool, one.key, one.id]),
      [['a', keyOf('a'), 'call_0']],
    )
    assert.equal(typeof only?.calls[0]?.result, 'string')
    assert.deepEqual(place.keys, [keyOf('a')])
  })
  it('has the turns of the rows before it for a history', () => {
    assert.deepEqual(tools(talk('a', 'b', 'c').place(after(2))), ['a', 'b', 'c'])
  })
  it('does not take the turns of a fork for its own', () => {
    const session = talk('a', 'b')
    session.add(after(0, [user('or so')]), { response_id: 'resp_fork' })
    assert.deepEqual(tools(session.place(after(1))), ['a', 'b'])
  })
  it('goes back past a fork', () => {
    const session = talk('a')
    session.add(after(0, [user('or so')]), { response_id: 'resp_fork' })
    session.add(after(0), { response_id: 'resp_1' })
    session.replied.set('call_1', calledTool('b', {}))
    assert.deepEqual(tools(session.place(after(1))), ['a', 'b'])
  })
  it('reaches the turns after another attempt', () => {
    const session = talk('a', 'b')
    session.rows.splice(0)
    session.window.splice(0)
    session.fresh = 0
    session.add(call({ items: [user('fix it')] }), { response_id: 'resp_0' })
    session.add(after(0))
    const again = { ...after(0), retry_mark: true }
    session.add(again, { response_id: 'resp_1' })
    assert.deepEqual(tools(session.place(after(1))), ['a', 'b'])
  })
  it('counts a turn once, however often its results are sent', () => {
    const session = talk('a')
    session.add(after(0), { response_id: 'resp_1' })
    assert.deepEqual(session.place({ ...after(0, [system('other')]) }).keys, [])
  })
  it('sees a user message after the results', () => {
    const place = talk('a').place(after(0, [user('hurry')]))
    assert.equal(place.turns.at(-1)?.user_after, true)
    assert.deepEqual(place.keys, [])
    assert.equal(talk('a').place(after(0)).turns.at(-1)?.user_after, false)
  })
  it('never joins the thread of another subagent', () => {
    const session = talk('a')
    const place = session.place({ ...after(0), headers: { 'x-claude-code-agent-id': 'one' } })
    assert.notEqual(place.thread, session.rows[0]?.thread)
  })
})

describe('a request that names a conversation', () => {
  const said = (text: string, id = 'conv_1') => call({ items: [user(text)], envelope: { conversation: id } })
  it('has the conversation for a thread', () => {
    const session = new Session()
    const first = session.place(said('one'))
    assert.deepEqual([first.thread, first.root], ['conv_1', true])
    session.add(said('one'))
    const second = session.place(said('two'))
    assert.deepEqual([second.thread, second.root], ['conv_1', false])
  })
  it('continues from the last request that succeeded: what a failed one brought is brought again', () => {
    const answer = (id: string, more: readonly Item[] = []) =>
      call({ items: [result(id, 'done'), ...more], envelope: { conversation: 'conv_1' } })
    const session = new Session()
    session.add(said('one'), { outcome: 'ok' })
    for (const id of ['call_0', 'call_1']) session.replied.set(id, calledTool('a', {}))
    session.add(answer('call_0'), { outcome: 'ok' })
    session.add(answer('call_1'), { outcome: 'upstream_error' })
    session.add(answer('call_1', [user('still there?')]), { outcome: 'truncated' })
    assert.deepEqual(tools(session.place(answer('call_1'))), ['a', 'a'])
  })
  it('records an id of an unusual form as its hash', () => {
    assert.match(new Session().place(said('one', 'a ~ b')).thread, /^[0-9a-f]{64}$/)
  })
})

describe('what a resume marked as seen', () => {
  const begin = [system('s'), user('fix it')]
  const looped = [...begin, ...step('a'), ...step('a')]
  const resumed = (session: Session): Session => {
    session.seen = new Set(threadHeads(session.rows))
    session.fresh = 0
    session.window.splice(0)
    return session
  }
  it('is neither counted nor a candidate', () => {
    const session = new Session()
    session.add(call({ items: looped }))
    const place = resumed(session).place(call({ items: looped }))
    assert.deepEqual([place.turns, place.keys], [[], []])
    const next = session.place(call({ items: [...looped, ...step('a')] }))
    assert.deepEqual([next.turns.length, next.keys], [1, [keyOf('a')]])
  })
  it('stays seen in spite of a clock in the system prompt', () => {
    const session = new Session()
    session.add(call({ items: looped }))
    const later = [system('another minute'), ...looped.slice(1), ...step('a')]
    assert.equal(resumed(session).place(call({ items: later })).turns.length, 1)
  })
  it('includes the history that rows hold for a provider', () => {
    const session = resumed(talk('a', 'b', 'c'))
    assert.deepEqual(tools(session.place(after(2))), ['c'])
  })
  it('is a request that names its history only if it names the same', () => {
    const session = talk('a', 'b')
    session.add(after(1), { decision: 'block' })
    assert.deepEqual(tools(resumed(session).place(after(1))), [])
    assert.deepEqual(tools(session.place(after(1, [user('again')]))), ['b'])
    session.add(after(1), { response_id: 'resp_2' })
    session.replied.set('call_2', calledTool('b', {}))
    assert.deepEqual(tools(session.place(after(2))), ['b'])
  })
  it('holds every conversation that was refused, also where one that started alike came later', () => {
    const session = new Session()
    session.add(call({ items: begin }))
    session.add(call({ items: looped }), { decision: 'block' })
    session.add(call({ items: [...begin, ...step('b')] }))
    assert.deepEqual(resumed(session).place(call({ items: looped })).turns, [])
  })
  it('is the newest row of each thread, blocked or not', () => {
    const row = (thread: string, tip: string, decision: 'allow' | 'block' = 'allow') =>
      aRow({ thread, chain_tip: tip, talk_tip: `${tip} talk`, decision })
    const rows = [row('a', '4', 'block'), row('b', '3'), row('a', '2'), row('b', '1')]
    assert.deepEqual(threadHeads(rows), ['4', '4 talk', '3', '3 talk'])
  })
})
