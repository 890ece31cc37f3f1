import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { GuardError, type Part } from 'guard-gateway/core'
import { argumentText, RequestReader } from '#lib/request-reader'
import { plain } from '../../../kit/plain-style.ts'

const reader = new RequestReader()
let fresh = 0
const read = (items: unknown, rest: object = {}, hint = `fresh ${fresh++}`) =>
  reader.read(plain, Buffer.from(JSON.stringify({ model: 'm', ...rest, items })), hint).conversation
const raw = (text: string) => reader.read(plain, Buffer.from(text), '')

describe('bodies', () => {
  it('are refused when they are no JSON object, duplicate or too deep', () => {
    const refused = [
      '',
      '[]',
      '1',
      '{',
      '{"a":1,}',
      '{"a" 1}',
      '{"a":1}x',
      '{"items":[{"kind":"user","text":""},]}',
      '{"items":[{"kind":}]}',
      '{"a":"\u0001"}',
      '{"model":1,"model":2}',
      '{"items":[],"items":[]}',
      `{"a":${'['.repeat(600)}${']'.repeat(600)}}`,
    ]
    for (const text of refused)
      assert.throws(
        () => raw(text),
        (error) => error instanceof GuardError && error.code === 'INVALID_BODY',
        text.slice(0, 40),
      )
    assert.throws(() => reader.read(plain, Buffer.from([0x7b, 0xff, 0x7d]), ''), { code: 'INVALID_BODY' })
  })
  it('are refused with the byte from which on they are no JSON', () => {
    for (const [text, wanted] of [
      ['{"items":[{"text":"hé"x}]}', '"," or "}" at byte 23'],
      ['{"items":[1,2,]}', 'a value at byte 14'],
      ['{"é":01}', '"," or "}" at byte 7'],
      ['{"a":{"b":"\\q"}}', 'a valid escape at byte 11'],
    ] as const)
      assert.throws(() => raw(text), { message: `The request body is not JSON: expected ${wanted}.` })
    const long = `{"items":["${'x'.repeat(1_100_000)}",]}`
    assert.throws(() => raw(long), { message: 'The request body is not JSON: a value cannot be parsed at byte 0.' })
  })
  it('are accepted exactly where JSON.parse accepts an object', () => {
    const accepts = (read: () => unknown) => {
      try {
        read()
        return true
      } catch {
        return false
      }
    }
    const spoiled = fc
      .tuple(fc.json(), fc.nat(), fc.constantFrom('', '"', '\\', '{', '}', '[', ']', ',', ':', ' ', '0', 'e', '\n'))
      .map(([json, at, noise]) => {
        const text = `{"a":${json},"items":[]}`
        const place = at % text.length
        return text.slice(0, place) + noise + text.slice(place + (at % 2))
      })
    fc.assert(
      fc.property(spoiled, (text) => {
        const object = accepts(() =>
          assert.ok(typeof JSON.parse(text) === 'object' && !Array.isArray(JSON.parse(text))),
        )
        const doubled = /"items"[\s\S]*"items"/.test(text)
        if (!doubled)
          assert.equal(
            accepts(() => reader.read({ ...plain, parts: () => [] }, Buffer.from(text), '')),
            object,
            text,
          )
      }),
      { seed: 7, numRuns: 700 },
    )
  })
})

const part: fc.Arbitrary<Part> = fc.oneof(
  fc.record({
    kind: fc.constantFrom('user' as const, 'system' as const, 'text' as const, 'beside' as const),
    text: fc.constantFrom('a', 'b', 'go on', ' \u00a0日本 "😀"\ud800', '<system-reminder>r</system-reminder>'),
  }),
  fc.record({
    kind: fc.constant('call' as const),
    tool: fc.constantFrom('read', 'run'),
    args: fc.constantFrom({}, { p: 1 }),
    id: fc.constantFrom('1', '2', '3'),
  }),
  fc.record({
    kind: fc.constant('result' as const),
    text: fc.constantFrom('', 'x', 'exit code 3', '\u00a0', '\nChunk ID: 7\né', '{"success":false}'),
    id: fc.constantFrom('1', '2', '3'),
  }),
)
const history = fc.array(fc.oneof(part, fc.array(part, { maxLength: 3 })), { maxLength: 14 })

