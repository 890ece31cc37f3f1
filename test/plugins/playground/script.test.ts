import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Answer, type Failure, scenario } from 'guard-gateway/plugins/playground'
import { inHouse, type Run } from './kit.ts'

const styles = ['chat_completions', 'messages', 'responses']
const anything = { shadow: {}, enforce: {} }
const call = { call: 'read_file', arguments: { path: 'a.ts', lines: [1, 2] }, id: 'call_7' }

/** One request that is answered so. */
const answered = (id: string, reply: Answer | Failure) =>
  scenario({
    id,
    title: id,
    summary: 'A test.',
    kind: 'model',
    steps: [{ what: 'asks', do: 'request', say: [{ system: 'Be brief.' }, { user: 'Go.' }], reply, expect: anything }],
  })

const usage = { input_tokens: 70, output_tokens: 7 }

const replies: Readonly<Record<string, Answer | Failure>> = {
  'whole-text': { ...usage, text: 'Two words.' },
  'whole-call': { ...usage, calls: [call] },
  'whole-both': { ...usage, text: 'Let me see.', calls: [call, { ...call, id: 'call_8', arguments: {} }] },
  'streamed-text': { ...usage, text: 'Two words.', stream: true },
  'streamed-call': { ...usage, calls: [call], stream: true },
  'streamed-both': {
    ...usage,
    text: 'Let me see.',
    calls: [call, { ...call, id: 'call_8', arguments: {} }],
    stream: true,
  },
  'cut-text': { ...usage, text: 'Never to its end.', stream: true, cut_after: 4 },
  failed: { status: 529, error_type: 'overloaded_error', message: 'Too much.' },
}

const more = Object.entries(replies).map(([id, reply]) => answered(id, reply))

/** What the recorder kept of the one request of a run. */
const recordsOf = async (style: string) => {
  const readings: Record<string, object> = {}
  const sizes: Record<string, number> = {}
  await inHouse(
    async (house) => {
      house.gateway.hooks.settle.tap('test', ({ reading, call: { project_id, envelope } }) => {
        const { output_bytes, response_id, ...read } = reading
        sizes[project_id] = output_bytes
        readings[project_id] = { ...read, asked: envelope.stream, hasId: response_id !== null }
      })
      for (const { id } of more) {
        const run: Run = await house.run({ scenario: id, style })
        assert.equal(run.status, 'completed')
      }
      assert.deepEqual(house.faults, [])
    },
    { more },
  )
  return { readings, sizes }
}

/** How each dialect says why a reply ended. */
const finishes: Readonly<Record<string, readonly [text: string, call: string]>> = {
  chat_completions: ['stop', 'tool_calls'],
  messages: ['end_turn', 'tool_use'],
  responses: ['completed', 'completed'],
}

/** How much of the text has passed when the stream breaks off after its fourth event. */
const cutTexts: Readonly<Record<string, string>> = {
  chat_completions: 'Never to its',
  messages: 'Never to',
  responses: 'Never',
}

const shapeOf = (reading: object | undefined): Record<string, unknown> => ({ ...reading })

describe('scripted replies are what the style they are written in reads', () => {
  for (const style of styles) {
    it(style, async () => {
      const { readings, sizes } = await recordsOf(style)
      const [text, tool] = finishes[style] ?? []
      const full = {
        input_tokens: 70,
        cache_read_tokens: 0,
        cache_write_tokens: 0,
        cache_write_5m_tokens: 0,
        cache_write_1h_tokens: 0,
        output_tokens: 7,
        reasoning_tokens: 0,
        total_tokens: 77,
      }
      const callsOf = (value: unknown) =>
        (value as readonly { id: string; tool: string; args: unknown }[]).map(({ id, tool: name, args }) => ({
          id,
          tool: name,
          args: typeof args === 'string' ? JSON.parse(args) : args,
        }))
      for (const [kind, asked] of [
        ['whole', false],
        ['streamed', true],
      ] as const) {
        const expected = [
          ['text', text, []],
          ['call', tool, [{ id: 'call_7', tool: 'read_file', args: call.arguments }]],
          [
            'both',
            tool,
            [
              { id: 'call_7', tool: 'read_file', args: call.arguments },
              { id: 'call_8', tool: 'read_file', args: {} },
            ],
          ],
        ] as const
        for (const [what, finish_reason, calls] of expected) {
          const { calls: read, ...rest } = shapeOf(readings[`playground-${kind}-${what}`])
          assert.deepEqual(callsOf(read), calls, `${kind} ${what}`)
          assert.deepEqual(
            rest,
            {
              ...{ usage: full, model: 'playground-model', finish_reason, service_tier: null, inference_geo: null },
              ...{ error: null, complete: true, asked, hasId: true },
            },
            `${kind} ${what}`,
          )
        }
      }
      const cut = shapeOf(readings['playground-cut-text'])
      assert.deepEqual([cut.complete, cut.error, cut.finish_reason], [false, null, null])
      // four events got through, the last one too
      assert.equal(sizes['playground-cut-text'], Buffer.byteLength(cutTexts[style] ?? ''))
      const failed = shapeOf(readings['playground-failed'])
      assert.deepEqual(failed.error, { type: 'overloaded_error', code: null, message: 'Too much.' })
    })
  }
})
