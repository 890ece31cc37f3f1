import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Guard } from 'guard-gateway/sdk'
import { named } from '../../../kit/ingest.ts'
import { guarded } from '../../../kit/sdk.ts'

describe('guard.tool()', () => {
  it('records a call with its name and id, below the current span', async (test) => {
    const { guard, server } = await guarded(test)
    const text: string = await guard.trace('job', async () => {
      const read: Promise<string> = guard.tool({ name: 'read_file', callId: 'call_1' }, async (span) => {
        span.event('tool.result', { bytes: 5 })
        return guard.span('parse', () => 'text')
      })
      const count: number = guard.tool('count', () => 3)
      return `${await read}${count}`
    })
    await guard.flush()
    assert.equal(text, 'text3')
    const { spans } = server.run()
    const calls = [...spans.values()].filter(({ name }) => name === 'tool.call')
    assert.deepEqual(
      calls.map(({ attributes, parent_id }) => [attributes, parent_id]),
      [
        [{ 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'count' }, named(spans, 'agent.run').id],
        [
          { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'read_file', 'gen_ai.tool.call.id': 'call_1' },
          named(spans, 'agent.run').id,
        ],
      ],
    )
    assert.equal(named(spans, 'parse').parent_id, calls[1]?.id)
  })

  it('records arguments only if it is told to, without secrets', async (test) => {
    const args = { path: 'a.txt', token: 'ghp_0123456789abcdefghijklmnopqrstuvwxyz' }
    for (const recordArguments of [false, true]) {
      const { guard, server } = await guarded(test, { recordArguments })
      await guard.trace('job', () => guard.tool('read_file', args, () => {}))
      await guard.flush()
      const { attributes } = named(server.run().spans, 'tool.call')
      const recorded = attributes?.['gen_ai.tool.call.arguments']
      assert.equal(recorded !== undefined, recordArguments)
      if (recordArguments) assert.partialDeepStrictEqual(recorded, { path: 'a.txt' })
      assert.ok(!JSON.stringify(server.requests).includes('ghp_'))
    }
  })

  it('fails as its callback does', async (test) => {
    const { guard, server } = await guarded(test)
    const mine = new Error('no such file')
    await assert.rejects(
      guard.trace('job', () => guard.tool('read_file', { path: 'a' }, () => Promise.reject(mine))),
      (error) => error === mine,
    )
    assert.equal(named(server.run().spans, 'tool.call').status, 'error')
  })
})

describe('guard.model()', () => {
  it('records the request, the usage that was told last, and the reply', async (test) => {
    const { guard, server } = await guarded(test)
    const answer: { text: string } = await guard.trace('job', () =>
      guard.model({ model: 'm-1', provider: 'openai' }, async (span) => {
        span.usage({ input_tokens: 100, output_tokens: 1 })
        span.usage({ output_tokens: 20, cached_input_tokens: 60, reasoning_tokens: 5, cache_write_input_tokens: null })
        span.response({ model: 'm-1-0301', id: 'r_1', finishReason: 'stop', serviceTier: 'flex' })
        return { text: 'Hi' }
      }),
    )
    await guard.flush()
    assert.deepEqual(answer, { text: 'Hi' })
    assert.deepEqual(named(server.run().spans, 'gen_ai.request').attributes, {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'm-1',
      'gen_ai.usage.input_tokens': 100,
      'gen_ai.usage.output_tokens': 20,
      'gen_ai.usage.cache_read.input_tokens': 60,
      'gen_ai.usage.reasoning.output_tokens': 5,
      'gen_ai.response.model': 'm-1-0301',
      'gen_ai.response.id': 'r_1',
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.response.service_tier': 'flex',
    })
  })

  it('leaves out counts that are none, and says so', async (test) => {
    const { guard, server, errors } = await guarded(test)
    await guard.trace('job', () =>
      guard.model({ model: 'm-1', operation: 'embeddings' }, (span) =>
        span.usage({ input_tokens: -1, output_tokens: 1.5, reasoning_tokens: Number.NaN, cached_input_tokens: 4 }),
      ),
    )
    await guard.flush()
    assert.deepEqual(named(server.run().spans, 'gen_ai.request').attributes, {
      'gen_ai.operation.name': 'embeddings',
      'gen_ai.request.model': 'm-1',
      'gen_ai.usage.cache_read.input_tokens': 4,
    })
    assert.deepEqual(
      errors.map(({ code }) => code),
      ['INVALID_USAGE'],
    )
    assert.match(errors[0]?.message ?? '', /integers from 0: input_tokens, output_tokens, reasoning_tokens\./)
  })

  const streamed = (guard: Guard) =>
    guard.model({ model: 'm-1' }, async function* (span) {
      yield 'a'
      guard.span('inside', () => {})
      yield 'b'
      span.usage({ output_tokens: 2 })
      return 7
    })

  it('lasts as long as the generator that its callback is', async (test) => {
    const { guard, server } = await guarded(test)
    await guard.trace('job', async () => {
      const pieces: AsyncGenerator<string, number> = streamed(guard)
      const read: string[] = []
      for await (const piece of pieces) read.push(piece)
      assert.deepEqual(read, ['a', 'b'])
    })
    await guard.flush()
    const { spans } = server.run()
    const model = named(spans, 'gen_ai.request')
    assert.equal(model.attributes?.['gen_ai.usage.output_tokens'], 2)
    assert.equal(named(spans, 'inside').parent_id, model.id)
    assert.ok(BigInt(model.end_ns ?? 0) >= BigInt(named(spans, 'inside').end_ns ?? 0))
  })

  it('ends with a generator that its reader leaves, or that throws', async (test) => {
    const { guard, server } = await guarded(test)
    await guard.trace('left', async () => {
      for await (const piece of streamed(guard)) if (piece === 'a') break
    })
    await assert.rejects(
      guard.trace('thrown', async () => {
        const pieces = guard.span('tokens', async function* () {
          yield 1
          throw new TypeError('cut off')
        })
        for await (const piece of pieces) assert.equal(piece, 1)
      }),
      TypeError,
    )
    assert.deepEqual(
      guard.trace('sync', () => [
        ...guard.span('numbers', function* () {
          yield 1
        }),
      ]) instanceof Promise,
      true,
    )
    await guard.flush()
    const runs = [...server.runs.values()]
    const spans = runs.flatMap((run) => [...run.spans.values()])
    const statusOf = (name: string) => spans.find((span) => span.name === name)?.status
    assert.deepEqual(['gen_ai.request', 'tokens', 'numbers'].map(statusOf), ['ok', 'error', 'ok'])
    assert.ok(spans.every(({ end_ns }) => end_ns !== undefined))
  })
})
