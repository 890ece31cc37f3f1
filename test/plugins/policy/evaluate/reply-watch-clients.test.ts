import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { type Dialect, dialectOf, dialects, productive } from '../../../kit/dialogue.ts'
import { type Started, startGateway } from '../../../kit/gateway.ts'
import { type FakeProvider, fakeProvider } from '../../../kit/provider.ts'
import { chatReply, messagesReply, type WholeReply } from '../../../kit/replies.ts'

const CHANT = 'I will read the file once more to see what is wrong with it now. '
const LONG = `Here is what I found. ${CHANT.repeat(40)}`
const SHORT = 'I read the file and the port is set in line four of it.'

/** A stream of Responses as the provider sends it, with the events around its text. */
const responsesStream = (text: string): WholeReply => {
  let sequence = 0
  const event = (type: string, more: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence++, ...more })}\n\n`
  const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'm-1', status: 'in_progress', output: [] }
  const place = { item_id: 'msg_1', output_index: 0, content_index: 0 }
  const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'in_progress', content: [] }
  const part = { type: 'output_text', text: '', annotations: [], logprobs: [] }
  const done = { ...item, status: 'completed', content: [{ ...part, text }] }
  return {
    type: 'text/event-stream',
    body: [
      event('response.created', { response }),
      event('response.output_item.added', { output_index: 0, item }),
      event('response.content_part.added', { ...place, part }),
      ...text.split(/(?<= )/).map((delta) => event('response.output_text.delta', { ...place, delta, logprobs: [] })),
      event('response.output_text.done', { ...place, text, logprobs: [] }),
      event('response.content_part.done', { ...place, part: { ...part, text } }),
      event('response.output_item.done', { output_index: 0, item: done }),
      event('response.completed', { response: { ...response, status: 'completed', output: [done] } }),
    ].join(''),
  }
}

const replies: Readonly<Record<Dialect['style'], (text: string) => WholeReply>> = {
  chat_completions: (text) => chatReply(true, text),
  messages: (text) => messagesReply(true, text),
  responses: responsesStream,
}

describe('rules that listen to replies', () => {
  let provider: FakeProvider
  let gateway: Started
  before(async () => {
    provider = await fakeProvider()
    gateway = await startGateway({ upstream: provider.url, config: 'default_mode: enforce' })
  })
  after(async () => {
    await gateway.close()
    await provider.close()
  })

  const rules = (rule: object) =>
    gateway.request('PUT', '/api/policies/default', { rules: [{ rule_type: 'content_chant', ...rule }] })
  const script = ({ style }: Dialect, text: string, pieces = [700]) => {
    const { type, body } = replies[style](text)
    provider.script({ headers: { 'content-type': type }, body, chunked: true, pieces })
    return body
  }
  const record = async () => {
    const { rows } = await gateway.gateway.storage.find('calls', { order: ['recorded', 'desc'], limit: 1 })
    return rows[0]
  }
  const openai = () => new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.url}/v1`, maxRetries: 0 })

  for (const dialect of dialects) {
    it(`flags a chant in ${dialect.style} and passes every byte`, async () => {
      await rules({ action: 'block' })
      const body = script(dialect, LONG)
      const answer = await gateway.request('POST', dialect.path, dialect.body(productive(1), { stream: true }))
      assert.equal(answer.text, body)
      assert.equal(answer.headers.get('x-guard-decision'), 'allow')
      const row = await record()
      assert.deepEqual([row?.decision, row?.reason, row?.outcome], ['shadow_flag', 'LOOP_CONTENT', 'ok'])
      assert.equal(row?.matches?.[0]?.evidence, 'stream')
      assert.deepEqual(row?.matches?.[0]?.where, [{ request: row?.id }])
    })
    it(`finds nothing in an ordinary reply of ${dialect.style}`, async () => {
      await rules({ action: 'block', params: { cut: true } })
      const body = script(dialect, SHORT)
      const answer = await gateway.request('POST', dialect.path, dialect.body(productive(1), { stream: true }))
      assert.equal(answer.text, body)
      assert.deepEqual([(await record())?.decision, (await record())?.outcome], ['allow', 'ok'])
    })
    it(`with cut ends a stream of ${dialect.style} early, behind whole events, wherever it is cut`, async () => {
      await rules({ action: 'block', params: { cut: true } })
      for (const pieces of [[1000], [97], [1, 2, 3]]) {
        const body = script(dialect, LONG, pieces)
        const answer = await gateway.request('POST', dialect.path, dialect.body(productive(1), { stream: true }))
        assert.ok(answer.text.length < body.length * 0.8, `${answer.text.length} of ${body.length}`)
        for (const line of answer.text.split('\n')) {
          if (line.startsWith('data: {')) assert.equal(typeof JSON.parse(line.slice(6)), 'object')
        }
        assert.ok(answer.text.endsWith('\n\n'))
        assert.deepEqual([(await record())?.reason, (await record())?.outcome], ['LOOP_CONTENT', 'interrupted'])
      }
    })
  }

  it('the official clients read what was cut as a reply whose tokens ran out', async () => {
    await rules({ action: 'block', params: { cut: true } })
    script(dialectOf('chat_completions'), LONG)
    const chat = openai().chat.completions.stream({ model: 'm-1', messages: [{ role: 'user', content: 'hi' }] })
    const reasons: unknown[] = []
    for await (const chunk of chat) reasons.push(chunk.choices[0]?.finish_reason)
    assert.equal(reasons.at(-1), 'length')

    script(dialectOf('messages'), LONG)
    const anthropic = new Anthropic({ apiKey: gateway.key, baseURL: gateway.url, maxRetries: 0 })
    const message = await anthropic.messages
      .stream({ model: 'm-1', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] })
      .finalMessage()
    assert.equal(message.stop_reason, 'max_tokens')
    assert.match(message.content[0]?.type === 'text' ? message.content[0].text : '', /^Here is what I found\. I will/)

    script(dialectOf('responses'), LONG)
    const response = await openai().responses.stream({ model: 'm-1', input: 'hi' }).finalResponse()
    assert.deepEqual([response.status, response.incomplete_details?.reason], ['incomplete', 'max_output_tokens'])
    assert.match(response.output_text, /^Here is what I found\. I will/)
  })
  it('cut needs enforce mode, a rule that blocks, and a reply of no announced length', async () => {
    const dialect = dialectOf('chat_completions')
    const ask = async () =>
      (await gateway.request('POST', dialect.path, dialect.body(productive(1), { stream: true }))).text
    await rules({ action: 'flag', params: { cut: true } })
    assert.equal(await passesWhole(dialect, ask), true)
    await gateway.request('PUT', '/api/policies/default', { mode: 'shadow' })
    await rules({ action: 'block', params: { cut: true } })
    assert.equal(await passesWhole(dialect, ask), true)
    await gateway.request('PUT', '/api/policies/default', { mode: null })
    const { type, body } = replies.chat_completions(LONG)
    provider.script({ headers: { 'content-type': type }, body })
    assert.equal(await ask(), body)
  })
  it('hears a reply that does not stream', async () => {
    await rules({ action: 'flag' })
    for (const { style, path, body } of dialects) {
      const { type, body: text } = whole[style]
      provider.script({ headers: { 'content-type': type }, body: text })
      assert.equal((await gateway.request('POST', path, body(productive(1)))).text, text)
      assert.equal((await record())?.reason, 'LOOP_CONTENT', style)
    }
  })
  it('counts the session as flagged', async () => {
    const { rows } = await gateway.gateway.storage.find('sessions', {})
    assert.ok(rows.reduce((sum, { flagged }) => sum + flagged, 0) >= 3)
  })

  const passesWhole = async (dialect: Dialect, ask: () => Promise<string>) => script(dialect, LONG) === (await ask())
})

const whole: Readonly<Record<Dialect['style'], WholeReply>> = {
  chat_completions: chatReply(false, LONG),
  messages: messagesReply(false, LONG),
  responses: {
    type: 'application/json',
    body: JSON.stringify({
      id: 'resp_1',
      object: 'response',
      model: 'm-1',
      status: 'completed',
      output: [
        { type: 'reasoning', summary: [] },
        { type: 'message', id: 'item_1', role: 'assistant', content: [{ type: 'output_text', text: LONG }] },
      ],
    }),
  },
}
