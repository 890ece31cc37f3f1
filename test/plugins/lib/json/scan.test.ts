import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { isScanFault, type JsonValue, memberIn, scanJson, sourceOf, valueAt } from '#lib/json'

/** JSON text with odd blanks and escapes, and the value it stands for. */
const blanks = fc.stringMatching(/^[ \t\n\r]{0,2}$/)
const json = fc
  .jsonValue({ maxDepth: 5 })
  .chain((value) => fc.tuple(blanks, blanks).map(([a, b]) => a + JSON.stringify(value, undefined, b) + b))

const parses = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** The value built again from what the scan recorded. */
const rebuilt = (text: string, value: JsonValue): unknown => {
  if (value.items !== undefined) return value.items.map((item) => rebuilt(text, item))
  if (value.members === undefined) return JSON.parse(sourceOf(text, value))
  return Object.fromEntries(value.members.map((member) => [member.name, rebuilt(text, member.value)]))
}

describe('scanJson', () => {
  it('accepts what JSON.parse accepts and finds the same members', () => {
    fc.assert(
      fc.property(json, (text) => {
        const scan = scanJson(text)
        assert.ok(!isScanFault(scan))
        assert.equal(scan.deep, false)
        assert.deepEqual(rebuilt(text, scan.root), JSON.parse(text))
      }),
      { seed: 4, numRuns: 400 },
    )
  })

  it('refuses what JSON.parse refuses, wherever a text is broken', () => {
    const break_ = fc.tuple(json, fc.nat(), fc.constantFrom('', '"', '\\', '{', ']', ',', '0', '\u0001', 'x', '-', '.'))
    fc.assert(
      fc.property(break_, ([text, at, put]) => {
        const broken = text.slice(0, at % (text.length + 1)) + put + text.slice((at % (text.length + 1)) + 1)
        assert.equal(isScanFault(scanJson(broken)), !parses(broken), broken)
      }),
      { seed: 5, numRuns: 3000 },
    )
  })

  for (const text of [
    '',
    ' ',
    '01',
    '-',
    '1.',
    '.5',
    '1e',
    '+1',
    'NaN',
    'tru',
    'nullx',
    '"',
    '"\\x"',
    '"\\u12g4"',
    '"\t"',
    '[1,]',
    '[,1]',
    '{"a":1,}',
    '{a:1}',
    '{"a" 1}',
    '{"a":}',
    '[1 2]',
    '{}{}',
    '[}',
    "'a'",
    '// c\n1',
    '\u00a01',
    '\ufeff1',
    '1\u0000',
  ]) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      assert.ok(!parses(text))
      assert.ok(isScanFault(scanJson(text)))
    })
  }

  it('tells what was expected and where', () => {
    assert.deepEqual(scanJson('{"a":1 "b":2}'), { at: 7, expected: 'a comma or }' })
    assert.deepEqual(scanJson('[1'), { at: 2, expected: 'a comma or ]' })
    assert.deepEqual(scanJson('1 2'), { at: 2, expected: 'the end of the text' })
  })

  it('finds a duplicate name at any depth, compared after unescaping', () => {
    const doubled = (text: string) => {
      const scan = scanJson(text, { keep: 1 })
      return isScanFault(scan) ? scan : scan.duplicate
    }
    assert.equal(doubled('{"a":1,"b":2}'), undefined)
    assert.equal(doubled('{"a":1,"a":2}'), '/a')
    assert.equal(doubled('{"a":[0,{"x/y":1,"\\u0078/y":2}]}'), '/a/1/x~1y')
    assert.equal(doubled('{"__proto__":1,"__proto__":2}'), '/__proto__')
    const many = Array.from({ length: 40 }, (_, index) => `"k${index}":0`).join()
    assert.equal(doubled(`{${many}}`), undefined)
    assert.equal(doubled(`{${many},"k\\u0033":0}`), '/k3')
    assert.equal(doubled('[{"a":1},{"a":1}]'), undefined)
  })

  it('steps over what nests too deep without losing its place', () => {
    const nest = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
    const at = (depth: number) => scanJson(`{"a":${nest(depth)},"id":7}`)
    const whole = at(127)
    assert.ok(!isScanFault(whole) && !whole.deep)
    for (const depth of [128, 129, 100_000]) {
      const scan = at(depth)
      assert.ok(!isScanFault(scan) && scan.deep, String(depth))
      const id = memberIn(scan.root, 'id')
      assert.equal(id === undefined ? undefined : sourceOf(`{"a":${nest(depth)},"id":7}`, id.value), '7')
    }
    assert.ok(isScanFault(scanJson('['.repeat(200_000))))
  })

  it('records members as deep as it is asked to', () => {
    const scan = scanJson('{"a":{"b":{"c":1}}}', { keep: 2 })
    assert.ok(!isScanFault(scan))
    assert.equal(valueAt(scan.root, '/a/b')?.members, undefined)
    assert.equal(valueAt(scan.root, '/a')?.members?.length, 1)
  })
})
