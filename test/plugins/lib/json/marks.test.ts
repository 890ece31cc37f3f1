import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { closingQuote, JsonMarks, mark, stringAt } from '../../../../plugins/lib/json/marks.ts'

/** Each mark of the text with its offset, however it is cut. */
const marksOf = (bytes: Buffer, cuts: readonly number[]): readonly (readonly [number, number])[] => {
  const marks = new JsonMarks()
  const found: (readonly [number, number])[] = []
  let from = 0
  for (const to of [...cuts.toSorted((one, other) => one - other), bytes.length]) {
    marks.feed(bytes.subarray(from, to))
    for (let byte = marks.next(); byte !== 0; byte = marks.next()) found.push([byte, from + marks.at])
    from = to
  }
  return found
}

const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 })
const damaged = fc
  .array(fc.constantFrom('"', '\\', '\\"', '[', '}', ',', '\n', 'a', ' 17 plain letters '))
  .map((parts) => parts.join(''))

describe('JsonMarks', () => {
  it('tells what gives a text its form, and nothing of what is in strings', () => {
    assert.deepEqual(marksOf(Buffer.from('{"a,[":1,\n"b\\"":[]}'), []), [
      [mark.object, 0],
      [mark.string, 1],
      [mark.stringEnd, 5],
      [mark.comma, 8],
      [mark.line, 9],
      [mark.string, 10],
      [mark.stringEnd, 14],
      [mark.array, 16],
      [mark.arrayEnd, 17],
      [mark.objectEnd, 18],
    ])
  })

  it('finds the same however the text is cut, also in what is no JSON', () => {
    const texts = fc.oneof(fc.json(), damaged)
    fc.assert(
      fc.property(texts, cuts, (text, places) => {
        const bytes = Buffer.from(text)
        const at = places.map((place) => Math.floor(place * bytes.length))
        assert.deepEqual(marksOf(bytes, at), marksOf(bytes, []))
      }),
    )
  })

  it('begins where it is told', () => {
    const marks = new JsonMarks(Buffer.from('[{}'), 1)
    assert.equal(marks.next(), mark.object)
    assert.equal(marks.at, 1)
  })
})

describe('closingQuote', () => {
  it('finds the end of every string that JSON has', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (value) => {
        const bytes = Buffer.from(`${JSON.stringify(value)}"]`)
        assert.equal(stringAt(bytes, 0), value)
      }),
    )
  })

  it('gives the length where nothing ends the string, and one more where the last byte escapes', () => {
    for (const [text, end] of [
      ['', 0],
      ['ab', 2],
      ['a\\', 3],
      ['\\\\', 2],
      [`${'a'.repeat(40)}\\"`, 42],
      [`${'a'.repeat(40)}\\`, 42],
      [`${'\\'.repeat(41)}`, 42],
    ] as const)
      assert.equal(closingQuote(Buffer.from(text), 0), end, text)
  })
})
