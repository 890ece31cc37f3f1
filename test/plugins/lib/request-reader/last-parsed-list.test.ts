import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { RequestReader } from 'guard-gateway/lib/request-reader'
import { plain } from '../../../kit/plain-style.ts'

const reader = new RequestReader()
/** A body that starts like no other, around whose list is what was around the last one's. */
const body = (text: string) =>
  Buffer.from(
    JSON.stringify({
      model: 'm',
      items: [
        { kind: 'user', text },
        { kind: 'call', tool: 'look', arguments: { text }, id: `call ${text}` },
        { kind: 'result', call_id: `call ${text}`, text: `seen ${text}` },
      ],
    }),
  )
const read = (text: string) => reader.read(plain, body(text), text).conversation

describe('the list of a body', () => {
  it('is read again for a request that asks later, when others have come', () => {
    const alone = read('one').opening
    const [first, second] = [read('one'), read('two')]
    assert.equal(first.opening, alone)
    assert.notEqual(second.opening, alone)
    assert.deepEqual(first.resultTexts?.(1), [['seen one']])
    assert.deepEqual(second.resultTexts?.(1), [['seen two']])
  })

  it('is empty where the body has none', () => {
    const conversation = reader.read(plain, Buffer.from('{"model":"m"}'), '').conversation
    assert.notEqual(conversation.opening, '')
    assert.deepEqual(conversation.resultTexts?.(1), [])
  })
})
