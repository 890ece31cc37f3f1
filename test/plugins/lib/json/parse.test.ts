import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { parseJson, readJson } from '#lib/json'

/** Names before and after texts in which V8 may take the second for the first; each pair under a member of its own. */
const pairs: readonly (readonly [earlier: string, later: string])[] = [
  ['pat\\\\', 'pat\\u0068'],
  ['\\\\', '\\n'],
  ['\\\\', '\\"'],
  ['\\\\', '\\u0061'],
  ['\\\\u', '\\u0061b'],
  ['n\\\\', 'n\\/'],
  ['\\\\\\\\', '\\\\\\"'],
]

describe('names in JSON', () => {
  for (const [index, [earlier, later]] of pairs.entries())
    for (const [way, first] of [
      ['a number', '1'],
      ['a number of many digits', '12345678901234567890'],
      ['text beyond ASCII', '"ж"'],
    ] as const)
      it(`are read as written: "${later}" after "${earlier}" and ${way}`, () => {
        const text = (name: string) => `{"p${index}": ${first}, "${name}" : [{"x": "\\"y\\": z"}]}`
        JSON.parse(text(earlier))
        const [, name] = Object.keys(readJson(text(later)) as object)
        assert.equal(name, JSON.parse(`["${later}"]`)[0])
        assert.deepEqual(Object.values(readJson(text(later)) as object)[1], [{ x: '"y": z' }])
      })
  it('are members of their own, whatever they say, and the last one of a name counts', () => {
    const value = parseJson('{"\\u005f_proto__": 1, "a": 2, "\\u0061": 3, "b": {"\\u0063": [{"\\n": null}]}}') as object
    assert.deepEqual(Object.entries(value), [
      ['__proto__', 1],
      ['a', 3],
      ['b', { c: [{ '\n': null }] }],
    ])
    assert.equal(Object.getPrototypeOf(value), Object.prototype)
  })
  it('stand in texts that are refused as ever', () => {
    for (const text of ['{"\\u0061": }', '{"\\x": 1}', '{"\\u0061": 1', '["\\u0061": 1]'])
      assert.throws(() => parseJson(text), SyntaxError)
  })
  it('nest as deep as they may', () => {
    const depth = 100_000
    let value = parseJson(`${'{"\\u0061":'.repeat(depth)}1${'}'.repeat(depth)}`)
    for (let level = 0; level < depth; level++) value = (value as { readonly a: unknown }).a
    assert.equal(value, 1)
  })
  it('survive what is written and read again', () => {
    const name = fc.constantFrom('\\', '"', '\n', 'n', 'a\\', 'a"', 'a', '', '\\u', '__proto__')
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 4 }, name, fc.integer(), fc.array(tie('value')), tie('object')),
      object: fc.dictionary(name, tie('value'), { noNullPrototype: true }),
    }))
    fc.assert(
      fc.property(value, (one) => {
        const text = JSON.stringify(one)
        assert.equal(JSON.stringify(parseJson(text)), text)
      }),
      { seed: 20_261_122, numRuns: 2000 },
    )
  })
})
