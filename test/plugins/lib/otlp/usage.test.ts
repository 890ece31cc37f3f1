import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { toAnyValue } from '../../../../plugins/lib/otlp/values.ts'
import { read, resourceSpans, span } from '../../../kit/otlp-data.ts'

/** Usage and cost that are read of attributes, in short. */
const usageOf = async (
  attributes: Record<string, unknown>,
  scope: object = {},
): Promise<Readonly<Record<string, unknown>>> => {
  const values = Object.entries(attributes).map(([key, value]) => ({ key, value: toAnyValue(value) }))
  const { spans } = await read(resourceSpans([span({ attributes: values })], {}, scope))
  const read_ = spans[0]?.attributes ?? {}
  const short: Readonly<Record<string, string>> = {
    'gen_ai.usage.input_tokens': 'input',
    'gen_ai.usage.output_tokens': 'output',
    'gen_ai.usage.cache_read.input_tokens': 'cached',
    'gen_ai.usage.cache_creation.input_tokens': 'written',
    'guard.usage.cache_creation_1h.input_tokens': 'written_1h',
    'gen_ai.usage.reasoning.output_tokens': 'reasoning',
    'guard.cost_told_micro': 'told',
    'guard.usage_warning': 'warning',
  }
  return Object.fromEntries(
    Object.entries(short).flatMap(([name, key]) => (read_[name] === undefined ? [] : [[key, read_[name]]])),
  )
}

const base = { 'gen_ai.usage.input_tokens': 6100, 'gen_ai.usage.output_tokens': 70 }
const told = { input: 6100, output: 70 }

describe('usage under any spelling', () => {
  for (const name of [
    'gen_ai.usage.cache_read_tokens',
    'gen_ai.usage.details.cache_read_tokens',
    'gen_ai.usage.details.cache_read_input_tokens',
    'gen_ai.usage.cached_tokens',
    'gen_ai.usage.input_cached_tokens',
    'gen_ai.usage.input_tokens.cached',
    'gen_ai.usage.input_token_details.cache_read',
    'llm.usage.cache_read_input_tokens',
    'ai.usage.inputTokenDetails.cacheReadTokens',
    'gen_ai.usage.prompt_tokens_details.cached_tokens',
    'any.thing.cachedPromptTokens',
    'x.usage.prompt-cache-hit-tokens',
    'x.token_count.cached_content_token_count',
    'x.usage.tokens.input.cached',
  ])
    it(`${name} is read from a cache`, async () => {
      assert.deepEqual(await usageOf({ ...base, [name]: 5000 }), { ...told, cached: 5000 })
      assert.deepEqual(await usageOf({ ...base, [name]: '5000' }), { ...told, cached: 5000 })
    })

  for (const name of [
    'gen_ai.usage.cache_write.input_tokens',
    'gen_ai.usage.cache_write_tokens',
    'gen_ai.usage.details.cache_creation_input_tokens',
    'gen_ai.usage.input_tokens.cache_write',
    'llm.usage.cache_creation_input_tokens',
    'ai.usage.inputTokenDetails.cacheWriteTokens',
    'x.usage.cacheCreatedTokens',
  ])
    it(`${name} is written to a cache`, async () => {
      assert.deepEqual(await usageOf({ ...base, [name]: 100 }), { ...told, written: 100 })
    })

  for (const name of [
    'gen_ai.request.max_tokens',
    'ai.response.avgOutputTokensPerSecond',
    'gen_ai.usage.input_tokens_limit',
    'x.remaining_input_tokens',
    'llm.token_count.prompt_details.audio',
    'gen_ai.usage.cache.output.tokens.price',
    'x.session.cumulative_input_tokens',
    'system.memory.usage',
  ])
    it(`${name} is no usage of a call`, async () => {
      assert.deepEqual(await usageOf({ [name]: 9, 'gen_ai.request.model': 'm' }), {})
    })

  it('tells writes of five minutes and of an hour apart', async () => {
    const parts = { 'x.usage.cache_creation.ephemeral_5m_input_tokens': 40 }
    const hour = { ...parts, 'x.usage.cache_creation.ephemeral_1h_input_tokens': 60 }
    assert.deepEqual(await usageOf({ ...base, ...hour }), { ...told, written: 100, written_1h: 60 })
    const whole = { ...hour, 'gen_ai.usage.cache_creation.input_tokens': 100 }
    assert.deepEqual(await usageOf({ ...base, ...whole }), { ...told, written: 100, written_1h: 60 })
    assert.deepEqual(await usageOf({ ...base, ...parts }), { ...told, written: 40 })
  })

  it('is read of a reply, also of one that was cut behind it', async () => {
    const usage = '"usage":{"inputTokens":120,"outputTokens":30,"details":{"cachedTokens":100}}'
    const found = { input: 120, output: 30, cached: 100 }
    assert.deepEqual(await usageOf({ 'genkit:output': `{"text":"a",${usage}}` }), found)
    assert.deepEqual(await usageOf({ 'genkit:output': `{"text":"a",${usage},"raw":{"text":"b` }), found)
    assert.deepEqual(await usageOf({ 'genkit:output': `{"text":"${'a'.repeat(70_000)}",${usage}}` }), {})
    assert.deepEqual(await usageOf({ 'genkit:output': `{"text":"a","usage":{"inputTo` }), {})
  })

  it('is read of objects and JSON text', async () => {
    const usage = { promptTokenCount: 100, candidatesTokenCount: 20, thoughtsTokenCount: 30, totalTokenCount: 150 }
    const found = { input: 100, output: 50, reasoning: 30 }
    assert.deepEqual(await usageOf({ 'x.usageMetadata': usage }), found)
    assert.deepEqual(await usageOf({ 'x.usageMetadata': JSON.stringify(usage) }), found)
    const nested = { input_tokens: 9, output_tokens: 2, input_token_details: { cache_read: 4 } }
    assert.deepEqual(await usageOf({ 'langsmith.usage_metadata': JSON.stringify(nested) }), {
      input: 9,
      output: 2,
      cached: 4,
    })
    for (const text of ['{"input_tokens":', '{', 'null', '[1]', `{"input_tokens":${'9'.repeat(5000)}}`])
      assert.deepEqual(await usageOf({ 'x.usage': text }), {})
  })
})

