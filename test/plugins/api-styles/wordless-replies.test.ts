import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ApiStyle } from 'guard-gateway/core'
import { chatCompletions } from 'guard-gateway/plugins/api-styles/chat-completions'
import { messages } from 'guard-gateway/plugins/api-styles/messages'
import { responses } from 'guard-gateway/plugins/api-styles/responses'
import type { Answer } from 'guard-gateway/plugins/playground'
import type { Dialect } from '../../../plugins/playground/dialects/dialect.ts'
import { chatCompletions as chatWords } from '../../../plugins/playground/dialects/index.ts'
import { messages as messagesWords } from '../../../plugins/playground/dialects/messages.ts'
import { responses as responsesWords } from '../../../plugins/playground/dialects/responses.ts'

const styles: readonly (readonly [ApiStyle, Dialect])[] = [
  [chatCompletions, chatWords],
  [messages, messagesWords],
  [responses, responsesWords],
]

const tokens = { input_tokens: 10, output_tokens: 500 }
const call = { call: 'read_file', arguments: { path: 'a' }, id: 'call_1' }

const answers: Readonly<Record<string, readonly [answer: Answer, wordless: boolean]>> = {
  reasoning: [{ reasoning: 'Once more from the beginning.', ...tokens }, true],
  'reasoning, then text': [{ reasoning: 'Once more.', text: 'Here.', ...tokens }, false],
  'reasoning, then a call': [{ reasoning: 'Once more.', calls: [call], ...tokens }, false],
  text: [{ text: 'Here.', ...tokens }, false],
  nothing: [tokens, false],
}

const metered = (style: ApiStyle, stream: boolean, text: string, status = 200) => {
  const meter = style.meter({ status, stream })
  meter.push(Buffer.from(text))
  return meter.end()
}

describe('replies without a word', () => {
  for (const [style, dialect] of styles) {
    for (const [what, [answer, wordless]] of Object.entries(answers)) {
      it(`${style.id}: ${what}`, () => {
        const whole = metered(style, false, JSON.stringify(dialect.reply('1', answer)))
        const streamed = metered(style, true, dialect.events('1', answer).join(''))
        assert.deepEqual([whole.wordless === true, streamed.wordless === true], [wordless, wordless])
      })
    }
    it(`${style.id}: an error is none`, () => {
      const body = JSON.stringify(dialect.error({ status: 500, error_type: 'api_error', message: 'no' }))
      assert.equal(metered(style, false, body, 500).wordless, undefined)
    })
  }
  it('are known by their usage where the provider keeps its reasoning to itself', () => {
    const reply = (content: string | null) => ({
      choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'length' }],
      usage: {
        prompt_tokens: 9,
        completion_tokens: 400,
        total_tokens: 409,
        completion_tokens_details: { reasoning_tokens: 400 },
      },
    })
    assert.equal(metered(chatCompletions, false, JSON.stringify(reply(''))).wordless, true)
    assert.equal(metered(chatCompletions, false, JSON.stringify(reply('Here.'))).wordless, undefined)
  })
  it('are those of Messages that end within a thought', () => {
    const content = [{ type: 'redacted_thinking', data: 'x' }]
    const reply = { type: 'message', content, stop_reason: 'max_tokens', usage: { input_tokens: 1, output_tokens: 9 } }
    assert.equal(metered(messages, false, JSON.stringify(reply)).wordless, true)
  })
})
