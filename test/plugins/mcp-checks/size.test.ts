import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { size } from 'guard-gateway/plugins/mcp-checks/size'
import { loaded, mcpCheckConforms } from '../../conformance/mcp-check.ts'

mcpCheckConforms(size, { options: { max_bytes: 20 }, passes: { a: 1 }, fails: { text: 'x'.repeat(20) } })

/** Options, arguments, reasons. */
const rows: readonly (readonly [Parameters<typeof size.find>[1], object, readonly string[]])[] = [
  [{ max_bytes: 2 }, {}, []],
  [{ max_bytes: 1 }, {}, [' is 2 bytes long, 1 allowed']],
  [{ max_bytes: 9 }, { a: 'xy' }, [' is 10 bytes long, 9 allowed']],
  [{ max_bytes: 10 }, { a: 'xy' }, []],
  [{ max_bytes: 10 }, { a: 'é' }, []],
  [{ max_bytes: 9 }, { a: 'é' }, [' is 10 bytes long, 9 allowed']],
  [{ max_bytes: 4, args: ['/a'] }, { a: 'xy', b: 'x'.repeat(99) }, []],
  [{ max_bytes: 3, args: ['/a'] }, { a: 'xy' }, ['/a is 4 bytes long, 3 allowed']],
  [{ max_bytes: 3, args: ['/list/*'] }, { list: ['x', 'xyz'] }, ['/list/1 is 5 bytes long, 3 allowed']],
  [{ max_bytes: 3, args: ['/absent'] }, {}, []],
  [{ max_string_bytes: 3 }, { a: 'xyz' }, []],
  [{ max_string_bytes: 3 }, { a: 'wxyz' }, [' holds a string of 4 bytes, 3 allowed']],
  [{ max_string_bytes: 3 }, { a: 'éé' }, [' holds a string of 4 bytes, 3 allowed']],
  [{ max_string_bytes: 3 }, { a: '😀' }, [' holds a string of 4 bytes, 3 allowed']],
  [{ max_string_bytes: 3 }, { abcd: 1 }, [' holds a string of 4 bytes, 3 allowed']],
  [{ max_string_bytes: 3 }, { a: [{ b: ['x', 'wxyz'] }] }, [' holds a string of 4 bytes, 3 allowed']],
  [{ max_depth: 1 }, {}, []],
  [{ max_depth: 1 }, { a: 1 }, []],
  [{ max_depth: 1 }, { a: [] }, [' nests 2 levels deep, 1 allowed']],
  [{ max_depth: 2 }, { a: [], b: {} }, []],
  [{ max_depth: 2 }, { a: [{ b: 1 }] }, [' nests 3 levels deep, 2 allowed']],
  [{ max_depth: 1, args: ['/a'] }, { a: [1] }, []],
  [{ max_depth: 1, args: ['/a'] }, { a: [[]] }, ['/a nests 2 levels deep, 1 allowed']],
  [{ max_items: 2 }, { a: 1, b: 2 }, []],
  [{ max_items: 2 }, { a: 1, b: 2, c: 3 }, [' holds a list or object of 3 elements, 2 allowed']],
  [{ max_items: 2 }, { a: [1, 2, 3] }, [' holds a list or object of 3 elements, 2 allowed']],
  [{ max_items: 2 }, { a: [[1], [2, 3]] }, []],
  [
    { max_bytes: 5, max_items: 1 },
    { a: 1, b: 2 },
    [' is 13 bytes long, 5 allowed', ' holds a list or object of 2 elements, 1 allowed'],
  ],
]

type Limit = 'max_bytes' | 'max_string_bytes' | 'max_depth' | 'max_items'

interface Edge {
  readonly what: string
  readonly args: Record<string, unknown>
  readonly by: Limit
  readonly measure: number
}

const nest = (levels: number, inner: unknown): unknown => (levels === 0 ? inner : { a: nest(levels - 1, inner) })

/** Texts with their bytes as JSON, quotes included, and in UTF-8. */
const texts: readonly (readonly [text: string, json: number, utf8: number])[] = [
  ['', 2, 0],
  ['plain', 7, 5],
  ['a"b\\c', 9, 5],
  ['tab\tline\n', 13, 9],
  ['\u0001\u001f', 14, 2],
  ['é', 4, 2],
  ['日本語', 11, 9],
  ['😀😀', 10, 8],
  ['\ud800', 8, 3],
  ['e\u0301', 5, 3],
  ['\u2028', 5, 3],
  ['</script>', 11, 9],
  ['x'.repeat(1000), 1002, 1000],
  ['é'.repeat(500), 1002, 1000],
]

const edges: readonly Edge[] = [
  ...texts.flatMap(([text, json, utf8]): Edge[] => [
    { what: `a value ${JSON.stringify(text).slice(0, 20)}`, args: { a: text }, by: 'max_bytes', measure: json + 6 },
    { what: `a name ${JSON.stringify(text).slice(0, 20)}`, args: { [text]: 1 }, by: 'max_bytes', measure: json + 4 },
    {
      what: `a string ${JSON.stringify(text).slice(0, 20)}`,
      args: { a: [{ b: [text] }] },
      by: 'max_string_bytes',
      measure: Math.max(utf8, 1),
    },
    {
      what: `a named string ${JSON.stringify(text).slice(0, 20)}`,
      args: { a: [{ [text]: {} }] },
      by: 'max_string_bytes',
      measure: Math.max(utf8, 1),
    },
  ]),
  ...[0, 1, 2, 10, 100].flatMap((levels): Edge[] => [
    { what: `${levels} objects`, args: { x: nest(levels, 1) }, by: 'max_depth', measure: levels + 1 },
    { what: `${levels} objects around a list`, args: { x: nest(levels, []) }, by: 'max_depth', measure: levels + 2 },
    { what: `${levels} siblings`, args: { x: Array(levels).fill({}) }, by: 'max_items', measure: Math.max(levels, 1) },
    {
      what: `a list of ${levels} deep below`,
      args: { x: nest(5, Array(levels).fill(0)) },
      by: 'max_items',
      measure: Math.max(levels, 1),
    },
  ]),
]

describe('payload size', () => {
  for (const [options, args, reasons] of rows) {
    it(`${JSON.stringify(options)} of ${JSON.stringify(args).slice(0, 60)}: ${reasons.length} over`, async () => {
      const find = await loaded(size, options)
      const found = await find(args as Record<string, unknown>)
      assert.deepEqual(
        found.map(({ pointer, reason }) => `${pointer} ${reason}`),
        reasons,
      )
      assert.ok(found.every(({ certain }) => certain))
    })
  }
  for (const one of edges) {
    it(`takes ${one.what} of exactly the limit, and one less is too little`, async () => {
      const allowing = async (limit: number) => {
        const find = await loaded(size, { [one.by]: limit })
        return (await find(JSON.parse(JSON.stringify(one.args)) as Record<string, unknown>)).length
      }
      assert.equal(await allowing(one.measure), 0)
      assert.equal(await allowing(one.measure + 1), 0)
      if (one.measure > 1) assert.equal(await allowing(one.measure - 1), 1)
    })
  }
  it('counts a member named __proto__', async () => {
    const find = await loaded(size, { max_items: 1, max_string_bytes: 4 })
    assert.equal((await find(JSON.parse('{"__proto__": 1, "a": 2}'))).length, 2)
  })
  it('walks a nesting of 100,000 levels', async () => {
    let nested: unknown = 'x'
    for (let level = 0; level < 100_000; level++) nested = [nested]
    const find = await loaded(size, { max_depth: 128 })
    assert.match(String((await find({ nested }))[0]?.reason), /100001 levels/)
  })
})