describe('a body that starts like an earlier one', () => {
  it('is read as if nothing were known', () => {
    const padding = 'p'.repeat(3000)
    fc.assert(
      fc.property(
        fc.array(fc.tuple(history, fc.nat(50), fc.constantFrom('s', 't')), { minLength: 2, maxLength: 8 }),
        (steps) => {
          const hint = `grown ${fresh++}`
          let items: unknown[] = []
          for (const [more, keep, system] of steps) {
            items = [...items.slice(0, keep), ...more]
            const rest = { padding, system, tools: [{ name: padding }] }
            const known = read(items, rest, hint)
            const anew = read(items, rest)
            assert.deepEqual({ ...known }, { ...anew })
          }
        },
      ),
      { seed: 11, numRuns: 300 },
    )
  })
  it('is read as if nothing were known where numbers continue, spaces change and the list is elsewhere', () => {
    const numbers = { ...plain, parts: (element: unknown): Part[] => [{ kind: 'user', text: String(element) }] }
    const body = (list: string, model = 'm') =>
      Buffer.from(`{"padding":"${'p'.repeat(3000)}","model":"${model}","items":${list}}`)
    const lists = ['["a",5,1]', '["a",5,12]', '["a",5,12,7]', '["a",5 ,12,7]', '["a",5 ,12, 7,"b"]', '["a",51,2]', '[]']
    for (const model of ['m', 'longer'])
      for (const list of lists) {
        const known = reader.read(numbers, body(list, model), 'numbers').conversation
        const anew = reader.read(numbers, body(list, model), `numbers ${fresh++}`).conversation
        assert.deepEqual({ ...known }, { ...anew }, list)
      }
  })
  it('is read whole where something is between known elements', () => {
    const items = Array.from({ length: 9 }, (_, index) => `{"kind":"user","text":"${index}"}`)
    const gap = ',                            '
    const body = (gaps: readonly string[]) =>
      Buffer.from(
        `{"items":[${items.map((item, index) => item + (gaps[index] ?? '')).join('')}],"x":"${'p'.repeat(3000)}"}`,
      )
    const gaps = items.slice(1).map(() => gap)
    for (const hint of ['gaps', 'gaps']) reader.read(plain, body(gaps), hint)
    for (const index of gaps.keys()) {
      const spoiled = (between: string) => body(gaps.with(index, between.padEnd(gap.length)))
      for (const between of ['', ',x', '{},'])
        assert.throws(
          () => reader.read(plain, spoiled(between), 'gaps'),
          { code: 'INVALID_BODY' },
          `${index} ${between}`,
        )
      const { chain } = reader.read(plain, spoiled(',{"kind":"user","text":""},'), 'gaps').conversation
      assert.equal(chain.length, items.length + 1)
    }
  })
  it('is refused where what is around the list is known, but the list ends before and occurs twice', () => {
    const body = (items: string) => Buffer.from(`{"model":"m","items":[${items}],"padding":"${'p'.repeat(3000)}"}`)
    const item = '{"kind":"user","text":"a"}'
    for (const hint of ['around', ''])
      for (const items of [item, `${item},${item}`, `${item},${item},${item}`]) reader.read(plain, body(items), hint)
    for (const hint of ['around', ''])
      for (const items of [`${item}],"items":[${item}`, `${item},${'['.repeat(520)}${']'.repeat(520)}`])
        assert.throws(() => reader.read(plain, body(items), hint), { code: 'INVALID_BODY' }, items.slice(0, 40))
  })
  it('shares what is read around its list, which nobody can change', () => {
    const body = (text: string) => JSON.stringify({ model: 'shared', items: [{ kind: 'user', text }] })
    for (const [size, hint] of [
      [1, ''],
      [3000, 'shared'],
    ] as const) {
      for (const text of ['a', 'b', 'c']) {
        const { envelope } = reader.read(plain, Buffer.from(body('x'.repeat(size) + text)), hint)
        assert.throws(() => Object.assign(envelope, { model: 'another' }), TypeError)
        assert.throws(() => Object.assign(envelope.hints, { conversation: 'another' }), TypeError)
        assert.equal(envelope.model, 'shared')
      }
    }
  })
})

describe('integers beyond 2^53 in arguments', () => {
  const step = (id: string, args: string) => `{"kind":"call","tool":"fetch","id":"${id}","args":${args}}`
  const keys = (...args: string[]) => {
    const text = args.map((one, index) => step(`c${index}`, one)).join(',{"kind":"user","text":"go on"},')
    return raw(`{"model":"m","items":[${text}]}`).conversation.turns.map((turn) => turn.calls[0]?.key)
  }
  it('keep every digit, as text and as values', () => {
    const ids = ['1234567890123456781', '1234567890123456782', '-1234567890123456781', '123456789012345678']
    const values = ids.map((id) => `{"a":[{"id":${id}}]}`)
    assert.equal(new Set(keys(...values)).size, ids.length)
    assert.deepEqual(keys(...values.map((value) => JSON.stringify(value))), keys(...values))
    assert.deepEqual(keys(...values.map((value) => `${value.slice(0, -1)} }`)), keys(...values))
  })
  it('are told apart in a body that continues from another, too', () => {
    const hint = 'goes on'
    const items: string[] = [`{"kind":"user","text":"${'fetch '.repeat(500)}"}`]
    const seen = new Set<string | undefined>()
    for (let n = 1; n <= 4; n++) {
      items.push(step(`c${n}`, `{"id":123456789012345678${n}}`), `{"kind":"result","id":"c${n}","text":"é${n}"}`)
      const { conversation } = reader.read(plain, Buffer.from(`{"model":"m","items":[${items.join(',')}]}`), hint)
      assert.equal(
        conversation.fingerprint,
        raw(`{"model":"m","items":[${items.join(', ')}]}`).conversation.fingerprint,
      )
      seen.add(conversation.turns.at(-1)?.calls[0]?.key)
    }
    assert.equal(seen.size, 4)
  })
  it('change no key of other numbers', () => {
    assert.equal(
      argumentText('{"b":1e3,"a":[0.10,9007199254740991,-0,1e400]}'),
      '{"a":[0.1,9007199254740991,0,null],"b":1000}',
    )
  })
})
