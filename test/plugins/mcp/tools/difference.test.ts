import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { lineDifference } from '../../../../plugins/mcp/tools/difference.ts'
import { page, startCatalogs } from './catalog-kit.ts'

describe('how a definition became another', () => {
  const rows: readonly (readonly [what: string, before: string, after: string, told: readonly string[]])[] = [
    ['nothing', 'a\nb', 'a\nb', []],
    ['a line in the middle', '1\n2\n3\n4\n5\n6\n7', '1\n2\n3\nX\n5\n6\n7', ['  2', '  3', '- 4', '+ X', '  5', '  6']],
    ['lines at the end', 'a', 'a\nb\nc', ['  a', '+ b', '+ c']],
    ['lines gone at the start', 'a\nb\nc', 'c', ['- a', '- b', '  c']],
    [
      'two places',
      'a\n1\n2\n3\n4\n5\nb',
      'A\n1\n2\n3\n4\n5\nB',
      ['- a', '+ A', '  1', '  2', '…', '  4', '  5', '- b', '+ B'],
    ],
    ['moved lines', 'a\nb\nc', 'b\nc\na', ['- a', '  b', '  c', '+ a']],
    ['everything', 'a', 'b', ['- a', '+ b']],
  ]
  for (const [what, before, after, told] of rows) it(what, () => assert.deepEqual(lineDifference(before, after), told))
  it('long texts, one after the other', () => {
    const text = (mark: string) => Array.from({ length: 2000 }, (_, line) => `${mark}${line}`).join('\n')
    const told = lineDifference(text('a'), text('b'))
    assert.deepEqual([told.length, told[0], told[2000]], [4000, '- a0', '+ b0'])
  })
  it('keeps what a person can read: every pinned member, long ones cut', async () => {
    const catalogs = await startCatalogs()
    const catalog = catalogs.catalog()
    const tool = {
      name: 'x',
      title: 'X',
      description: 'One.\nTwo.\u202e',
      annotations: { readOnlyHint: true },
      _meta: { a: 1 },
    }
    await catalog.observe(page([tool]))
    const kept = async () => (await catalogs.kit.gateway.storage.get('mcp_tools', ['fs', 'x']))?.seen_text
    assert.equal(
      await kept(),
      'name: x\ntitle: X\ndescription: One.\n  Two.\nannotations: {\n    "readOnlyHint": true\n  }\n_meta: {\n    "a": 1\n  }',
    )
    await catalog.observe(page([{ ...tool, description: 'long '.repeat(10_000) }]))
    assert.match(String(await kept()), /^name: x[\s\S]{30000,}… 50\d{3} characters in all$/)
    await catalogs.kit.close()
  })
  it('is trusted before this process has listed anything', async () => {
    const catalogs = await startCatalogs()
    const earlier = catalogs.catalog()
    await earlier.observe(page(['a', { name: 'b', description: 'One.' }]))
    await earlier.observe(page(['a', { name: 'b', description: 'Two.' }]))
    assert.deepEqual(await catalogs.catalog().accept(['a', 'b']), ['b'])
    await earlier.validate('b', {})
    assert.equal(earlier.pin('b'), 'known')
    await catalogs.kit.close()
  })
})
