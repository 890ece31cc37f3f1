import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { compileSchema } from '../../../../plugins/mcp/schemas/compile.ts'

const DRAFT_07 = 'http://json-schema.org/draft-07/schema#'

const times = <Part>(count: number, part: (index: number) => Part): Part[] =>
  Array.from({ length: count }, (_none, index) => part(index))
const members = <Part>(count: number, part: (index: number) => Part): Record<string, Part> =>
  Object.fromEntries(times(count, (index) => [`k${index}`, part(index)]))

const faultOf = async (schema: object, value: unknown): Promise<string | undefined> => {
  const compiled = await compileSchema(schema)
  return compiled.usable ? compiled.check(value)?.message : compiled.reason
}

const numbers = times(60_000, (index) => index)

const costly: readonly (readonly [what: string, schema: object, value: unknown])[] = [
  [
    'branches that fail',
    { items: { anyOf: [...times(600, () => ({ type: 'string' })), { type: 'number' }] } },
    numbers,
  ],
  ['alternatives', { items: { oneOf: [...times(500, () => ({ type: 'string' })), { type: 'number' }] } }, numbers],
  ['negations', { items: { allOf: times(300, () => ({ not: { type: 'string' } })) } }, numbers],
  ['conditions', { items: { allOf: times(200, () => ({ if: { type: 'string' }, else: {} })) } }, numbers],
  ['lists that are walked', { allOf: times(600, () => ({ items: { type: 'number' } })) }, numbers],
  ['lists that are searched', { allOf: times(300, () => ({ contains: { const: 59_999 } })) }, numbers],
  ['lists without duplicates', { allOf: times(600, () => ({ uniqueItems: true })) }, numbers],
  ['members', { allOf: times(300, () => ({ additionalProperties: { type: 'number' } })) }, members(20_000, Number)],
  ['names', { allOf: times(300, () => ({ propertyNames: { minLength: 1 } })) }, members(20_000, Number)],
  ['lengths', { allOf: times(600, () => ({ maxLength: 1_000_000 })) }, 'x'.repeat(250_000)],
  ['bounds', { items: { allOf: times(300, () => ({ minimum: 0, maximum: 1e9, multipleOf: 1 })) } }, numbers],
  ['numbers of members', { allOf: times(300, () => ({ minProperties: 1 })) }, members(20_000, Number)],
  [
    'names that are needed',
    { items: { allOf: times(300, () => ({ required: ['a', 'b'] })) } },
    times(60_000, () => ({ a: 1, b: 2 })),
  ],
  [
    'equal lists',
    { $defs: { s: { const: times(10_000, Number) } }, items: { allOf: times(300, () => ({ $ref: '#/$defs/s' })) } },
    times(100, () => times(10_000, Number)),
  ],
  [
    'names that others need',
    { items: { allOf: times(300, () => ({ dependentRequired: { b: times(40, (index) => `k${index}`) } })) } },
    times(30_000, () => ({ a: 1 })),
  ],
  ['patterns', { allOf: times(600, () => ({ pattern: '^[a-z]*$' })) }, 'x'.repeat(250_000)],
]

describe('the cost of validation', () => {
  for (const [what, schema, value] of costly)
    it(`is bounded for ${what}`, async () => assert.equal(await faultOf(schema, value), 'takes too long to validate'))
  it('is no matter for large values of ordinary schemas', async () => {
    const row = {
      type: 'object',
      properties: { id: { type: 'string', pattern: '^[a-z0-9_-]{1,64}$' }, kind: { enum: ['a', 'b'] } },
      required: ['id'],
      additionalProperties: false,
    }
    const rows = times(20_000, (index) => ({ id: `row-${index}`, kind: 'b' }))
    assert.equal(await faultOf({ items: row, uniqueItems: true }, rows), undefined)
    const encoded = { properties: { data: { pattern: '^[A-Za-z0-9+/]*={0,2}$', minLength: 1 } } }
    assert.equal(await faultOf(encoded, { data: 'QUJD'.repeat(2_000_000) }), undefined)
  })
  it('does not grow with what an enum allows', async () => {
    const allowed = times(30_000, (index) => `v${index}`)
    assert.equal(
      await faultOf(
        { items: { enum: allowed } },
        times(30_000, () => 'v29999'),
      ),
      undefined,
    )
    assert.equal(await faultOf({ items: { enum: allowed } }, ['v30000']), 'must be equal to one of the allowed values')
    const mixed = { enum: [1, null, 'x', { a: [1], b: 2 }, [1, 2]] }
    for (const value of [1, null, 'x', { b: 2, a: [1] }, [1, 2]]) assert.equal(await faultOf(mixed, value), undefined)
    for (const value of ['1', 0, false, { a: [1] }, [2, 1], {}])
      assert.match(String(await faultOf(mixed, value)), /^must be equal/)
  })
  it('does not grow with code for each name that a member needs', async () => {
    const names = times(10_000, (index) => `k${index}`)
    const message = 'must have the properties that others of its properties require'
    assert.equal(await faultOf({ dependentRequired: { k0: names } }, { k0: 1 }), message)
    assert.equal(await faultOf({ dependentRequired: { k0: names } }, members(10_000, Number)), undefined)
    assert.equal(await faultOf({ dependentRequired: { k0: names } }, {}), undefined)
    const dependencies = { k0: names, z: { required: ['y'] } }
    assert.equal(await faultOf({ $schema: DRAFT_07, dependencies }, { k0: 1 }), "must have required property 'k1'")
    assert.equal(await faultOf({ $schema: DRAFT_07, dependencies }, { z: 1 }), "must have required property 'y'")
    assert.equal(await faultOf({ $schema: DRAFT_07, dependencies }, members(10_000, Number)), undefined)
    assert.equal(await faultOf({ $schema: DRAFT_07, dependentRequired: { a: ['b'] } }, { a: 1 }), undefined)
  })
  it('is not risked for schemas whose code would nest too deep', async () => {
    const reason = 'has more than 700 parts beside and within one another'
    assert.equal(await faultOf({ properties: members(1200, () => ({ type: 'string' })) }, {}), reason)
    assert.equal(await faultOf({ oneOf: times(900, () => ({ type: 'string' })) }, {}), reason)
    assert.equal(
      await faultOf({ properties: members(600, () => ({ type: 'string' })) }, members(600, Number)),
      'must be string',
    )
    assert.equal(await faultOf({ anyOf: times(9000, () => false) }, {}), 'has more than 2000 objects')
  })
})
