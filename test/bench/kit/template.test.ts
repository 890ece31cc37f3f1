import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { body, bodyOf, random, STAMP, stamp, template } from 'guard-gateway/bench'

const options = { first: 100, turns: 3, result: 200, system: 100, tools: 2, stream: false, seed: 7 } as const

for (const style of ['chat_completions', 'messages'] as const) {
  describe(`a template of ${style}`, () => {
    const conversation = template({ ...options, style })
    const turnsOf = (bytes: Buffer): number => (JSON.parse(bytes.toString()) as { messages: unknown[] }).messages.length

    it('is equal for equal seeds and differs for others', () => {
      assert.deepEqual(template({ ...options, style }), conversation)
      assert.notDeepEqual(template({ ...options, style, seed: 8 }).bytes, conversation.bytes)
    })
    it('is valid JSON after each cut, and grows by two messages per turn', () => {
      const lengths = conversation.ends.map((_, turns) => turnsOf(bodyOf(conversation, turns)))
      assert.equal(lengths.length, 4)
      for (const [turn, length] of lengths.entries()) assert.equal(length, (lengths[0] ?? 0) + 2 * turn)
    })
    it('has a stamp in every message except the system prompt, so that a new stamp makes a new conversation', () => {
      const bytes = Buffer.from(conversation.bytes)
      stamp(bytes, conversation.stamps, '123456789abc')
      const { messages } = JSON.parse(`${bytes}${conversation.tail}`) as { messages: { role: string }[] }
      for (const message of messages.filter(({ role }) => role !== 'system'))
        assert.match(JSON.stringify(message), /123456789abc/)
      assert.equal(bytes.includes('stamp_'), false)
      assert.equal(bytes.length, conversation.bytes.length)
      assert.equal('123456789abc'.length, STAMP)
    })
  })
}

describe('bodies', () => {
  it('have about the requested size', () => {
    for (const kib of [1, 32, 512]) {
      const { length } = body('chat_completions', kib)
      assert.ok(Math.abs(length / 1024 - kib) < kib * 0.15, `${length} bytes for ${kib} KiB`)
    }
  })
})

describe('random', () => {
  it('returns equal numbers for equal seeds, all from 0 to below 1', () => {
    const [one, two] = [random(3), random(3)]
    const values = Array.from({ length: 100 }, one)
    assert.deepEqual(values, Array.from({ length: 100 }, two))
    assert.ok(values.every((value) => value >= 0 && value < 1))
    assert.equal(new Set(values).size, 100)
  })
})
