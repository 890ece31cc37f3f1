import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ApiStyle } from 'guard-gateway/core'
import { chatCompletions } from 'guard-gateway/plugins/api-styles/chat-completions'
import { messages } from 'guard-gateway/plugins/api-styles/messages'
import { responses } from 'guard-gateway/plugins/api-styles/responses'
import { readRequest } from '#lib/request-reader'

/** More than a function takes arguments. */
const MANY = 140_000

const times = (json: string): string => `${json},`.repeat(MANY - 1) + json

const toolUse = times('{"type":"tool_use","id":"a","name":"b","input":1}')

describe('more tool calls than anybody makes', () => {
  it('are read in one message', () => {
    const body = `{"model":"m","messages":[{"role":"assistant","content":[${toolUse}]},{"role":"user","content":"go on"}]}`
    const { turns } = readRequest(messages, Buffer.from(body)).conversation
    assert.deepEqual(
      turns.map(({ calls }) => calls.map(({ tool }) => tool)),
      [['b']],
    )
  })

  const replies: readonly (readonly [style: ApiStyle, body: string])[] = [
    [messages, `{"type":"message","content":[${toolUse}]}`],
    [
      chatCompletions,
      `{"choices":[{"message":{"tool_calls":[${times('{"id":"a","function":{"name":"b","arguments":"1"}}')}]}}]}`,
    ],
    [responses, `{"output":[${times('{"type":"function_call","call_id":"a","name":"b","arguments":"1"}')}]}`],
  ]
  for (const [style, body] of replies)
    it(`are read in a reply of ${style.id}`, () => {
      const meter = style.meter({ status: 200, stream: false })
      meter.push(Buffer.from(body))
      assert.equal(meter.end().calls.length, MANY)
    })
})
