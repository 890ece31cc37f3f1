import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { parseJson } from '#lib/json'
import { type ChangeSource, compileChange, transformed } from '../../../../plugins/mcp/actions/transform.ts'

/** The text after these changes; undefined if they change nothing. */
const sent = async (text: string, ...sources: readonly ChangeSource[]): Promise<string | undefined> => {
  const changed = transformed(text, await Promise.all(sources.map(compileChange)))
  if (changed !== undefined) assert.deepEqual(changed.arguments, parseJson(changed.text))
  return changed?.text
}
const changes = (
  what: string,
  rows: readonly (readonly [from: string, source: ChangeSource, to: string | undefined])[],
) => {
  for (const [from, source, to] of rows) {
    it(`${what} ${JSON.stringify(source)} of ${from}`, async () => assert.equal(await sent(from, source), to))
  }
}

describe('remove', () =>
  changes('takes away', [
    ['{"a":1}', { remove: '/a' }, '{}'],
    ['{ "a" : 1 , "b" : 2 }', { remove: '/a' }, '{ "b" : 2 }'],
    ['{"a":1,"b":2}', { remove: '/b' }, '{"a":1}'],
    ['{"a":1,"b":2,"c":3}', { remove: '/b' }, '{"a":1,"c":3}'],
    ['{"a":{"b":[1,2,3]}}', { remove: '/a/b/1' }, '{"a":{"b":[1,3]}}'],
    ['{"a":[1,2,3]}', { remove: '/a/*' }, '{"a":[]}'],
    ['{"a":[{"b":1},{"c":2},{"b":3,"c":4}]}', { remove: '/a/*/b' }, '{"a":[{},{"c":2},{"c":4}]}'],
    ['{"a~/b":1,"c":2}', { remove: '/a~0~1b' }, '{"c":2}'],
    ['{"\\u0061":1}', { remove: '/a' }, '{}'],
    ['{"a":"}{\\"],","b":1}', { remove: '/a' }, '{"b":1}'],
    ['{"__proto__":1,"b":1}', { remove: '/__proto__' }, '{"b":1}'],
    ['{}', { remove: '/a' }, undefined],
    ['{"b":1}', { remove: '/a/b' }, undefined],
    ['{"a":"text"}', { remove: '/a/0' }, undefined],
    ['{"a":[1]}', { remove: '/a/01' }, undefined],
    ['{"a":[1]}', { remove: '/a/-' }, undefined],
  ]))

describe('set', () =>
  changes('puts', [
    ['{"a":1}', { set: { '/a': 2 } }, '{"a":2}'],
    ['{}', { set: { '/a': true } }, '{"a":true}'],
    ['{ "b": 1 }', { set: { '/a': null } }, '{ "b": 1,"a":null }'],
    ['{"a":{"b":1}}', { set: { '/a/b': [1, { c: 'x' }] } }, '{"a":{"b":[1,{"c":"x"}]}}'],
    ['{"a":[{},{"x":0}]}', { set: { '/a/*/x': 1 } }, '{"a":[{"x":1},{"x":1}]}'],
    ['{"a":[1,2]}', { set: { '/a/*': 0 } }, '{"a":[0,0]}'],
    ['{"a":[1]}', { set: { '/a/1': 2 } }, '{"a":[1,2]}'],
    ['{"a":[1]}', { set: { '/a/0': 2, '/b': 3 } }, '{"a":[2],"b":3}'],
    ['{"a":[]}', { set: { '/a/0': 2 } }, '{"a":[2]}'],
    ['{"a":[1]}', { set: { '/a/2': 2 } }, undefined],
    ['{}', { set: { '/a/b': 1 } }, undefined],
    ['{"a":1}', { set: { '/a/b': 1 } }, undefined],
    ['{"a":[]}', { set: { '/a/*': 1 } }, undefined],
    ['{"a": 1}', { set: { '/a': 1 } }, undefined],
  ]))

