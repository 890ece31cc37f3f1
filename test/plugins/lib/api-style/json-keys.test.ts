import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { KeyCursor } from '#lib/api-style'

const cursor = (text: string): KeyCursor => {
  const keys = new KeyCursor()
  const bytes = Buffer.from(text)
  keys.open(bytes, 0, bytes.length)
  return keys
}

const lengths = (text: string): number[] => {
  const keys = cursor(text)
  const found: number[] = []
  while (keys.next()) found.push(keys.length)
  return found
}

/** Lengths of all names in the order they are written. */
const written = (value: unknown): number[] => {
  if (Array.isArray(value)) return value.flatMap(written)
  if (value === null || typeof value !== 'object') return []
  return Object.entries(value).flatMap(([name, inner]) => [
    Buffer.byteLength(JSON.stringify(name)) - 2,
    ...written(inner),
  ])
}

describe('KeyCursor', () => {
  it('finds every name at any depth and no string value', () => {
    const texts = [0, 2].map((indent) =>
      JSON.stringify({ a: 'bb"cc":1', ddd: [{ e: '\\' }, 'ff'], gggg: null }, null, indent),
    )
    for (const text of texts) assert.deepEqual(lengths(text), [1, 3, 1, 4])
  })

  it('finds the names that a parser finds', () => {
    const property = fc.property(fc.jsonValue(), fc.nat(3), (value, indent) => {
      assert.deepEqual(lengths(JSON.stringify(value, null, indent)), written(JSON.parse(JSON.stringify(value))))
    })
    fc.assert(property, { seed: 5, numRuns: 500 })
  })

  it('looks only at the bytes it was given', () => {
    const keys = new KeyCursor()
    const bytes = Buffer.from('{"a":1}{"b":"xyz"}')
    keys.open(bytes, 7, bytes.length)
    assert.ok(keys.next() && keys.is('b'))
    keys.open(bytes, 0, 7)
    assert.ok(keys.next() && keys.is('a') && !keys.next())
  })

  it('tells names and string values apart', () => {
    const keys = cursor('{"type" : "response.done","typ":1,"n":null}')
    assert.ok(keys.next())
    assert.ok(keys.is('type') && keys.isAmong(['x', 'type']) && !keys.is('typ') && !keys.is('types'))
    assert.ok(keys.begins('response.') && keys.ends('.done') && keys.equals('response.done'))
    assert.ok(
      !keys.equals('response.do') && !keys.equals('response.done!') && !keys.ends('x') && !keys.ends('"response.done'),
    )
    assert.ok(keys.equalsAmong(['error', 'response.done']) && !keys.equalsAmong(['error']))
    assert.ok(keys.next() && !keys.begins('') && !keys.ends('') && keys.textBytes() === 0)
    assert.ok(keys.next() && keys.first === 'n'.charCodeAt(0))
  })

  it('counts the bytes of text without its escapes', () => {
    for (const text of ['', 'abc', 'é', 'a"b\\c\n', '😀']) {
      const keys = cursor(`{"t":${JSON.stringify(text)},"u":1}`)
      assert.ok(keys.next())
      assert.equal(keys.textBytes(), Buffer.byteLength(text))
      assert.ok(keys.next() && keys.is('u'))
    }
    const escaped = cursor('{"t":"\\u4e2d"}')
    escaped.next()
    assert.equal(escaped.textBytes(), 3)
  })

  it('ends on broken text', () => {
    for (const text of ['', '"', '{"a', '{"a"', '{"a":', '{"a":"', '{"a":"\\', '"\\', '{"a":"b\\u']) {
      const keys = cursor(text)
      let count = 0
      while (keys.next()) {
        count++
        assert.ok(keys.textBytes() >= 0)
      }
      assert.ok(count <= 1)
    }
  })
})
