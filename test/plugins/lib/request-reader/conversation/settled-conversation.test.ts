import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Call, Settled } from 'guard-gateway/core'
import { ask, start } from '../../../http/kit.ts'

const body = JSON.stringify({
  model: 'test-model',
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Read it.' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'read', arguments: '{"path":"a"}' } }],
    },
    { role: 'tool', tool_call_id: 'call_1', content: 'It says a.' },
  ],
})

const seen = ({ conversation }: Call) => ({
  turns: conversation.turns.length,
  chain: conversation.chain.length,
  talk: conversation.talk.tip.length,
  systems: conversation.systems.length,
  opening: conversation.opening !== '',
})

/** Runs one call whose settlement is told to two taps, of which the first takes until `late` resolves. */
const settledCall = async (late: () => Promise<void> | undefined) => {
  let settled: Settled | undefined
  const told: ReturnType<typeof seen>[] = []
  await using running = await start({
    plugins: [
      {
        name: 'listening',
        apply: ({ hooks }) => {
          hooks.settle.tapPromise({ name: 'listening', stage: 10 }, async (one) => {
            settled = one
            await late()
            told.push(seen(one.call))
          })
          hooks.settle.tap({ name: 'listening', stage: 20_000 }, ({ call }) => void told.push(seen(call)))
        },
      },
    ],
  })
  const { status } = await ask(running.port, { body })
  assert.equal(status, 200)
  assert.ok(settled)
  return { told, call: settled.call }
}

describe('the conversation of a call', () => {
  const whole = { turns: 1, chain: 4, talk: 32, systems: 1, opening: true }

  for (const [name, late] of [
    ['at once', () => undefined],
    ['later', () => new Promise<void>((resolve) => setImmediate(resolve))],
  ] as const)
    it(`is whole for all who are told that it is settled, and let go of when they are done ${name}`, async () => {
      const { told, call } = await settledCall(late)
      assert.deepEqual(told, [whole, whole])
      assert.deepEqual(seen(call), { turns: 0, chain: 0, talk: 0, systems: 0, opening: false })
      assert.match(call.conversation.fingerprint, /^[0-9a-f]{64}$/)
      assert.ok(call.conversation.text_bytes > 0)
    })
})
