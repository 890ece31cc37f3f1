import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { faultsText, recordedText } from '../../../../plugins/mcp/schemas/error-text.ts'
import { type CompiledInput, compileInput } from '../../../../plugins/mcp/schemas/input.ts'

type Usable = Extract<CompiledInput, { usable: true }>

const inputOf = async (schema: unknown): Promise<Usable> => {
  const compiled = await compileInput(schema)
  assert.ok(compiled.usable, JSON.stringify(compiled))
  return compiled
}
const judged = async (schema: unknown, args: unknown) => {
  const compiled = await inputOf(schema)
  const first = compiled.check(args)
  return first === undefined || first === 'partial' ? (first ?? 'ok') : faultsText(await compiled.faults(args))
}

const playwright = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../../data/mcp-tools/playwright-0.0.83.json'), 'utf8'),
) as { tools: { name: string; inputSchema: object }[] }
const schemaOf = (name: string) => playwright.tools.find((tool) => tool.name === name)?.inputSchema

describe('members that a schema requires and gives a default', () => {
  it('may be missing, as Playwright takes them', async () => {
    for (const name of ['browser_take_screenshot', 'browser_console_messages', 'browser_network_requests'])
      assert.equal(await judged(schemaOf(name), {}), 'partial', name)
    assert.equal(await judged(schemaOf('browser_take_screenshot'), { scale: 'css' }), 'ok')
    assert.match(await judged(schemaOf('browser_take_screenshot'), { scale: 'huge' }), /^\/scale must be equal to one/)
    assert.match(await judged(schemaOf('browser_navigate'), {}), /must have required property 'url'/)
  })

  const mode = { default: 'fast', enum: ['fast', 'slow'] }
  const inner = { properties: { mode, n: {} }, required: ['mode', 'n'] }
  const places: Readonly<Record<string, readonly [schema: object, args: object]>> = {
    'in a member': [{ properties: { o: inner } }, { o: { n: 1 } }],
    'in an item': [{ properties: { list: { items: inner } } }, { list: [{ n: 1 }] }],
    'in any other member': [{ additionalProperties: inner }, { x: { n: 1 } }],
    'behind a reference': [{ $defs: { inner }, properties: { o: { $ref: '#/$defs/inner' } } }, { o: { n: 1 } }],
    'in a branch': [{ properties: { o: { anyOf: [{ type: 'string' }, inner] } } }, { o: { n: 1 } }],
    'in one of several branches': [
      {
        oneOf: [
          { properties: { type: { const: 'a' }, mode }, required: ['type', 'mode'] },
          { properties: { type: { const: 'b' } }, required: ['type'] },
        ],
      },
      { type: 'a' },
    ],
    'described by a reference that holds the default': [
      { $defs: { mode }, properties: { mode: { $ref: '#/$defs/mode' } }, required: ['mode'] },
      {},
    ],
    'described in a part beside': [{ allOf: [{ properties: { mode } }, { properties: {} }], required: ['mode'] }, {}],
    'required in a part beside': [{ properties: { mode }, allOf: [{ required: ['mode'] }] }, {}],
    'required by another member': [{ properties: { mode }, dependentRequired: { x: ['mode'] } }, { x: 1 }],
    'in draft-07, by another member': [
      { $schema: 'http://json-schema.org/draft-07/schema#', properties: { mode }, dependencies: { x: ['mode'] } },
      { x: 1 },
    ],
    'with the default null': [{ properties: { a: { default: null } }, required: ['a'] }, {}],
  }
  for (const [place, [schema, args]] of Object.entries(places))
    it(`may be missing ${place}`, async () => assert.equal(await judged(schema, args), 'partial'))

  it('are still what they must be, and others still required', async () => {
    assert.match(await judged(inner, { mode: 1, n: 1 }), /^\/mode must be equal/)
    assert.equal(await judged(inner, {}), "must have required property 'n'")
    assert.equal(
      await judged({ properties: { a: { properties: { b: mode } } }, required: ['a'] }, {}),
      "must have required property 'a'",
    )
  })
  it('change nothing where to require less would refuse more', async () => {
    const either = { properties: { mode }, oneOf: [{ required: ['mode'] }, { required: ['n'] }] }
    assert.equal(await judged(either, { n: 1 }), 'ok')
    assert.equal(await judged({ properties: { mode }, not: { required: ['mode'] } }, {}), 'ok')
    const conditional = JSON.parse('{"if": {"required": ["mode"]}, "then": {"required": ["n"]}}')
    assert.equal(await judged({ properties: { mode }, ...conditional }, {}), 'ok')
  })
  it('may refer in a circle', async () => {
    const circle = { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } }, properties: { x: { $ref: '#' } } }
    assert.equal(await judged(circle, {}), 'ok')
    const deep = { properties: { next: { $ref: '#' }, mode }, required: ['mode'] }
    assert.equal(await judged(deep, { next: { next: {} } }), 'partial')
  })
})

