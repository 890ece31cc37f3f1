import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { LongStringCutter } from '#lib/json'

const KEPT = 65_536

/** What is left of a text that comes in pieces of these sizes. */
const cut = (text: string, sizes: readonly number[]): string => {
  const bytes = Buffer.from(text)
  const kept: Buffer[] = []
  const cutter = new LongStringCutter((piece, start, end) => kept.push(Buffer.copyBytesFrom(piece, start, end - start)))
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? bytes.length
    cutter.push(bytes, at, Math.min(at + size, bytes.length))
    at += size
  }
  return Buffer.concat(kept).toString()
}

describe('LongStringCutter', () => {
  it('leaves a text as it is that has no long string', () => {
    const property = fc.property(
      fc.json(),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
      (text, sizes) => {
        assert.equal(cut(text, sizes), text)
      },
    )
    fc.assert(property, { seed: 5, numRuns: 500 })
  })

  it('keeps the structure of a text with long strings, and their first 64 KiB by whole characters and escapes', () => {
    const unit = fc.constantFrom('a', 'é', '漢', '🙂', '"', '\\', '\n', '\u0001', '\\"', ' ')
    const property = fc.property(
      fc.array(unit, { minLength: 1, maxLength: 8 }),
      fc.integer({ min: 1, max: 40 }),
      fc.constantFrom(1, 5, 4_096, 1_000_000),
      (units, shift, size) => {
        const long = 'x'.repeat(KEPT - shift) + units.join('').repeat(20)
        const value = { [long]: [long, 1, { deep: long }], short: units.join(''), usage: { output_tokens: 3 } }
        const read = JSON.parse(cut(JSON.stringify(value), [size]))
        const [[name, [first, one, { deep }]], ...rest] = Object.entries(read) as [
          [string, [string, number, { deep: string }]],
        ]
        for (const text of [name, first, deep]) {
          assert.ok(long.startsWith(text))
          assert.ok(text.length > KEPT - 60 && Buffer.byteLength(text) <= KEPT + 4, `${text.length}`)
        }
        assert.equal(one, 1)
        assert.deepEqual(Object.fromEntries(rest), { short: value.short, usage: value.usage })
      },
    )
    fc.assert(property, { seed: 7, numRuns: 60 })
  })

  it('takes time in proportion to a text of backslashes alone', () => {
    const text = `"${'\\\\'.repeat(500_000)}"`
    const begun = performance.now()
    assert.ok(cut(text, [65_536]).length <= KEPT + 4)
    assert.ok(performance.now() - begun < 2_000)
  })
})
