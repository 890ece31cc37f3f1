import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type NewTurn, rememberTurns, type TurnNotes } from '#lib/detection'
import { conversation, type Item, result, says, step, user } from '../../../kit/conversation.ts'
import { call } from '../../../kit/evidence.ts'

const told = ({ content }: NewTurn): string => content?.results.join('+') ?? '?'

const notes: TurnNotes<string[]> = { begin: () => [], note: (state, turn) => state.push(told(turn)) }

const after = (items: readonly Item[], memory: Map<string, unknown>, more: Partial<TurnNotes<string[]>> = {}) => [
  ...(rememberTurns(call({ conversation: conversation(items) }), memory, { ...notes, ...more }) ?? []),
]

describe('turns that are remembered', () => {
  it('are noted once each, however often they are sent', () => {
    const memory = new Map<string, unknown>()
    const items = [...step('a', {}, 'one'), ...step('b', {}, 'two')]
    assert.deepEqual(after(items, memory), ['one', 'two'])
    assert.deepEqual(after(items, memory), ['one', 'two'])
    assert.deepEqual(after([...items, ...step('c', {}, 'three')], memory), ['one', 'two', 'three'])
  })
  it('are noted again where the history is another one', () => {
    const memory = new Map<string, unknown>()
    after([user('a'), ...step('a', {}, 'one'), ...step('b', {}, 'two')], memory)
    assert.deepEqual(after([user('summary'), ...step('b', {}, 'two')], memory), ['two'])
  })
  it('are no more than matter', () => {
    const items = ['one', 'two', 'three'].flatMap((text) => step('a', { text }, text))
    assert.deepEqual(after(items, new Map(), { reach: 2 }), ['two', 'three'])
  })
  it('are added by bodies that leave their history out', () => {
    const memory = new Map<string, unknown>()
    const referring = (items: readonly Item[]) =>
      rememberTurns(
        call({ conversation: conversation(items), envelope: { previous_response_id: `r${items.length}` } }),
        memory,
        notes,
      )
    referring([result('c1', 'one')])
    assert.deepEqual(referring([user('and?'), user('well?')]), ['one', '?'])
    assert.deepEqual(referring([result('c2', 'two'), user('a'), user('b')]), ['one', '?', 'two'])
  })
  it('are null where there are none, and undefined where no texts can be read', () => {
    const read = (items: readonly Item[], texts: boolean) => {
      const { turnContents, ...rest } = conversation(items)
      return rememberTurns(call({ conversation: { ...rest, ...(texts && { turnContents }) } }), new Map(), notes)
    }
    assert.equal(read([user('a')], true), null)
    assert.equal(read([user('a'), says('b')], false), undefined)
  })
})