describe('input and its cached part', () => {
  const inputOf = async (attributes: Record<string, unknown>, scope?: object) =>
    (await usageOf({ 'gen_ai.usage.output_tokens': 70, ...attributes }, scope)).input
  const cached = { 'gen_ai.usage.cache_read.input_tokens': 4000, 'gen_ai.usage.cache_creation.input_tokens': 300 }

  it('stand apart where the part is larger', async () => {
    assert.equal(await inputOf({ 'gen_ai.usage.input_tokens': 1000, ...cached }), 5300)
    assert.equal(await inputOf({ 'gen_ai.usage.input_tokens': 5300, ...cached }), 5300)
  })

  it('stand apart where the total says so, else one holds the other', async () => {
    const both = { 'gen_ai.usage.input_tokens': 5000, ...cached }
    assert.equal(await inputOf(both), 5000)
    assert.equal(await inputOf({ ...both, 'gen_ai.usage.total_tokens': 5070 }), 5000)
    assert.equal(await inputOf({ ...both, 'gen_ai.usage.total_tokens': 9370 }), 9300)
    assert.equal(await inputOf({ ...both, 'gen_ai.usage.total_tokens': 12 }), 5000)
  })

  it('stand apart where the sender counts so', async () => {
    const both = { 'gen_ai.usage.input_tokens': 5000, ...cached, 'gen_ai.usage.total_tokens': 5070 }
    assert.equal(await inputOf(both, { name: '@traceloop/instrumentation-anthropic' }), 9300)
    assert.equal(await inputOf(both, { name: '@traceloop/instrumentation-openai' }), 5000)
  })

  it('leave the count that was sent visible', async () => {
    const attributes = Object.entries({ ...cached, 'gen_ai.usage.input_tokens': 1000 })
    const { spans } = await read(
      resourceSpans([span({ attributes: attributes.map(([key, value]) => ({ key, value: toAnyValue(value) })) })]),
    )
    assert.equal(spans[0]?.attributes?.['guard.sent.gen_ai.usage.input_tokens'], 1000)
  })

  it('is the rest of the total where only that and the output are told', async () => {
    assert.deepEqual(await usageOf({ 'gen_ai.usage.total_tokens': 100, 'gen_ai.usage.output_tokens': 30 }), {
      input: 70,
      output: 30,
    })
  })
})