describe('clamp', () =>
  changes('bounds', [
    ['{"n":9}', { clamp: { '/n': { max: 5 } } }, '{"n":5}'],
    ['{"n":-9}', { clamp: { '/n': { min: -5.5 } } }, '{"n":-5.5}'],
    ['{"n":5}', { clamp: { '/n': { min: 5, max: 5 } } }, undefined],
    ['{"n":1e999}', { clamp: { '/n': { max: 5 } } }, '{"n":5}'],
    ['{"n":12345678901234567890}', { clamp: { '/n': { max: 5 } } }, '{"n":5}'],
    ['{"a":[1,9,{"n":9}]}', { clamp: { '/a/*': { max: 5 } } }, '{"a":[1,5,{"n":9}]}'],
    ['{"n":"9"}', { clamp: { '/n': { max: 5 } } }, undefined],
    ['{}', { clamp: { '/n': { min: 5 } } }, undefined],
  ]))

describe('redact', () =>
  changes('hides', [
    [
      '{"a":"4111111111111111 and 4111111111111112"}',
      { redact: { pointer: '/a', pattern: '\\b\\d{16}\\b', with: '[card]' } },
      '{"a":"[card] and [card]"}',
    ],
    ['{"a":"x"}', { redact: { pointer: '/a', pattern: '(x)', with: '$1$0\\' } }, '{"a":"$1$0\\\\"}'],
    ['{"a":"\\u0078"}', { redact: { pointer: '/a', pattern: 'x', with: '"' } }, '{"a":"\\""}'],
    ['{"a":["x",1,"yx"]}', { redact: { pointer: '/a/*', pattern: 'x', with: '' } }, '{"a":["",1,"y"]}'],
    ['{"a":"y"}', { redact: { pointer: '/a', pattern: 'x', with: '' } }, undefined],
    ['{"a":1}', { redact: { pointer: '/a', pattern: '1', with: '' } }, undefined],
  ]))

describe('a list of changes', () => {
  it('is applied in order, and leaves every other character as it came', async () => {
    const text = '{ "big": 12345678901234567890, "f": 1.10, "u": "\\u00e9", "n": 7, "gone": [ ] }'
    const result = await sent(text, { remove: '/gone' }, { set: { '/n': 8 } }, { clamp: { '/n': { max: 5 } } })
    assert.equal(result, '{ "big": 12345678901234567890, "f": 1.10, "u": "\\u00e9", "n": 5 }')
  })
  it('takes one pass over a long list', async () => {
    const text = JSON.stringify({ list: Array.from({ length: 100_000 }, (_none, index) => ({ index, gone: 1 })) })
    const result = await sent(
      text,
      { remove: '/list/*/gone' },
      { clamp: { '/list/*/index': { max: 5 } } },
      { set: { '/list/*/x': 1 } },
    )
    assert.match(String(result), /\{"index":5,"x":1\}\]\}$/)
  })
  it('does in the text what it would do in the value', async () => {
    const part = fc.constantFrom('a', 'b', '0', '1', '', '"', '\\', '~', '/')
    const pointer = fc.array(part, { minLength: 1, maxLength: 3 })
    await fc.assert(
      fc.asyncProperty(fc.dictionary(part, fc.jsonValue({ maxDepth: 3 })), pointer, async (value, segments) => {
        const path = segments.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
        const text = JSON.stringify(value, null, 1)
        const removed = await sent(text, { remove: path })
        const gone = parseJson(text)
        const holder = segments.slice(0, -1).reduce<unknown>(child, gone)
        const last = segments.at(-1) ?? ''
        if (child(holder, last) === undefined) assert.equal(removed, undefined)
        else {
          if (Array.isArray(holder)) holder.splice(Number(last), 1)
          else delete (holder as Record<string, unknown>)[last]
          assert.deepEqual(parseJson(removed ?? ''), gone)
        }
      }),
      { numRuns: 300, seed: 7 },
    )
  })
})

const child = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name) && !(Array.isArray(value) && name === '')
    ? (value as Record<string, unknown>)[name]
    : undefined
