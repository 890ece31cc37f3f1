import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { toAnyValue } from '../../../plugins/lib/otlp/values.ts'
import { resourceSpans, span } from '../../kit/otlp-data.ts'
import { type Shown, startReceiver } from './kit.ts'
import { understood } from './understood.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const START = 1_782_000_000_000_000_000n
const HOUR = 3_600_000_000_000n

const id = (index: number): string => index.toString(16).padStart(16, 'a')

/** A span of one second that begins `from` nanoseconds after the run. */
const at = (index: number, parent: number | null, from: bigint, over: object = {}): object =>
  span({
    spanId: id(index),
    ...(parent === null ? {} : { parentSpanId: id(parent) }),
    startTimeUnixNano: String(START + from),
    endTimeUnixNano: String(START + from + 1_000_000_000n),
    ...over,
  })

const attributes = (values: Record<string, unknown>): object[] =>
  Object.entries(values).map(([key, value]) => ({ key, value: toAnyValue(value) }))

const usage = { 'gen_ai.request.model': 'm', 'gen_ai.usage.input_tokens': 10, 'gen_ai.usage.output_tokens': 5 }

/** What a new gateway makes of batches that come one after another. */
const sent = async (...batches: readonly object[]): Promise<{ shown: Shown; answers: readonly unknown[] }> => {
  await using receiver = await startReceiver()
  const answers: unknown[] = []
  for (const batch of batches) answers.push(await receiver.taken(batch))
  return { shown: await receiver.run(TRACE), answers }
}

describe('a clock that differs', () => {
  const root = at(1, null, 0n, { name: 'agent.run' })
  for (const [order, spans] of [
    ['before its parent', [at(2, 1, -HOUR), root]],
    ['after it', [root, at(2, 1, -HOUR)]],
  ] as const)
    it(`moves no root where the early child comes ${order}`, async () => {
      for (const batches of [[resourceSpans([...spans])], spans.map((one) => resourceSpans([one]))]) {
        const { shown } = await sent(...batches)
        assert.equal(BigInt(shown.run.start_ns), START)
        assert.equal(Number(shown.run.duration_ns), 1_000_000_000)
        assert.equal(shown.run.attributes['guard.clock_skew_ns'], Number(HOUR))
        const [first, child] = shown.spans
        assert.equal(BigInt(first?.start_ns ?? 0), START)
        assert.equal(BigInt(child?.start_ns ?? 0), START - HOUR)
      }
    })

  it('is not told of clocks that agree', async () => {
    const { shown } = await sent(resourceSpans([root, at(2, 1, 5n), at(3, 1, -5n)]))
    assert.equal(shown.run.attributes['guard.clock_skew_ns'], undefined)
  })
})

describe('two senders with one span id', () => {
  const one = at(1, null, 0n, { name: 'chat', attributes: attributes(usage) })
  const other = at(1, null, 9n, { name: 'ask', attributes: attributes(usage) })

  it('count once in one batch, the last', async () => {
    const { shown } = await sent(resourceSpans([one, other]))
    assert.deepEqual([shown.spans.at(-1)?.name, Number(shown.run.input_tokens)], ['ask', 10])
  })

  it('count once in two batches, and so does a batch that is sent again', async () => {
    for (const batches of [
      [one, other],
      [one, one],
    ]) {
      const { shown, answers } = await sent(...batches.map((span_) => resourceSpans([span_])))
      assert.deepEqual(answers, [{}, {}])
      assert.deepEqual([shown.spans.length, Number(shown.run.input_tokens)], [2, 10])
    }
  })
})

