import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readJson, writeJson } from '#lib/json'
import { comparisonText } from '../../../../plugins/replay/api/comparison-text.ts'
import { compare } from '../../../../plugins/replay/read/compare.ts'
import { aSpan, aTrace } from '../../../kit/traces.ts'

const written = async (count: number) => {
  const spans = Array.from({ length: count }, (_, n) => aSpan({ id: `s${n}`, start_ns: 10n ** 18n + BigInt(n) }))
  const comparison = await compare(aTrace({ spans }), aTrace())
  const pieces: string[] = []
  for await (const piece of comparisonText(comparison)) pieces.push(piece)
  return { pieces, comparison }
}

describe('a comparison as JSON', () => {
  for (const count of [0, 1, 500, 1_234])
    it(`is equal in chunks and as a whole: ${count} spans`, async () => {
      const { pieces, comparison } = await written(count)
      assert.deepEqual(readJson(pieces.join('')), readJson(writeJson(comparison)))
    })

  it('has a limited number of rows per chunk, for runs of any length', async () => {
    const { pieces } = await written(5_000)
    const longest = Math.max(...pieces.map(({ length }) => length))
    assert.ok(longest < 200_000, `${longest} characters`)
  })
})
