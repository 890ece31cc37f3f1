import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fromOtlp } from '#lib/otlp'
import { attributeOf, keepAll, pairs, read, resourceSpans, span, spanId, spanOf } from '../../../kit/otlp-data.ts'

describe('OTLP in: values and events', () => {
  it('reads every kind of value', async () => {
    assert.equal(await attributeOf({ stringValue: '' }), '')
    assert.equal(await attributeOf({ boolValue: false }), false)
    assert.equal(await attributeOf({ intValue: '5' }), 5)
    assert.equal(await attributeOf({ intValue: 5 }), 5)
    assert.equal(await attributeOf({ intValue: '9223372036854775807' }), 9_223_372_036_854_775_807n)
    assert.equal(await attributeOf({ doubleValue: 1.5 }), 1.5)
    assert.equal(await attributeOf({ doubleValue: '1.5e3' }), 1500)
    assert.equal(await attributeOf({ doubleValue: 'NaN' }), 'NaN')
    assert.equal(await attributeOf({ bytesValue: 'AQI=' }), 'AQI=')
    assert.equal(await attributeOf({ bytesValue: new Uint8Array([1, 2]) }), 'AQI=')
    assert.equal(await attributeOf({}), null)
    assert.deepEqual(await attributeOf({ arrayValue: { values: [{ intValue: '1' }, {}] } }), [1, null])
    const list = await attributeOf({ kvlistValue: { values: pairs({ __proto: 'x' }) } })
    assert.equal(JSON.stringify(list), '{"__proto":"x"}')
  })

  it('reads a name that protobuf leaves out as the empty one', async () => {
    assert.deepEqual(
      { ...((await attributeOf({ kvlistValue: { values: [{ value: { intValue: 5 } }] } })) as object) },
      { '': 5 },
    )
  })

  it('rejects values that are not what they say', async () => {
    for (const value of [
      { stringValue: 1 },
      { boolValue: 'true' },
      { intValue: '1.5' },
      { intValue: '9223372036854775808' },
      { intValue: 1.5 },
      { intValue: { toString: 0, valueOf: 0 } },
      { doubleValue: 'much' },
      { arrayValue: [] },
      { kvlistValue: { values: [{ key: 1 }] } },
    ]) {
      const { rejected } = await fromOtlp(resourceSpans([span({ attributes: [{ key: 'x', value }] })]), keepAll)
      assert.equal(rejected.length, 1, JSON.stringify(value))
    }
  })

  it('gives an event without an id the same one every time', async () => {
    const events = [
      { name: 'e', timeUnixNano: '7' },
      { name: 'e', timeUnixNano: '0' },
    ]
    const [first, again] = [
      await read(resourceSpans([span({ events })])),
      await read(resourceSpans([span({ events })])),
    ]
    assert.deepEqual(first.events, again.events)
    assert.match(String(first.events[0]?.id), /^evt_[0-9a-f]{16}$/)
    assert.notEqual(first.events[0]?.id, first.events[1]?.id)
    assert.deepEqual(
      first.events.map(({ time_ns, span_id }) => [time_ns, span_id]),
      [
        [7n, spanId],
        [undefined, spanId],
      ],
    )
  })

  it('restores the ids that a trace had before it was exported', async () => {
    const attributes = pairs({ 'guard.trace.id': 'native', 'guard.span.id': 'root', 'guard.status': 'ok' })
    const events = [{ name: 'e', attributes: pairs({ 'guard.event.id': 'evt_x' }) }]
    const child = span({ spanId: 'c'.repeat(16), parentSpanId: spanId })
    const found = await read(resourceSpans([child, span({ attributes, events })]))
    assert.equal(found.run.trace_id, 'native')
    assert.deepEqual(
      found.spans.map(({ id, parent_id }) => [id, parent_id]),
      [
        ['c'.repeat(16), 'root'],
        ['root', null],
      ],
    )
    assert.equal(found.events[0]?.id, 'evt_x')
  })
})

describe('OTLP in: other conventions', () => {
  const of = (attributes: Record<string, unknown>) => spanOf({ attributes: pairs(attributes) })
  const count = (value: number) => ({ intValue: String(value) })

  it('adds the names of today where only others are given', async () => {
    const names = [
      ['gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens', 'llm.token_count.prompt', 'llm.usage.prompt_tokens'],
      ['gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens', 'llm.token_count.completion'],
      ['gen_ai.usage.cache_read.input_tokens', 'llm.token_count.prompt_details.cache_read'],
      ['gen_ai.usage.cache_creation.input_tokens', 'llm.token_count.prompt_details.cache_write'],
      ['gen_ai.usage.reasoning.output_tokens', 'gen_ai.usage.reasoning_tokens'],
    ] as const
    for (const [today, ...others] of names) {
      for (const other of others) {
        assert.deepEqual({ ...(await of({ [other]: count(7) }))?.attributes }, { [other]: 7, [today]: 7 })
        assert.equal((await of({ [other]: count(7), [today]: count(8) }))?.attributes?.[today], 8)
      }
    }
    for (const [today, ...others] of [
      ['gen_ai.request.model', 'llm.model_name', 'llm.request.model', 'embedding.model_name'],
      ['gen_ai.tool.name', 'ai.toolCall.name'],
    ] as const)
      for (const other of others) {
        assert.equal((await of({ [other]: 'x' }))?.attributes?.[today], 'x')
        assert.equal((await of({ [other]: 'x', [today]: 'y' }))?.attributes?.[today], 'y')
      }
  })

  it('knows the kinds that others tell, after the operation', async () => {
    const rows = [
      ['openinference.span.kind', 'LLM', 'model'],
      ['openinference.span.kind', 'RETRIEVER', 'retrieval'],
      ['openinference.span.kind', 'CHAIN', 'other'],
      ['traceloop.span.kind', 'workflow', 'agent'],
      ['langsmith.span.kind', 'tool', 'tool'],
      ['ai.operationId', 'ai.toolCall', 'tool'],
      ['ai.operationId', 'constructor', undefined],
      ['newcomer.span.kind', 'GENERATION', 'model'],
    ] as const
    for (const [name, value, kind] of rows) {
      assert.equal((await of({ [name]: value }))?.kind, kind, value)
      assert.equal((await of({ [name]: value, 'gen_ai.operation.name': 'chat' }))?.kind, 'model')
      assert.equal((await of({ [name]: value, 'gen_ai.operation.name': 'no such' }))?.kind, kind)
    }
  })
})

describe('OTLP in: content', () => {
  it('leaves it out of spans, events and resources, and counts', async () => {
    const given = pairs({ prompt: 'secret', kept: 'x' })
    const events = [{ name: 'gen_ai.choice' }, { name: 'e', attributes: given }]
    const data = resourceSpans([span({ attributes: given, events })], { 'input.value': 'secret' })
    const { run, spans, events: kept, dropped } = await read(data, { keepsContent: () => false })
    assert.doesNotMatch(
      JSON.stringify([
        run.attributes,
        spans.map(({ attributes }) => attributes),
        kept.map(({ attributes }) => attributes),
      ]),
      /secret/,
    )
    assert.deepEqual(
      kept.map(({ name, attributes }) => [name, { ...attributes }]),
      [['e', { kept: 'x' }]],
    )
    assert.equal(dropped, 4)
  })

  it('keeps it where the caller wants it kept', async () => {
    const { spans, dropped } = await read(resourceSpans([span({ attributes: pairs({ prompt: 'p' }) })]))
    assert.deepEqual([spans[0]?.attributes?.prompt, dropped], ['p', 0])
  })
})
