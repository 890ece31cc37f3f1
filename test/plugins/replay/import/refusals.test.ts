import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Answer, type Bench, type Bundle, expecting, refused, startReplay } from '../kit.ts'

const T0 = 1_780_000_000_000_000_000n
let bench: Bench
before(async () => {
  bench = await startReplay()
})
after(() => bench.close())

const send = (text: string): Promise<Answer> =>
  bench.send('POST', '/api/v1/runs/import', text, { 'content-type': 'application/octet-stream' })
const count = async (): Promise<number> =>
  expecting<{ readonly runs: readonly unknown[] }>(200, await bench.send('GET', '/api/v1/runs')).runs.length

/** A bundle with one member per line, so that lines identify positions. */
const bundle = (...spans: readonly object[]): string =>
  [
    '{"schema":"trace.v1","run":{"trace_id":"bad"},"spans":[',
    spans.map((one) => JSON.stringify(one)).join(',\n'),
    ']}',
  ].join('\n')
const lines = (...spans: readonly object[]): string =>
  [
    { type: 'run', schema: 'trace.v1', trace_id: 'bad' },
    ...spans.map((one) => ({ type: 'span', trace_id: 'bad', ...one })),
  ]
    .map((one) => JSON.stringify(one))
    .join('\n')
const otlp = (...spans: readonly object[]): string =>
  `{"resourceSpans":[{"scopeSpans":[{"spans":[\n${spans.map((one) => JSON.stringify(one)).join(',\n')}\n]}]}]}`

const good = { id: 'good', name: 'tool.call', attributes: { note: 'fine' } }
const span = (more: object): object => ({ id: 'odd', name: 'tool.call', ...more })
const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)])
const texts = Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`k${n}`, 'a '.repeat(4_096)]))
const many = Object.fromEntries(Array.from({ length: 257 }, (_, n) => [`k${n}`, n]))

describe('an invalid span of an import file', () => {
  const cases: readonly (readonly [what: string, spans: readonly object[], code: string, path: string])[] = [
    ['an id that appears twice', [good, span({ id: 'good' })], 'DUPLICATE_ID', 'id'],
    ['its own parent', [good, span({ parent_id: 'odd' })], 'PARENT_CYCLE', 'parent_id'],
    ['an end before its start', [good, span({ start_ns: 9, end_ns: 8 })], 'INVALID_TIME', 'end_ns'],
    ['a time beyond 64 bits', [good, span({ start_ns: '9223372036854775808' })], 'INVALID_TIME', 'start_ns'],
    ['a time that is no integer', [good, span({ start_ns: 1.5 })], 'INVALID_IMPORT', 'start_ns'],
    ['an id that no address can hold', [good, span({ id: 'a\u0000b' })], 'INVALID_ID', 'id'],
    ['no name', [good, { id: 'odd' }], 'INVALID_IMPORT', ''],
    ['attributes that are text', [good, span({ attributes: '{}' })], 'INVALID_IMPORT', 'attributes'],
  ]
  for (const [what, spans, code, key] of cases)
    it(`with ${what} is rejected with line and path, and nothing is stored`, async () => {
      const before = await count()
      const member = key === '' ? '' : `/${key}`
      const inBundle = refused(400, code, await send(bundle(...spans)))
      assert.deepEqual([inBundle.line, inBundle.path], [3, `/spans/1${member}`])
      const inLines = refused(400, code, await send(lines(...spans)))
      assert.deepEqual([inLines.line, inLines.path], [3, member])
      assert.equal(await count(), before)
    })

  it('of OTLP is rejected likewise', async () => {
    const ids = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', name: 'a' }
    const odd = { ...ids, spanId: 'b7ad6b7169203332', startTimeUnixNano: '9', endTimeUnixNano: '8' }
    const time = refused(400, 'INVALID_TIME', await send(otlp(ids, odd)))
    const second = '/resourceSpans/0/scopeSpans/0/spans/1'
    assert.deepEqual([time.line, time.path], [3, `${second}/endTimeUnixNano`])
    assert.doesNotMatch(time.message, /_ns/)
    const doubled = refused(400, 'DUPLICATE_ID', await send(otlp(ids, { ...ids })))
    assert.deepEqual([doubled.line, doubled.path], [3, `${second}/spanId`])
    const own = refused(
      400,
      'PARENT_CYCLE',
      await send(otlp(ids, { ...odd, parentSpanId: odd.spanId, endTimeUnixNano: '9' })),
    )
    assert.equal(own.path, `${second}/parentSpanId`)
    const status = refused(400, 'INVALID_IMPORT', await send(otlp(ids, { ...odd, status: { message: 7 } })))
    assert.deepEqual(
      [status.path, /"message" must be a string/.test(status.message)],
      [`${second}/status/message`, true],
    )
    assert.equal(await count(), 0)
  })
})