describe('the faults of arguments', () => {
  it('are recorded without names that the schema does not hold', async () => {
    const schemas = [
      { properties: { path: {} }, additionalProperties: false },
      { properties: { path: {} }, unevaluatedProperties: false },
      { properties: { path: { additionalProperties: { type: 'number' } }, list: { items: { type: 'number' } } } },
      { additionalProperties: { properties: { path: { type: 'number' } } } },
      { patternProperties: { '^can': { type: 'number' } } },
      { propertyNames: { maxLength: 4 } },
      { $defs: { a: { additionalProperties: { type: 'string' } } }, properties: { path: { $ref: '#/$defs/a' } } },
    ]
    const secret = 'canary/~4711'
    const args = {
      [secret]: { path: 'x', [secret]: 1 },
      path: { [secret]: secret, more: 4711 },
      list: ['x'],
      '4711': 'x',
    }
    const recorded = await Promise.all(
      schemas.map(async (one) => recordedText(await (await inputOf(one)).faults(args))),
    )
    for (const text of recorded) assert.doesNotMatch(text, /canary|4711/)
    assert.deepEqual(recorded.slice(0, 3), [
      'must NOT have a property that the schema does not name',
      'must NOT have a property that the schema does not name',
      '/path/… must be number; /list/0 must be number',
    ])
  })
  it('are told all at once', async () => {
    const schema = {
      properties: { a: { type: 'string' }, b: { type: 'integer' }, c: { items: { type: 'number' } } },
      required: ['a', 'd', 'e'],
      additionalProperties: false,
    }
    assert.equal(
      await judged(schema, { a: 1, b: 'x', c: [1, '2', '3'], f: 1 }),
      [
        "must have required property 'd'; must have required property 'e'; must NOT have the property 'f'",
        '/a must be string; /b must be integer; /c/1 must be number; /c/2 must be number',
      ].join('; '),
    )
  })
  it('are those that are left when defaults are filled in', async () => {
    const schema = { properties: { a: { default: 1 }, b: {}, c: {} }, required: ['a', 'b', 'c'] }
    assert.equal(await judged(schema, {}), "must have required property 'b'; must have required property 'c'")
  })
  it('of a choice are those of the branch that is nearest', async () => {
    const branch = (type: string) => ({
      properties: { type: { const: type }, x: { type: 'string' }, y: { type: 'string' } },
      required: ['type', 'x'],
    })
    const schema = { properties: { o: { anyOf: [branch('a'), branch('b')] }, n: { type: 'number' } } }
    assert.equal(await judged(schema, { o: { type: 'b', x: 1 }, n: '1' }), '/o/x must be string; /n must be number')
  })
  it('are counted where there are many, and bounded by what they cost', async () => {
    const schema = { properties: { list: { items: { type: 'string' } } } }
    assert.match(await judged(schema, { list: Array(50).fill(1) }), /; and 30 more$/)
    const either = { properties: { list: { items: { anyOf: [{ type: 'string' }, { type: 'null' }] } } } }
    const { faults } = await inputOf(either)
    const started = performance.now()
    assert.ok((await faults({ list: Array(200_000).fill(1) })).length > 0)
    assert.ok(performance.now() - started < 5_000)
  })
})
