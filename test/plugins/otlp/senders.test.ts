import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { TreeSpan } from '#lib/trace'
import { databaseBytes, startReceiver } from './kit.ts'

const FOLDER = join(import.meta.dirname, '../../data/otlp-senders')

/** What a sender sent for two model calls and a call of the tool `read_file` between them. */
const recording = async (name: string): Promise<Record<string, unknown>> => {
  const { sender, ...body } = JSON.parse(await readFile(join(FOLDER, `${name}.json`), 'utf8'))
  assert.ok(sender)
  return body
}

const valuesOf = (spans: readonly TreeSpan[], name: string): readonly unknown[] =>
  spans.map(({ attributes }) => attributes[name]).filter((value) => value !== undefined)

interface Expected {
  /** Attributes and all values that they have, in the order of the spans. */
  readonly kept: Readonly<Record<string, readonly unknown[]>>
  readonly model: string
  readonly tool: string
}

const TWO_CALLS = { 'gen_ai.usage.input_tokens': [1001, 1002], 'gen_ai.usage.output_tokens': [21, 22] }

const senders: Readonly<Record<string, Expected>> = {
  'ai-sdk': {
    // the enclosing span repeats the last call's usage
    kept: {
      'gen_ai.usage.input_tokens': [1001, 1002, 1002],
      'gen_ai.usage.output_tokens': [21, 22, 22],
      'ai.toolCall.id': ['call_1'],
      'gen_ai.response.id': ['chatcmpl_1', 'chatcmpl_2'],
    },
    model: 'gen_ai.request.model',
    tool: 'ai.toolCall.name',
  },
  openinference: {
    kept: { ...TWO_CALLS, 'llm.token_count.prompt_details.cache_read': [400, 400], 'llm.system': ['openai', 'openai'] },
    model: 'llm.model_name',
    tool: 'name',
  },
  traceloop: {
    kept: { ...TWO_CALLS, 'gen_ai.response.finish_reasons': [['tool_call'], ['stop']] },
    model: 'gen_ai.response.model',
    tool: '',
  },
  langfuse: {
    kept: {
      'langfuse.observation.usage_details': [
        '{"input":601,"output":16,"total":1022,"input_cached_tokens":400,"output_reasoning_tokens":5}',
        '{"input":602,"output":17,"total":1024,"input_cached_tokens":400,"output_reasoning_tokens":5}',
      ],
      'langfuse.observation.metadata.env': ['prod'],
      'langfuse.observation.level': ['ERROR'],
    },
    model: 'langfuse.observation.model.name',
    tool: 'name',
  },
  langsmith: {
    kept: { ...TWO_CALLS, 'langsmith.span.kind': ['chain', 'llm', 'tool', 'llm'] },
    model: 'gen_ai.request.model',
    tool: 'gen_ai.tool.name',
  },
  mastra: {
    kept: { ...TWO_CALLS, 'gen_ai.usage.cache_read.input_tokens': [400, 400] },
    model: 'gen_ai.response.model',
    tool: 'gen_ai.tool.name',
  },
}

describe('data of real senders is stored without prompts and replies', () => {
  for (const [name, { kept, model, tool }] of Object.entries(senders))
    it(name, async () => {
      await using receiver = await startReceiver({ backend: 'sqlite' })
      const body = await recording(name)
      assert.match(JSON.stringify(body), /CANARYprompt/)
      assert.deepEqual(await receiver.taken(body), {})
      const spans: TreeSpan[] = []
      for (const id of (await receiver.runIds()).toReversed()) spans.push(...(await receiver.run(id)).spans)
      for (const [attribute, values] of Object.entries(kept))
        assert.deepEqual(valuesOf(spans, attribute).toSorted(), [...values].toSorted(), attribute)
      assert.deepEqual(new Set(valuesOf(spans, model)), new Set(['gpt-5.4']))
      if (tool === 'name') assert.ok(spans.some((span) => span.name === 'read_file'))
      else if (tool !== '') assert.ok(valuesOf(spans, tool).includes('read_file'))
      assert.ok(valuesOf(spans, 'guard.dropped_attributes').some((count) => Number(count) > 0))
      const bytes = await databaseBytes(receiver)
      assert.ok(bytes.includes('gpt-5.4'))
      assert.equal(/CANARY\w{0,20}/i.exec(bytes)?.[0], undefined)
    })

  it('and with previews under full content logging', async () => {
    await using receiver = await startReceiver({ storage: 'full_content_logging: true' })
    await receiver.taken(await recording('mastra'))
    const [id = ''] = await receiver.runIds()
    const { spans } = await receiver.run(id)
    assert.match(String(valuesOf(spans, 'mastra.agent_run.input')[0]), /^CANARYprompt/)
    for (const { attributes } of spans)
      for (const value of Object.values(attributes)) assert.ok(String(value).length <= 500)
  })

  it('rejects data that is not OTLP, with a reason', async () => {
    await using receiver = await startReceiver()
    const answer = await receiver.post(await recording('openai-agents'))
    assert.equal(answer.status, 400)
    const { message } = (await answer.json()) as { readonly message: string }
    assert.match(message, /no OTLP.*"data" where OTLP has "resourceSpans"/)
    assert.deepEqual(await receiver.runIds(), [])
  })
})
