import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ApiStyle, Call } from 'guard-gateway/core'
import { chatCompletions } from 'guard-gateway/plugins/api-styles/chat-completions'
import { messages } from 'guard-gateway/plugins/api-styles/messages'
import { responses } from 'guard-gateway/plugins/api-styles/responses'
import { readRequest } from '#lib/request-reader'
import { call } from '../../kit/evidence.ts'
import { aReading } from '../../kit/settled.ts'
import { defaultRules, newSession, restarted, startBench } from './kit.ts'

const enforced = () => startBench({ defaults: defaultRules, default_mode: 'enforce' })

/** A request as a client of this style would send it. */
const sent = (style: ApiStyle, body: object, over: Partial<Call> = {}): Call => {
  const bytes = Buffer.from(JSON.stringify(body))
  return call({ over: { style: style.id, body: bytes, ...readRequest(style, bytes), ...over } })
}

/** Three calls of one tool with the same arguments, as each dialect tells them; ids differ. */
const loops: readonly (readonly [ApiStyle, (turns: number) => object])[] = [
  [
    messages,
    (turns) => ({
      model: 'm',
      max_tokens: 100,
      system: 'You are an agent.',
      messages: [
        { role: 'user', content: 'fix it' },
        ...Array.from({ length: turns }, (_, n) => [
          { role: 'assistant', content: [{ type: 'tool_use', id: `t${n}`, name: 'read', input: { path: 'a' } }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${n}`, content: 'text' }] },
        ]).flat(),
      ],
    }),
  ],
  [
    chatCompletions,
    (turns) => ({
      model: 'm',
      messages: [
        { role: 'system', content: 'You are an agent.' },
        { role: 'user', content: 'fix it' },
        ...Array.from({ length: turns }, (_, n) => [
          {
            role: 'assistant',
            tool_calls: [{ id: `t${n}`, type: 'function', function: { name: 'read', arguments: '{"path": "a"}' } }],
          },
          { role: 'tool', tool_call_id: `t${n}`, content: 'text' },
        ]).flat(),
      ],
    }),
  ],
  [
    responses,
    (turns) => ({
      model: 'm',
      instructions: 'You are an agent.',
      input: [
        { role: 'user', content: 'fix it' },
        ...Array.from({ length: turns }, (_, n) => [
          { type: 'function_call', call_id: `t${n}`, name: 'read', arguments: '{"path":"a"}' },
          { type: 'function_call_output', call_id: `t${n}`, output: 'text' },
        ]).flat(),
      ],
    }),
  ],
]

describe('a loop in a growing conversation', () => {
  for (const [style, body] of loops) {
    it(`is blocked at its third turn in ${style.id}`, async () => {
      const bench = await enforced()
      const session = newSession()
      const decisions = []
      for (const turns of [0, 1, 2, 3]) decisions.push(await bench.send(sent(style, body(turns), { session })))
      assert.deepEqual(
        decisions.map((one) => one.reason),
        [null, null, null, 'LOOP_TOOL_CALL'],
      )
      assert.equal(decisions.at(-1)?.matches[0]?.results_equal, true)
      assert.deepEqual(
        decisions.map((one) => one.row?.root),
        [true, false, false, false],
      )
      assert.equal(new Set(decisions.map((one) => one.row?.thread)).size, 1)
    })
  }
})

describe('a prompt typed after a refusal', () => {
  const looped = loops[0]?.[1](3) as { messages: { role: string; content: unknown }[] }
  /** The last message also holds this text, next to its tool result. */
  const withText = (text: string) => ({
    ...looped,
    messages: looped.messages.map((message, index) =>
      index === looped.messages.length - 1
        ? { ...message, content: [...(message.content as object[]), { type: 'text', text }] }
        : message,
    ),
  })
  it('ends the block; a reminder or a text that was refused before does not', async () => {
    const bench = await enforced()
    const session = newSession()
    const ask = async (body: object) => (await bench.send(sent(messages, body, { session }))).decision
    assert.equal(await ask(looped), 'block')
    assert.equal(await ask(withText('<system-reminder>Be brief.</system-reminder>')), 'block')
    assert.equal(await ask(withText('look elsewhere')), 'allow')
  })
  it('is none without a refusal', async () => {
    const bench = await enforced()
    const decision = await bench.send(sent(messages, withText('look elsewhere'), { session: newSession() }))
    assert.equal(decision.reason, 'LOOP_TOOL_CALL')
  })
})

describe('responses that keep their history', () => {
  const reasons = async (hasRestarts: boolean) => {
    const bench = await startBench({ defaults: defaultRules, default_mode: 'enforce' }, [responses])
    let session = newSession()
    const decisions = []
    for (let n = 0; n < 4; n++) {
      if (hasRestarts) session = restarted(session)
      const body =
        n === 0
          ? { model: 'm', input: 'fix it' }
          : {
              model: 'm',
              previous_response_id: `resp_${n - 1}`,
              input: [{ type: 'function_call_output', call_id: `t${n - 1}`, output: 'text' }],
            }
      const reading = aReading({
        response_id: `resp_${n}`,
        calls: [{ id: `t${n}`, tool: 'read', args: '{"path":"a"}' }],
      })
      decisions.push(await bench.send(sent(responses, body, { session }), { reading }))
    }
    return decisions.map((one) => one.reason)
  }
  it('are judged by what their replies called', async () => {
    assert.deepEqual(await reasons(false), [null, null, null, 'LOOP_TOOL_CALL'])
  })
  it('also where the gateway was started again before each of them', async () => {
    assert.deepEqual(await reasons(true), [null, null, null, 'LOOP_TOOL_CALL'])
  })
})

describe('single requests of a generic shape', () => {
  it('are compared by their tool call', async () => {
    const bench = await enforced()
    const session = newSession()
    const decisions = []
    for (const n of [1, 2, 3]) {
      const body = { model: 'm', input: `attempt ${n}`, tool_name: 'search', arguments: { q: 'x' } }
      decisions.push(await bench.send(sent(responses, body, { session })))
    }
    assert.deepEqual(
      decisions.map((one) => one.reason),
      [null, null, 'LOOP_TOOL_CALL'],
    )
    assert.equal(decisions.at(-1)?.matches[0]?.evidence, 'session')
  })
})
