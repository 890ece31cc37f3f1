import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { chatCompletions } from 'guard-gateway/plugins/api-styles/chat-completions'
import { callKey, readRequest } from '#lib/request-reader'
import { field } from '../../../../../plugins/lib/request-reader/conversation/fingerprint.ts'

describe('fields that are hashed together', () => {
  it('are never joined to one text', () => {
    const lists = [
      ['a', 'b\0c'],
      ['a\0b', 'c'],
      ['a', 'b', 'c'],
      ['"a\\u0000b"', 'c'],
      ['', 'a'],
      ['a', ''],
    ]
    const joined = lists.map((list) => list.map(field).join('\0'))
    assert.equal(new Set(joined).size, lists.length)
  })
  it('stay as they are where nothing needs telling apart, so that stored keys continue', () => {
    assert.equal(field('read_file'), 'read_file')
    assert.equal(callKey('read_file', '{}'), callKey('read_file', '{}'))
  })
  it('keep calls apart whose names hold NUL', () => {
    assert.notEqual(callKey('a\0b', 'c'), callKey('a', 'b\0c'))
  })
  it('keep requests apart whose models hold NUL', () => {
    const print = (model: string, tool_choice?: string) =>
      readRequest(
        chatCompletions,
        Buffer.from(JSON.stringify({ model, messages: [], ...(tool_choice ? { tool_choice } : {}) })),
      ).conversation.fingerprint
    assert.notEqual(print('m\0\0"auto"'), print('m', 'auto'))
  })
})
