import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { costOf, type Part, type PartCost, parts } from '../../bench/start/parts.ts'

/** The first process of a part may strip types, which takes memory of its own. */
const warmCostOf = async (part: Part): Promise<PartCost> => {
  const cost = await costOf(part)
  return cost.mb <= part.most_mb ? cost : costOf(part)
}

describe('parts that are loaded when they are first used', () => {
  for (const part of parts)
    it(`${part.name} stays within its bounds`, async () => {
      const { mb, modules } = await warmCostOf(part)
      assert.ok(modules > 0 && modules <= part.most_modules, `${modules} modules`)
      assert.ok(mb <= part.most_mb, `${mb} MB`)
    })
  it('have a line in the table, in their order', async () => {
    const text = await readFile(join(import.meta.dirname, '../../bench/README.md'), 'utf8')
    const [, table = ''] = text.split('| Part ')
    const named = [...(table.split('\n\n')[0] ?? '').matchAll(/^\| (?!-)(.+?) +\|/gm)].map(([, name]) => name)
    assert.deepEqual(
      named,
      parts.map(({ name }) => name),
    )
  })
})