describe('a sender that nobody knows', () => {
  it('degrades to a tree with names and times', async () => {
    const strange = attributes({ 'zork.what': 'turn', 'zork.fuel': 12 })
    const { shown } = await sent(
      resourceSpans(
        [at(1, null, 0n, { name: 'quest' }), at(2, 1, 10n, { name: 'walk', attributes: strange }), at(3, 2, 20n)],
        { 'service.name': 'zork' },
      ),
    )
    assert.equal(shown.run.name, 'quest')
    assert.equal(shown.run.status, 'ok')
    assert.deepEqual(
      shown.spans
        .slice(1)
        .map(({ name, parent_id, kind }) => [name, parent_id === shown.spans[0]?.id ? null : parent_id, kind]),
      [
        ['quest', null, 'other'],
        ['walk', id(1), 'other'],
        ['op', id(2), 'other'],
      ],
    )
    assert.equal(Number(shown.run.input_tokens), 0)
  })

  it('is understood as far as its words go', async () => {
    await using receiver = await startReceiver()
    const call = {
      'zork.llm.model_name': 'm-9',
      'gen_ai.request.model': 'm-9',
      'zork.llm.usage.inputTokens': '120',
      'zork.llm.usage.outputTokens': 30,
      'zork.llm.usage.cacheReadInputTokens': 100,
      'zork.llm.usage.cost_usd': 0.25,
    }
    const tool = { 'zork.span.kind': 'TOOL' }
    await receiver.taken(
      resourceSpans(
        [
          at(1, null, 0n, { name: 'quest', attributes: attributes({ 'zork.metadata.session_id': 's-z' }) }),
          at(2, 1, 10n, { name: 'think', attributes: attributes(call) }),
          at(3, 1, 20n, { name: 'look_around', attributes: attributes(tool), events: [{ name: 'exception' }] }),
        ],
        { 'service.name': 'zork' },
      ),
    )
    assert.deepEqual(await understood(receiver), [
      {
        name: 'quest',
        project: 'zork',
        session: 's-z',
        agent: 'zork',
        status: 'error',
        tags: [],
        input_tokens: 120,
        output_tokens: 30,
        cost_micro: 250_000,
        calls: [{ model: 'm-9', input: 120, output: 30, cached: 100, told_micro: 250_000 }],
        tools: ['look_around'],
        errors: ['look_around: null'],
        warnings: [],
      },
    ])
  })
})

describe('what a sender tells of a failure', () => {
  const cases: readonly (readonly [what: string, over: object, status: string, message: string | null])[] = [
    ['a status', { status: { code: 2, message: 'no' } }, 'error', 'no'],
    ['an error type', { attributes: attributes({ 'error.type': 'timeout' }) }, 'error', 'timeout'],
    [
      'an error type under a status that says ok',
      { status: { code: 1 }, attributes: attributes({ 'error.type': 'x' }) },
      'ok',
      null,
    ],
    ['a level', { attributes: attributes({ 'langfuse.observation.level': 'ERROR' }) }, 'error', null],
    ['a level that warns', { attributes: attributes({ 'langfuse.observation.level': 'WARNING' }) }, 'ok', null],
    ['an exception', { events: [exception({ 'exception.message': 'gone' })] }, 'error', 'gone'],
    ['an exception that was handled', { events: [exception({ 'exception.escaped': false })] }, 'ok', null],
    [
      'an exception under ok',
      { status: { code: 1 }, events: [exception({ 'exception.message': 'gone' })] },
      'ok',
      null,
    ],
    [
      'content in an exception',
      { events: [exception({ 'exception.message': `a ${'long '.repeat(30)}text` })] },
      'error',
      'error text of 156 characters, not kept',
    ],
  ]
  for (const [what, over, status, message] of cases)
    it(what, async () => {
      const { shown } = await sent(resourceSpans([at(1, null, 0n, over)]))
      const { status: found, status_message } = shown.spans.at(-1) ?? {}
      assert.deepEqual([found, status_message ?? null], [status, message])
    })
})

function exception(values: Record<string, unknown>): object {
  return { name: 'exception', timeUnixNano: String(START), attributes: attributes(values) }
}

describe('the name of a run', () => {
  const nameOf = async (...batches: readonly object[]): Promise<string | null> =>
    (await sent(...batches)).shown.run.name

  for (const [name, shown] of [
    ['fix-bug', 'fix-bug'],
    ['GET', null],
    ['POST /v1/messages', null],
    ['HTTP GET', null],
    ['tcp.connect', null],
    ['unknown', null],
    ['chat gpt-5.4', 'chat gpt-5.4'],
  ] as const)
    it(`of the root ${name} is ${shown}`, async () => {
      assert.equal(await nameOf(resourceSpans([at(1, null, 0n, { name })])), shown)
    })

  it('comes with the root, whenever that comes, and stays', async () => {
    const child = resourceSpans([at(2, 1, 10n, { name: 'child' })])
    const root = resourceSpans([at(1, null, 0n, { name: 'first' })])
    const late = resourceSpans([at(3, null, 90n, { name: 'second' })])
    assert.equal(await nameOf(child), null)
    assert.equal(await nameOf(child, root, late), 'first')
    const traced = attributes({ 'langfuse.trace.name': 'nightly', 'langfuse.trace.tags': ['a', 'b'] })
    const { shown } = await sent(child, resourceSpans([at(1, null, 0n, { name: 'first', attributes: traced })]))
    assert.deepEqual([shown.run.name, shown.run.tags], ['nightly', ['a', 'b']])
  })
})