describe('a cyclic, truncated or foreign file', () => {
  const circle = [
    span({ id: 'a', parent_id: 'b' }),
    span({ id: 'b', parent_id: 'c' }),
    span({ id: 'c', parent_id: 'a' }),
  ]
  const refusals: readonly (readonly [what: string, text: string, code: string, line: number])[] = [
    ['a circle of parents', bundle(...circle), 'PARENT_CYCLE', 2],
    ['a circle of parents in lines', lines(...circle), 'PARENT_CYCLE', 2],
    ['a bundle that is cut off', bundle(good, good).slice(0, -20), 'INVALID_JSON', 3],
    ['lines that are cut off', lines(good, good).slice(0, -5), 'INVALID_JSON', 3],
    ['OTLP that is cut off', otlp({ name: 'a' }).slice(0, -3), 'INVALID_JSON', 3],
    ['another kind of JSON', '{"traces": []}', 'INVALID_IMPORT', 1],
    ['a page', '<!doctype html><title>x</title>', 'INVALID_IMPORT', 1],
    ['a text that nests without end', `{"schema":"trace.v1","run":${'['.repeat(100_000)}`, 'TOO_DEEP', 1],
    ['an unknown version', bundle(good).replace('trace.v1', 'trace.v2'), 'UNKNOWN_SCHEMA', 1],
  ]
  for (const [what, text, code, line] of refusals)
    it(`${what} is rejected: ${code}`, async () => {
      assert.equal(refused(400, code, await send(text)).line, line)
      assert.equal(await count(), 0)
    })

  const limits: readonly (readonly [what: string, attributes: object, code: string])[] = [
    ['too many attributes', many, 'TOO_MANY_ATTRIBUTES'],
    ['a long name of an attribute', { ['k'.repeat(257)]: 1 }, 'TOO_MANY_ATTRIBUTES'],
    ['an attribute without a name', { '': 1 }, 'INVALID_TRACE'],
    ['deep attributes', { a: nested(33) }, 'TOO_DEEP'],
    ['more text than is kept', texts, 'TOO_MANY_ATTRIBUTES'],
  ]
  for (const [what, attributes, code] of limits)
    it(`a record with ${what} is rejected and named, and nothing is stored`, async () => {
      const before = await count()
      const other = '{"type":"run","schema":"trace.v1","trace_id":"other"}'
      for (const query of ['', '?dry_run=true']) {
        const file = `${other}\n${lines(good, span({ attributes }))}`
        const error = refused(400, code, await bench.send('POST', `/api/v1/runs/import${query}`, file))
        assert.match(error.message, /^In span 2 of run "bad": /)
      }
      assert.equal(await count(), before)
    })

  it('a run with too many spans is rejected before it is stored', async () => {
    const spans = Array.from({ length: 50_002 }, (_, n) => ({ id: `s${n}`, name: 'x' }))
    const error = refused(409, 'RUN_FULL', await send(lines(...spans)))
    assert.match(error.message, /"bad" has 50002 spans/)
    // an export of 50,000 sent spans also has the implicit root
    expecting(200, await bench.send('POST', '/api/v1/runs/import?dry_run=true', lines(...spans.slice(1))))
    assert.equal(await count(), 0)
  })
})

describe('an import repairs', () => {
  it('invalid text, exact integers, hostile names, long values', async () => {
    const text = `{"schema":"trace.v1","run":{"trace_id":"mended","name":"a\\u0000b\\ud800"},"spans":[
      {"id":"s","name":"x","start_ns":${T0},"end_ns":${T0 + 1n},"attributes":
        {"big":12345678901234567890,"nul\\u0000":"\\udfff","__proto__":{"polluted":true},"long":"${'y'.repeat(9_000)}"}}]}`
    const { warnings } = expecting<{ readonly warnings: readonly { readonly code: string }[] }>(201, await send(text))
    assert.deepEqual(
      warnings.map(({ code }) => code),
      ['value_truncated'],
    )
    const { text: answer, body } = await bench.send('GET', '/api/v1/runs/mended')
    assert.match(answer, /"big":12345678901234567890/)
    assert.match(answer, /"__proto__":\{"polluted":true\}/)
    const { run, spans } = body as Bundle
    const found = spans.find(({ id }) => id === 's')
    assert.deepEqual([run.name, found?.start_ns, found?.end_ns], ['a\ufffdb\ufffd', T0, T0 + 1n])
    assert.equal(found?.attributes['nul\ufffd'], '\ufffd')
    assert.equal(String(found?.attributes.long).length <= 8_192, true)
    assert.equal(Reflect.get({}, 'polluted'), undefined)
  })
})
