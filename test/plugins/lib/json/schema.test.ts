import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as TypeBox from 'typebox'
import { Type } from '#lib/json'

const described = { description: 'what it is', default: 'x' }

/** The same schemas by any builder. */
const built = (by: typeof Type) => ({
  array: by.Array(by.Boolean(), described),
  boolean: by.Boolean(described),
  empty: by.Object({}),
  enum: by.Enum(['a', 'b'], described),
  integer: by.Integer({ minimum: 1 }),
  literals: by.Union([by.Literal('a'), by.Literal(2), by.Literal(true)], described),
  nothing: by.Union([by.Null(), by.Number()]),
  object: by.Object({ a: by.String(), b: by.Optional(by.Integer(described)) }, { additionalProperties: false }),
  optional: by.Object({ b: by.Optional(by.Integer()) }),
  partial: by.Partial(by.Object({ a: by.String(), b: by.Optional(by.Integer()) })),
  record: by.Record(by.String({ minLength: 1 }), by.Unknown(), described),
  record_of_pattern: by.Record(by.String({ pattern: '^a$' }), by.Unsafe<string>({ type: 'string' })),
})

describe('schema', () => {
  it('builds what TypeBox builds, member for member', () => {
    assert.equal(JSON.stringify(built(Type), null, 1), JSON.stringify(built(TypeBox), null, 1))
  })
  it('leaves the schema that it makes optional as it is', () => {
    const schema = Type.String()
    Type.Optional(schema)
    assert.deepEqual(Type.Object({ schema }).required, ['schema'])
  })
  it('takes optional members of TypeBox, as plugins of others have them', () => {
    assert.equal('required' in Type.Object({ b: TypeBox.Optional(TypeBox.String()) }), false)
  })
})
