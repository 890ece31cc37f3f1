import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { compileSchema } from '../../../../plugins/mcp/schemas/compile.ts'

/** Whether a text fits a pattern; undefined where the pattern is not run. */
const fits = async (pattern: string, text: string): Promise<boolean | undefined> => {
  const compiled = await compileSchema({ properties: { p: { pattern } } })
  assert.ok(compiled.usable)
  return compiled.skipped.length > 0 ? undefined : compiled.check({ p: text }) === undefined
}

const rows: readonly (readonly [pattern: string, text: string])[] = [
  ['^\\s*$', '\u00a0\u3000\v'],
  ['^\\S+$', 'a\u00a0b'],
  ['^[\\w\\s]+$', 'a\u2003b'],
  ['^[^\\s@]+@[^\\s@]+$', 'a@b\u00a0'],
  ['^[^\\S]$', '\u00a0'],
  ['^[\\S]$', '\u{1F600}'],
  ['^[\\s-.]+$', ' -.'],
  ['^[\\s-.]+$', '+'],
  ['^[\\p{L}\\s]+$', 'ä\u3000名'],
  ['^.$', '\r'],
  ['^.$', '\u2028'],
  ['^.$', '\u{1F600}'],
  ['^[.]$', 'a'],
  ['^\\.$', 'a'],
  ['^[\\b]$', '\b'],
  ['\\bfoo\\b', 'a foo b'],
  ['^\\p{Letter}+$', 'äß'],
  ['^\\p{Uppercase_Letter}$', 'a'],
  ['^\\p{Script=Greek}+$', 'αβ'],
  ['^\\P{sc=Latin}+$', 'a'],
  ['^[\\p{gc=Lu}\\d]+$', 'Ä1'],
  ['^[[]\\]$', '[]'],
  ['^[a\\]]+$', 'a]'],
  ['^\\[\\s\\]$', '[ ]'],
  ['^\\\\s$', '\\s'],
]

describe('the patterns of schemas', () => {
  for (const [pattern, text] of rows)
    it(`mean what they mean in JavaScript: ${pattern} and ${JSON.stringify(text)}`, async () => {
      const flags = /\\s-/.test(pattern) ? '' : 'u'
      assert.equal(await fits(pattern, text), new RegExp(pattern, flags).test(text))
    })
  for (const pattern of [
    '^[a-z]{1,1000}$',
    '^\\p{L}[\\p{L}\\p{N} _.-]{0,254}$',
    '^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)?$',
  ])
    it(`are run when they are of an ordinary size: ${pattern}`, async () =>
      assert.equal(await fits(pattern, 'abcd'), true))
  for (const [what, pattern] of [
    ['repetitions within one another', `^${'(a{30}){30}'.repeat(300)}$`],
    ['classes of Unicode', '[\\p{L}\\p{N}]'.repeat(15_000)],
    ['words', Array.from({ length: 20_000 }, (_none, index) => `w${index}`).join('|')],
  ] as const)
    it(`are not compiled when they are large by ${what}`, async () => assert.equal(await fits(pattern, 'q'), undefined))
  it('are not compiled when there are many, beyond the first', async () => {
    const pattern = (index: number) => ({ pattern: `^[\\p{L}${index}]{1,1000}$` })
    const properties = Object.fromEntries(Array.from({ length: 600 }, (_none, index) => [`p${index}`, pattern(index)]))
    const compiled = await compileSchema({ properties })
    assert.ok(compiled.usable)
    assert.equal(compiled.skipped.length, 598)
    assert.match(String(compiled.check({ p0: '-' })?.message), /^must match/)
    assert.equal(compiled.check({ p599: '-' }), undefined)
  })
  it('of many steps are not run on texts that would take them all for each character', async () => {
    const compiled = await compileSchema({ properties: { p: { pattern: '.{900}.{900}.{900}[cd]' } } })
    assert.ok(compiled.usable)
    const fault = compiled.check({ p: 'ab'.repeat(125_000) })
    assert.deepEqual([fault?.message, fault?.certain], ['takes too long to validate', false])
    assert.match(String(compiled.check({ p: 'ab' })?.message), /^must match/)
  })
})
