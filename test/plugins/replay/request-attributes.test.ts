import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Attributes } from 'guard-gateway/core'
import { dialectOf, dialects } from '../../kit/dialogue.ts'
import { type Service, startService } from '../../kit/service.ts'

/** The member for the reply limit in each API style. */
const limits = { chat_completions: 'max_completion_tokens', responses: 'max_output_tokens', messages: 'max_tokens' }
const asked = 'gen_ai.request.max_tokens'
const warmth = 'gen_ai.request.temperature'

describe('the span of a model request', () => {
  let service: Service
  before(async () => {
    service = await startService({ backend: 'sqlite' })
  })
  after(() => service[Symbol.asyncDispose]())

  const attributesOf = async (style: keyof typeof limits, more: object): Promise<Attributes> => {
    const { headers, status, text } = await service.send(dialectOf(style), [{ user: 'hello' }], {}, more)
    assert.equal(status, 200, text)
    const { json } = await service.request('GET', `/api/v1/runs/${headers.get('x-guard-trace-id')}`)
    const { spans } = json as { spans: readonly { name: string; attributes: Attributes }[] }
    const found = spans.findLast(({ name }) => name === 'gen_ai.request')
    assert.ok(found)
    return found.attributes
  }

  for (const { style } of dialects) {
    it(`${style}: has the requested limit and temperature, and the upstream`, async () => {
      const attributes = await attributesOf(style, { [limits[style]]: 77, temperature: 0.2 })
      assert.deepEqual([attributes[asked], attributes[warmth]], [77, 0.2])
      assert.equal(attributes['server.address'], '127.0.0.1')
    })
  }
  it('omits absent and non-numeric values', async () => {
    const plain = await attributesOf('chat_completions', {})
    assert.ok(!(asked in plain) && !(warmth in plain))
    const odd = await attributesOf('chat_completions', { max_completion_tokens: 1.5, temperature: 'warm' })
    assert.ok(!(asked in odd) && !(warmth in odd))
    const zero = await attributesOf('chat_completions', { temperature: 0 })
    assert.equal(zero[warmth], 0)
  })
})
