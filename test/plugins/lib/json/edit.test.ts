import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  applyEdits,
  isScanFault,
  type JsonValue,
  pointerKeys,
  removalsFrom,
  removeAt,
  scanJson,
  setAt,
  sourceOf,
  valueAt,
} from '#lib/json'

const rootOf = (text: string): JsonValue => {
  const scan = scanJson(text)
  if (isScanFault(scan)) throw new Error(scan.expected)
  return scan.root
}

describe('edits of JSON text', () => {
  it('change only what they name', () => {
    const text = '{ "a" : 12345678901234567890, "b":[1 , 2.50e1,\t3],"c":"\\u00e9" }'
    assert.equal(setAt(text, '/b/1', '0'), '{ "a" : 12345678901234567890, "b":[1 , 0,\t3],"c":"\\u00e9" }')
    assert.equal(
      setAt(text, '/d~1e', 'true'),
      '{ "a" : 12345678901234567890, "b":[1 , 2.50e1,\t3],"c":"\\u00e9","d/e":true }',
    )
    assert.equal(setAt('{}', '/x', '[]'), '{"x":[]}')
    assert.equal(setAt('{"x":1}', '', '{}'), '{}')
    assert.equal(removeAt(text, '/a'), '{ "b":[1 , 2.50e1,\t3],"c":"\\u00e9" }')
    assert.equal(removeAt(text, '/b'), '{ "a" : 12345678901234567890,"c":"\\u00e9" }')
    assert.equal(removeAt(text, '/b/2'), '{ "a" : 12345678901234567890, "b":[1 , 2.50e1],"c":"\\u00e9" }')
  })

  it('leave a text alone where the place is not there', () => {
    const text = '{"a":[1],"s":"x"}'
    for (const pointer of ['/b/c', '/a/1', '/a/01', '/a/-', '/s/0']) assert.equal(setAt(text, pointer, '9'), text)
    for (const pointer of ['', '/b', '/a/1', '/a/x', '/s/0']) assert.equal(removeAt(text, pointer), text)
    assert.throws(() => setAt('{', '/a', '1'), SyntaxError)
  })

  it('take any set of members or items out and leave valid JSON of the others', () => {
    const entries = fc.uniqueArray(fc.tuple(fc.string(), fc.jsonValue(), fc.boolean()), {
      selector: ([key]) => key,
      maxLength: 6,
    })
    fc.assert(
      fc.property(entries, (given) => {
        const object = `{${given.map(([key, value]) => ` ${JSON.stringify(key)} : ${JSON.stringify(value)} `).join()}}`
        const array = `[${given.map(([, value]) => ` ${JSON.stringify(value)} `).join()}]`
        const gone = (index: number) => given[index]?.[2] === true
        const kept = given.filter(([, , out]) => !out)
        assert.deepEqual(
          Object.entries(JSON.parse(applyEdits(object, removalsFrom(rootOf(object), gone))) as object).sort(),
          Object.entries(
            JSON.parse(
              `{${kept.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join()}}`,
            ) as object,
          ).sort(),
        )
        assert.deepEqual(
          JSON.parse(applyEdits(array, removalsFrom(rootOf(array), gone))),
          JSON.parse(JSON.stringify(kept.map(([, value]) => value))),
        )
      }),
      { seed: 6, numRuns: 300 },
    )
  })

  it('find a value by its pointer', () => {
    const text = '{"a/b":{"~":[10,{"":true}]}}'
    const at = (pointer: string) => {
      const value = valueAt(rootOf(text), pointer)
      return value === undefined ? undefined : sourceOf(text, value)
    }
    assert.equal(at('/a~1b/~0/1/'), 'true')
    assert.equal(at('/a~1b/~0/0'), '10')
    assert.equal(at('/a~1b/~0/00'), undefined)
    assert.equal(at('/nothing/here'), undefined)
    assert.deepEqual(pointerKeys('/a~01/'), ['a~1', ''])
  })
})
