import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { Pace } from '#lib/time-slice'
import { truncateStrings } from '../../../plugins/otlp/codec.ts'
import { pairs, resourceSpans, span, traceId } from '../../kit/otlp-data.ts'
import { startReceiver } from './kit.ts'

interface Answer {
  readonly partialSuccess?: { readonly rejectedSpans: string; readonly errorMessage: string }
}

const MB = 1024 * 1024
const usage = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'gpt-5.4' }
const counts = { 'gen_ai.usage.input_tokens': { intValue: '1200' }, 'gen_ai.usage.output_tokens': { intValue: '34' } }
const spanIds = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => (index + 1).toString(16).padStart(16, '0'))

describe('a batch with large content', () => {
  const prompt = JSON.stringify([{ role: 'user', content: `said "so" \\ and ö ${'word '.repeat(170_000)}` }])
  const spans = spanIds(20).map((spanId) =>
    span({ spanId, attributes: pairs({ 'gen_ai.input.messages': prompt, ...usage, ...counts }) }),
  )
  const body = JSON.stringify(resourceSpans(spans))

  it('is stored without its content', async () => {
    assert.ok(body.length > 16 * MB)
    await using receiver = await startReceiver()
    for (const [bytes, encoding] of [
      [Buffer.from(body), 'identity'],
      [gzipSync(body), 'gzip'],
    ] as const) {
      const answer = await receiver.post(bytes, { 'content-encoding': encoding })
      assert.deepEqual([answer.status, await answer.text()], [200, '{}'])
    }
    const { run, spans: kept } = await receiver.run(traceId)
    assert.deepEqual([kept.length, run.input_tokens, run.output_tokens], [21, 24_000, 680])
  })

  it('is truncated between characters and escapes, and only in long strings', async () => {
    const parts = ['\\n', '\\\\', '\\"', 'ö', '😀', '\\u00e9', 'x']
    for (let shift = 0; shift < 16; shift++) {
      const text = 'a'.repeat(4_096 - 8 - shift) + parts.join('').repeat(40_000)
      const json = `{"short":"\\"kept\\\\","long":"${text}","n":[1,{"m":"${text}"}],"end":"é"}`
      const read = JSON.parse((await truncateStrings(Buffer.from(json), new Pace())).toString())
      assert.deepEqual([read.short, read.n[0], read.end], ['"kept\\', 1, 'é'])
      assert.ok(JSON.parse(`"${text}"`).startsWith(read.long) && !read.long.includes('\ufffd'))
      assert.ok(read.long.length > 2_000 && read.long.length <= 4_096)
    }
  })

  it('stays invalid JSON', async () => {
    for (const bad of [
      `{"a":"${'x'.repeat(2 * MB)}`,
      `{"a":"${'x'.repeat(2 * MB)}"`,
      `{"a":"${'x'.repeat(2 * MB)}",}`,
    ]) {
      const cut = await truncateStrings(Buffer.from(bad), new Pace())
      assert.throws(() => JSON.parse(cut.toString()), SyntaxError)
    }
  })
})

describe('a request beyond its limits', () => {
  it('loses the excess spans, with a note', async () => {
    await using receiver = await startReceiver()
    const spans = spanIds(10_003).map((spanId) => span({ spanId }))
    const { partialSuccess } = (await receiver.taken(resourceSpans(spans))) as Answer
    assert.equal(partialSuccess?.rejectedSpans, '3')
    assert.match(partialSuccess?.errorMessage ?? '', /at most 10000 spans; 3 more were left out/)
    assert.equal((await receiver.run(traceId)).run.span_count, 10_001)
  })

  it('loses excess events but not their span; content events do not count', async () => {
    await using receiver = await startReceiver()
    const said = Array.from({ length: 10_001 }, () => ({ name: 'gen_ai.user.message' }))
    assert.deepEqual(await receiver.taken(resourceSpans([span({ events: said.slice(2) })])), {})
    const events = [...said, ...Array.from({ length: 10_002 }, () => ({ name: 'tick' }))]
    const { partialSuccess } = (await receiver.taken(resourceSpans([span({ events })]))) as Answer
    assert.equal(partialSuccess?.rejectedSpans, '0')
    assert.match(partialSuccess?.errorMessage ?? '', /at most 10000 events/)
    assert.equal((await receiver.run(traceId)).run.event_count, 10_000)
  })
})

describe('a record beyond its limits', () => {
  const many = (count: number, value: unknown) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`acme.k${at}`, value]))
  const cases = {
    'attributes by number': many(372, 'short'),
    'numbers by number': many(372, { intValue: '7' }),
    'more characters than any span has': Object.fromEntries(
      Array.from({ length: 700 }, (_, at) => [`acme.k${at}_id`, 'x'.repeat(256)]),
    ),
    'a long name': { ['n'.repeat(300)]: 'x' },
    'an empty name': { '': 'x' },
  }
  for (const [what, attributes] of Object.entries(cases))
    it(`retains usage: ${what}`, async () => {
      await using receiver = await startReceiver()
      const sent = pairs({ ...attributes, ...usage, ...counts })
      const { partialSuccess } = (await receiver.taken(
        resourceSpans([span({ attributes: sent, events: [{ name: 'e', attributes: sent }] })], attributes),
      )) as Answer
      const { run, spans } = await receiver.run(traceId)
      assert.deepEqual([run.input_tokens, run.output_tokens, spans[1]?.label], [1200, 34, 'gpt-5.4'])
      assert.equal(spans[1]?.events.length, 1)
      assert.equal(partialSuccess?.rejectedSpans, '0')
      assert.match(partialSuccess?.errorMessage ?? '', /attributes beyond what a record may have were left out/)
      assert.ok(Number(spans[1]?.attributes['guard.dropped_attributes']) > 0)
    })

  it('truncates content first: a long conversation with full content logging', async () => {
    await using receiver = await startReceiver({ storage: 'full_content_logging: true' })
    const messages = Object.fromEntries(
      Array.from({ length: 400 }, (_, at) => [`llm.input_messages.${at}.message.content`, 'word '.repeat(200)]),
    )
    const deep = (depth: number): object =>
      depth === 0 ? { stringValue: 'x' } : { arrayValue: { values: [deep(depth - 1)] } }
    const sent = pairs({ ...messages, 'acme.deep': deep(45), ...usage, ...counts, 'acme.team': 'blue' })
    const answer = (await receiver.taken(resourceSpans([span({ attributes: sent })]))) as Answer
    assert.equal(answer.partialSuccess?.rejectedSpans, '0')
    const { run, spans } = await receiver.run(traceId)
    const { attributes = {} } = spans[1] ?? {}
    assert.deepEqual([run.input_tokens, run.output_tokens, attributes['acme.team']], [1200, 34, 'blue'])
    const previews = Object.keys(attributes).filter((name) => name.startsWith('llm.input_messages.'))
    assert.ok(previews.length > 100 && previews.length < 240)
    assert.ok(Number(attributes['guard.dropped_attributes']) >= 400 - previews.length)
  })
})
