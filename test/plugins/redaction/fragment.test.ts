import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { argumentHash, canonicalJson, newSpanId, newTraceId, readTraceparent, toolSpanId } from '#lib/trace'
import type { Fragment } from '../../../core/fragment.ts'
import { cleanFragment } from '../../../plugins/redaction/fragment/clean.ts'
import { redactor } from '../../../plugins/redaction/redact.ts'

const fragment = (over: Partial<Fragment>): Fragment => ({
  owner: 'client',
  origin: 'api',
  run: { trace_id: 't' },
  spans: [],
  events: [],
  artifacts: [],
  ...over,
})
const clean = (over: Partial<Fragment>) => cleanFragment(fragment(over), redactor(), new WeakSet())

describe('a fragment is cleaned', () => {
  it('well-formed, without U+0000, also in names of attributes', async () => {
    const { spans } = (await clean({ spans: [{ id: 's', name: 'a\0b\ud800', attributes: { 'k\0': ['\0'] } }] }))
      .fragment
    assert.deepEqual(spans, [{ id: 's', name: 'a\ufffdb\ufffd', attributes: { 'k\ufffd': ['\ufffd'] } }])
  })

  it('well-formed in the names of every level', async () => {
    const attributes = { a: [{ 'n\0': { '\udfff': 1 } }] }
    const [span] = (await clean({ spans: [{ id: 's', name: 'n', attributes }] })).fragment.spans
    assert.equal(JSON.stringify(span?.attributes), '{"a":[{"n\ufffd":{"\ufffd":1}}]}')
  })

  it('redacted before it is cut, so that no half of a secret stays', async () => {
    const secret = `sk-ant-api03-${'aB3'.repeat(31)}AA`
    const name = `${'x'.repeat(230)} ${secret}`
    const [span] = (await clean({ spans: [{ id: 's', name, status_message: secret }] })).fragment.spans
    assert.ok(
      span !== undefined &&
        span.name.length < 256 &&
        !span.name.includes('sk-ant') &&
        !span.status_message?.includes('sk-ant'),
    )
  })

  it('cut where it is too long, with a warning that points at it', async () => {
    const { fragment: kept, warnings } = await clean({
      run: { trace_id: 't', name: 'n'.repeat(300) },
      events: [{ id: 'e', span_id: null, name: 'x', attributes: { a: { 'b/c': 'y'.repeat(8_193) } } }],
      artifacts: [{ id: 'f', path: 'p'.repeat(5_000) }],
    })
    assert.equal(kept.artifacts[0]?.path.length, 4_096)
    assert.deepEqual(
      warnings.map(({ path }) => path),
      ['/name', '/events/0/attributes/a/b~1c', '/artifacts/0/path'],
    )
  })

  it('refused where more is said than is kept', async () => {
    const attributes = Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`a${n}`, 'z '.repeat(4_096)]))
    await assert.rejects(() => clean({ run: { trace_id: 't', attributes } }), { code: 'TOO_MANY_ATTRIBUTES' })
    const names = { a: [{ ['k'.repeat(40_000)]: 1 }, { ['l'.repeat(30_000)]: 1 }] }
    await assert.rejects(() => clean({ run: { trace_id: 't', attributes: names } }), { code: 'TOO_MANY_ATTRIBUTES' })
    const long = { ['k'.repeat(257)]: 1 }
    await assert.rejects(() => clean({ run: { trace_id: 't', attributes: long } }), { code: 'TOO_MANY_ATTRIBUTES' })
    const unnamed = { '': 1 }
    await assert.rejects(() => clean({ run: { trace_id: 't', attributes: unnamed } }), { code: 'INVALID_TRACE' })
    const inner = { a: { '': 1 } }
    assert.deepEqual((await clean({ run: { trace_id: 't', attributes: inner } })).fragment.run.attributes, inner)
    for (const n of [Number.NaN, 10n ** 309n, -(10n ** 309n)])
      await assert.rejects(() => clean({ run: { trace_id: 't', attributes: { n } } }), { code: 'INVALID_TRACE' })
    const most = BigInt(Number.MAX_VALUE)
    assert.equal((await clean({ run: { trace_id: 't', attributes: { most } } })).fragment.run.attributes?.most, most)
  })

  it('remembered, so that its attributes are not scanned again', async () => {
    const cleaned = new WeakSet<object>()
    const { fragment: kept } = await cleanFragment(
      fragment({ run: { trace_id: 't', attributes: { a: 1 } } }),
      redactor(),
      cleaned,
    )
    assert.ok(kept.run.attributes !== undefined && cleaned.has(kept.run.attributes))
  })

  it('with a member named __proto__ kept as a member', async () => {
    const attributes: Record<string, unknown> = JSON.parse('{"__proto__":{"a":"\\u0000"}}')
    const { run } = (await clean({ run: { trace_id: 't', attributes } })).fragment
    assert.equal(JSON.stringify(run.attributes), '{"__proto__":{"a":"\ufffd"}}')
    assert.equal(Object.getPrototypeOf(run.attributes), Object.prototype)
  })
})

describe('argument hashes', () => {
  it('are equal for every spelling of the same JSON, and differ by key', () => {
    const hash = argumentHash('k', { b: 1, a: [true, null] })
    assert.match(hash, /^[0-9a-f]{64}$/)
    assert.equal(argumentHash('k', ' {"a": [true, null], "b": 1} '), hash)
    assert.notEqual(argumentHash('other', { b: 1, a: [true, null] }), hash)
    assert.equal(argumentHash('k', ''), argumentHash('k', {}))
    assert.notEqual(argumentHash('k', 'not {json'), argumentHash('k', '{broken'))
  })

  it('tell apart integers that a double cannot', () => {
    assert.notEqual(argumentHash('k', '{"n":9007199254740993}'), argumentHash('k', '{"n":9007199254740992}'))
    assert.equal(canonicalJson({ n: 9007199254740993n }), '{"n":9007199254740993}')
  })
})

describe('trace ids', () => {
  it('are W3C hex, distinct, and sort by time', () => {
    const ids = [newTraceId(1_000), newTraceId(1_000), newTraceId(2_000)]
    assert.deepEqual([...ids].sort(), ids)
    assert.ok(ids.every((id) => /^[0-9a-f]{32}$/.test(id)) && new Set(ids).size === 3)
    const span = newSpanId()
    const tools = Array.from({ length: 100 }, (_, at) => toolSpanId(span, at))
    assert.ok([span, ...tools].every((id) => /^[0-9a-f]{16}$/.test(id)) && new Set([span, ...tools]).size === 101)
  })

  it('are read off a traceparent, whatever its version', () => {
    const [trace_id, span_id] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331']
    assert.deepEqual(readTraceparent(`00-${trace_id}-${span_id}-01`), { trace_id, span_id })
    assert.deepEqual(readTraceparent(`01-${trace_id}-${span_id}-00-more`), { trace_id, span_id })
    for (const odd of [
      undefined,
      '',
      `ff-${trace_id}-${span_id}-01`,
      `00-${trace_id}-${span_id}-01-more`,
      `00-${trace_id}-${'0'.repeat(16)}-01`,
      `00-${trace_id.toUpperCase()}-${span_id}-01`,
    ])
      assert.equal(readTraceparent(odd), undefined)
  })
})
