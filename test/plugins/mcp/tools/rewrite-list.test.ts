import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { rewritePage } from '../../../../plugins/mcp/tools/rewrite-list.ts'

const nothing = { hidden: () => false, canConfirm: () => false }
const asking = { hidden: () => false, canConfirm: () => true }
const hiding = (...names: readonly string[]) => ({ ...nothing, hidden: (tool: string) => names.includes(tool) })

describe('a list of tools on its way to the client', () => {
  const list =
    '{ "tools" : [ {"name":"a","big":12345678901234567890}, {"name":"b"} ,{"name":"c"} ], "nextCursor":"n", "x":1.0 }'

  it('is the same text when nothing is to be changed', () => assert.equal(rewritePage(list, nothing), list))
  it('loses hidden tools and keeps every other character', () => {
    assert.equal(
      rewritePage(list, hiding('b')),
      '{ "tools" : [ {"name":"a","big":12345678901234567890} ,{"name":"c"} ], "nextCursor":"n", "x":1.0 }',
    )
    for (const names of [['a'], ['c'], ['a', 'b'], ['b', 'c'], ['a', 'c']]) {
      const { tools, nextCursor } = JSON.parse(rewritePage(list, hiding(...names)))
      assert.deepEqual(
        tools.map(({ name }: { name: string }) => name),
        ['a', 'b', 'c'].filter((name) => !names.includes(name)),
      )
      assert.equal(nextCursor, 'n')
    }
  })
  it('may become empty, and its cursor stays', () => {
    assert.deepEqual(JSON.parse(rewritePage(list, hiding('a', 'b', 'c'))), { tools: [], nextCursor: 'n', x: 1 })
  })
  it('hides a tool by its name however that is spelled', () => {
    assert.deepEqual(JSON.parse(rewritePage('{"tools":[{"name":"\\u0061"}]}', hiding('a'))), { tools: [] })
  })
  it('offers no tasks', () => {
    const text =
      '{"tools":[{"name":"a","execution":{"taskSupport":"required","x":1}},{"name":"b","execution":{"taskSupport":"optional"}}]}'
    assert.equal(rewritePage(text, nothing), '{"tools":[{"name":"a","execution":{"x":1}},{"name":"b","execution":{}}]}')
  })
  it('passes on what is no list', () => {
    for (const text of ['{}', '[]', '{"tools":1}', '{"tools":[1,null,{"name":1}]}', 'no json'])
      assert.equal(rewritePage(text, { hidden: () => true, canConfirm: () => true }), text)
  })
})

describe('an output schema of a tool whose calls may be answered by a question', () => {
  const question = { approval_id: 'apr_x', action: 'confirm' }
  const outputOf = (outputSchema: unknown): unknown =>
    JSON.parse(rewritePage(JSON.stringify({ tools: [{ name: 'a', outputSchema }] }), asking)).tools[0].outputSchema
  const accepts = (schema: unknown, value: unknown): boolean =>
    new Ajv2020({ strict: false, logger: false }).compile(schema as object)(value)

  it('accepts the question beside what it describes, and nothing else', () => {
    const wide = outputOf({ type: 'object', properties: { text: { type: 'string' } }, required: ['text'] })
    assert.ok(accepts(wide, { text: 'x' }))
    assert.ok(accepts(wide, question))
    for (const wrong of [
      {},
      { text: 1 },
      { approval_id: 'x' },
      { ...question, action: 'allow' },
      { ...question, more: 1 },
    ])
      assert.ok(!accepts(wide, wrong), JSON.stringify(wrong))
    assert.equal((wide as { type: unknown }).type, 'object')
  })
  it('keeps its dialect at the root', () => {
    const dialect = 'https://json-schema.org/draft/2020-12/schema'
    const wide = outputOf({ $schema: dialect, type: 'object' }) as Record<string, unknown>
    assert.equal(wide.$schema, dialect)
    assert.deepEqual((wide.anyOf as unknown[])[0], { type: 'object' })
  })
  it('keeps its references, also to itself, and leaves data alone', () => {
    const tree = {
      type: 'object',
      properties: {
        node: { $ref: '#/$defs/node' },
        again: { $ref: '#' },
        named: { $ref: '#named' },
        $ref: { const: { $ref: '#/x' } },
        const: { $ref: '#/$defs/word' },
        list: { type: 'array', items: { $ref: '#/$defs/word' } },
      },
      additionalProperties: false,
      default: { $ref: '#/kept' },
      $defs: {
        word: { $anchor: 'named', type: 'string' },
        node: { type: 'object', properties: { child: { $ref: '#/$defs/node' }, value: { type: 'integer' } } },
      },
    }
    const wide = outputOf(tree)
    assert.ok(accepts(wide, question))
    for (const right of [
      { node: { child: { child: { value: 1 } } } },
      { again: { node: {} } },
      { named: 'x', const: 'y', list: ['z'] },
      { $ref: { $ref: '#/x' } },
    ])
      assert.ok(accepts(wide, right), JSON.stringify(right))
    for (const wrong of [
      { node: { child: { value: 'x' } } },
      { again: { other: 1 } },
      { named: 1 },
      { const: 1 },
      { list: [1] },
      { $ref: 1 },
    ])
      assert.ok(!accepts(wide, wrong), JSON.stringify(wrong))
    assert.match(JSON.stringify(wide), /"default":\{"\$ref":"#\/kept"\}/)
  })
  it('is left out where it means something else within another', () => {
    for (const schema of [
      { $id: 'https://example.com/x', type: 'object' },
      { type: 'object', properties: { a: { $id: 'x' } } },
      { type: 'object', properties: { a: { $dynamicRef: '#a' } } },
      { type: 'object', items: [{ $recursiveRef: '#' }] },
    ])
      assert.equal(outputOf(schema), undefined, JSON.stringify(schema))
    assert.notEqual(outputOf({ type: 'object', properties: { $id: { type: 'string' } } }), undefined)
  })
  it('stays as it is for a tool that is never asked about', () => {
    const text = '{"tools":[{"name":"a","outputSchema":{"type":"object"}}]}'
    assert.equal(rewritePage(text, nothing), text)
  })
})
