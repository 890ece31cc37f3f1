import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Item, result, says, step, system, user } from '../../../kit/conversation.ts'
import { call } from '../../../kit/evidence.ts'
import { Session } from '../../../kit/history.ts'

const begin: Item[] = [system('you are an agent'), user('fix it')]
const read = () => step('read_file', { path: 'a' })

describe('a user message', () => {
  const items = [...begin, ...read()]
  const said = [...items, user('go on')]
  it('is told once, by the request that brings it: alone, before new turns, or with a refused one', () => {
    const session = new Session()
    const brought = (now: readonly Item[], extra = '') => session.add(call({ items: now, extra })).user_first
    assert.deepEqual([brought(begin), brought(items), brought([...items, result('late', 'x')])], [false, false, false])
    assert.deepEqual([brought(said), brought(said, 'again'), brought([...said, system('s')])], [true, false, false])
    assert.deepEqual([brought([...said, ...read()]), brought([...said, ...read(), says('done')])], [false, false])
    assert.equal(brought([...said, ...read(), says('done'), user('more'), ...read()]), true)
    assert.equal(brought([...begin, ...read(), user('another'), ...read()]), true)
  })
  it('is told of no beginning', () => {
    assert.equal(new Session().place(call({ items: [...said, ...read()] })).user_first, false)
  })
})