describe('counts and costs that cannot be', () => {
  const refused = /not a count or an amount: /

  for (const bad of [-1, 1e300, 'many', 'NaN', '-5', '1e300', 2 ** 60, true, [1], '0x10'])
    it(`${JSON.stringify(bad)} is no count`, async () => {
      const found = await usageOf({ ...base, 'gen_ai.usage.cache_read.input_tokens': bad })
      assert.match(String(found.warning), refused)
      assert.deepEqual([found.input, found.output, found.told], [6100, 70, undefined])
    })

  for (const [sent, count] of [
    ['1200', 1200],
    [1200.0, 1200],
    [1200.4, 1200],
    [0, 0],
    ['12.0', 12],
  ] as const)
    it(`${JSON.stringify(sent)} is a count`, async () => {
      assert.equal((await usageOf({ 'gen_ai.usage.input_tokens': sent })).input, count)
    })

  it('a total that is not the sum is told', async () => {
    const found = await usageOf({ ...base, 'gen_ai.usage.total_tokens': 5 })
    assert.deepEqual(found, { ...told, warning: 'the total is not the sum of input and output' })
  })

  for (const [name, sent, micro] of [
    ['gen_ai.usage.cost', 0.0001, 100],
    ['gen_ai.usage.cost', '0.0001', 100],
    ['gen_ai.usage.cost', 0.1 + 0.2, 300_000],
    ['llm.cost.total', 1.25, 1_250_000],
    ['operation.cost', 2, 2_000_000],
    ['x.cost_micro_usd', 17, 17],
    ['x.cost_cents', 3, 30_000],
    ['langfuse.observation.cost_details', '{"input":0.5,"output":0.25}', 750_000],
    ['langfuse.observation.cost_details', '{"input":0.5,"output":0.25,"total":0.9}', 900_000],
    ['mlflow.llm.cost', '{"input_cost":0.5,"output_cost":0.25,"total_cost":0.75}', 750_000],
    ['gen_ai.cost.total_tokens', 0.002, 2_000],
  ] as const)
    it(`a cost in ${name} is kept`, async () => {
      assert.deepEqual(await usageOf({ ...base, [name]: sent }), { ...told, told: micro })
    })

  for (const bad of [-0.5, 1e300, 'NaN', '$0.10', 'free', Number.POSITIVE_INFINITY])
    it(`${JSON.stringify(bad)} is no cost`, async () => {
      const found = await usageOf({ ...base, 'gen_ai.usage.cost': bad })
      assert.match(String(found.warning), refused)
      assert.equal(found.told, undefined)
    })

  it('a cost counts only in the unit and currency that stand beside it', async () => {
    const warning = (unit: string) => ({ ...told, warning: `a cost in ${unit} is not added up` })
    const costIn = (name: string, value: unknown) => usageOf({ ...base, 'gen_ai.usage.cost': 0.5, [name]: value })
    for (const name of ['gen_ai.usage.cost_currency', 'gen_ai.usage.cost.currency', 'gen_ai.usage.currency'])
      assert.deepEqual(await costIn(name, 'eur'), warning('EUR'), name)
    assert.deepEqual(await costIn('gen_ai.usage.cost_currency', '€'), warning('€'))
    assert.deepEqual(await costIn('gen_ai.usage.cost_unit', 'cents'), warning('CENTS'))
    assert.deepEqual(await costIn('gen_ai.usage.cost_unit', 'what the user said'), warning('another unit'))
    for (const dollars of ['usd', '$', 'US dollars'])
      assert.deepEqual(await costIn('gen_ai.usage.cost_currency', dollars), { ...told, told: 500_000 }, dollars)
    assert.deepEqual(await usageOf({ ...base, 'llm.cost_millicents': 1_200 }), { ...told, told: 12_000 })
    assert.deepEqual(await usageOf({ ...base, 'llm.cost_milli_usd': 12 }), { ...told, told: 12_000 })
  })

  it('a cost in another currency is not added up', async () => {
    const euros = { ...base, 'gen_ai.usage.cost': 0.5, 'gen_ai.usage.cost.currency': 'EUR' }
    assert.deepEqual(await usageOf(euros), { ...told, warning: 'a cost in EUR is not added up' })
  })

  it('a cost of something else is left alone', async () => {
    assert.deepEqual(await usageOf({ 'shipping.cost': 12 }), {})
  })
})
