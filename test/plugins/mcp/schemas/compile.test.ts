import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type CompiledSchema, compileSchema } from '../../../../plugins/mcp/schemas/compile.ts'

const DRAFT_07 = 'http://json-schema.org/draft-07/schema#'

const usable = async (schema: unknown): Promise<Extract<CompiledSchema, { usable: true }>> => {
  const compiled = await compileSchema(schema)
  assert.ok(compiled.usable, JSON.stringify(compiled))
  return compiled
}
const faultOf = async (schema: unknown, value: unknown): Promise<string | undefined> => {
  const fault = (await usable(schema)).check(value)
  return fault === undefined ? undefined : `${fault.pointer} ${fault.message}`
}
const reasonOf = async (schema: unknown): Promise<string> => {
  const compiled = await compileSchema(schema)
  assert.ok(!compiled.usable)
  return compiled.reason
}

describe('the dialects of tool schemas', () => {
  const schema = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] }
  for (const $schema of [undefined, 'https://json-schema.org/draft/2020-12/schema', DRAFT_07]) {
    it(`reads ${$schema ?? 'one that names none'}`, async () => {
      const full = $schema === undefined ? schema : { $schema, ...schema }
      assert.equal(await faultOf(full, { path: 'a' }), undefined)
      assert.equal(await faultOf(full, { path: 1 }), '/path must be string')
      assert.equal(await faultOf(full, {}), " must have required property 'path'")
    })
  }
  it('tells them apart: a list under items is a tuple in draft-07 alone', async () => {
    const tuple = { properties: { p: { items: [{ type: 'string' }] } } }
    assert.equal(await faultOf({ $schema: DRAFT_07, ...tuple }, { p: [1] }), '/p/0 must be string')
    assert.match(await reasonOf(tuple), /^is no JSON Schema: \/properties\/p\/items must be object,boolean/)
  })
  it('understands no others', async () => {
    assert.equal(await reasonOf({ $schema: 'http://json-schema.org/draft-04/schema#' }), 'dialect not supported')
    assert.equal(await reasonOf({ $schema: 7 }), 'dialect not supported')
    assert.equal(await reasonOf({ $schema: 'constructor' }), 'dialect not supported')
  })
})

describe('what a schema says', () => {
  it('does not take inherited members for sent ones', async () => {
    assert.equal(await faultOf({ required: ['constructor'] }, {}), " must have required property 'constructor'")
    assert.equal(await faultOf({ properties: { toString: { type: 'string' } } }, {}), undefined)
  })
  it('names a member that is one too many', async () => {
    assert.equal(await faultOf({ additionalProperties: false }, { x: 1 }), " must NOT have the property 'x'")
    assert.equal(
      await faultOf({ properties: { a: {} }, additionalProperties: false }, JSON.parse('{"__proto__": 1}')),
      " must NOT have the property '__proto__'",
    )
    assert.equal(await faultOf({ unevaluatedProperties: false }, { x: 1 }), " must NOT have the property 'x'")
  })
  it('takes decimals for multiples of decimals', async () => {
    const price = { properties: { p: { multipleOf: 0.01 } } }
    for (const p of [0.07, 4.35, 19.99, 1234567.89, 0]) assert.equal(await faultOf(price, { p }), undefined, String(p))
    assert.equal(await faultOf(price, { p: 0.075 }), '/p must be multiple of 0.01')
    assert.equal(await faultOf({ properties: { p: { multipleOf: 3 } } }, { p: 10 }), '/p must be multiple of 3')
  })
  it('runs the patterns of one schema each by itself', async () => {
    const schema = { properties: { a: { pattern: '^a+$' }, b: { pattern: '^b+$' }, c: { pattern: '^\\u0063\\d$' } } }
    assert.equal(await faultOf(schema, { a: 'aa', b: 'bb', c: 'c1' }), undefined)
    assert.equal(await faultOf(schema, { a: 'aa', b: 'aa' }), '/b must match pattern "^b+$"')
    assert.equal(await faultOf(schema, { c: 'x1' }), '/c must match pattern "^\\u0063\\d$"')
    assert.equal(await faultOf({ properties: { a: { pattern: '^\\ud83d\\ude00$' } } }, { a: '\u{1F600}' }), undefined)
  })
  it('notes patterns that cannot run in linear time, and lets everything match them', async () => {
    const { check, skipped } = await usable({ properties: { a: { pattern: '(?=x)a' }, b: { pattern: 'b' } } })
    assert.deepEqual(skipped, ['(?=x)a'])
    assert.equal(check({ a: 'q' }), undefined)
    assert.equal(check({ b: 'q' })?.message, 'must match pattern "b"')
  })
  it('knows its own $id, also when another schema has the same one', async () => {
    for (const type of ['string', 'number']) {
      const schema = { $id: 'urn:test:x', $defs: { a: { type } }, properties: { p: { $ref: 'urn:test:x#/$defs/a' } } }
      assert.equal(await faultOf(schema, { p: null }), `/p must be ${type}`)
    }
  })
})

describe('words that mean something to the validator and nothing to JSON Schema', () => {
  it('$async leaves validation as it is: no promise, which would pass for a value that fits and end the process', async () => {
    assert.equal(await faultOf({ $async: true, required: ['a'] }, {}), " must have required property 'a'")
    const nested = { properties: { p: { $async: true, type: 'string' } } }
    assert.equal(await faultOf(nested, { p: 1 }), '/p must be string')
    const referred = { $defs: { s: { $async: true, type: 'string' } }, properties: { p: { $ref: '#/$defs/s' } } }
    assert.equal(await faultOf(referred, { p: 1 }), '/p must be string')
    for (const dialect of [undefined, DRAFT_07]) {
      const tuple = { $schema: dialect, definitions: { s: { $async: true } }, items: { $ref: '#/definitions/s' } }
      assert.equal(await faultOf(JSON.parse(JSON.stringify(tuple)), [1]), undefined)
    }
  })
  it('id and nullable without a type are passed over', async () => {
    assert.equal(await faultOf({ properties: { p: { id: 'x', type: 'string' } } }, { p: 1 }), '/p must be string')
    const either = { properties: { p: { nullable: true, anyOf: [{ type: 'string' }] } } }
    assert.equal(await faultOf(either, { p: 1 }), '/p must be string')
    assert.equal(await faultOf({ properties: { p: { nullable: false, type: ['null'] } } }, { p: null }), undefined)
    assert.equal(await faultOf({ properties: { p: { nullable: true, type: 'string' } } }, { p: null }), undefined)
  })
  it('arguments of these names are arguments', async () => {
    const properties = { $async: { type: 'string' }, id: { type: 'string' }, nullable: { type: 'string' } }
    for (const name of Object.keys(properties))
      assert.equal(await faultOf({ properties, required: [name] }, { [name]: 1 }), `/${name} must be string`)
    const value = { const: { id: 1, $async: true } }
    assert.equal(await faultOf({ properties: { p: value } }, { p: { id: 1, $async: true } }), undefined)
  })
})

describe('hostile schemas', () => {
  it('cannot run code by their $id', async () => {
    const schema = { $id: '*/globalThis.injected = true/*', properties: { a: { $ref: '#/$defs/b' } }, $defs: { b: {} } }
    const compiled = await compileSchema(schema)
    if (compiled.usable) compiled.check({ a: 1 })
    assert.ok(!('injected' in globalThis))
  })
  it('are not fetched from elsewhere', async () => {
    assert.equal(await reasonOf({ $ref: 'http://127.0.0.1/x.json' }), 'refers to a schema that it does not hold')
  })
  it('are refused when they are too large, too deep or no object', async () => {
    assert.equal(await reasonOf({ description: 'x'.repeat(262_144) }), 'has more than 262144 bytes')
    let deep: object = {}
    for (let level = 0; level < 10_000; level++) deep = { not: deep }
    assert.equal(await reasonOf(deep), 'nests deeper than 64 levels')
    assert.equal(await reasonOf([]), 'is no object')
    const branches = Array.from({ length: 100 }, () => ({ anyOf: Array.from({ length: 20 }, () => ({ not: {} })) }))
    assert.equal(await reasonOf({ oneOf: branches }), 'has more than 2000 objects')
    assert.equal(await faultOf({ oneOf: branches.slice(0, 45) }, 1), ' must NOT be valid')
    assert.equal(await reasonOf({ type: 5 }).then((reason) => reason.slice(0, 19)), 'is no JSON Schema: ')
  })
  it('cannot make references call one another without end', async () => {
    const $defs: Record<string, object> = { d0: { type: 'object' } }
    for (let level = 1; level <= 40; level++) {
      $defs[`d${level}`] = { allOf: [{ $ref: `#/$defs/d${level - 1}` }, { $ref: `#/$defs/d${level - 1}` }] }
    }
    assert.equal(await faultOf({ $defs, $ref: '#/$defs/d40' }, {}), ' takes too long to validate')
    assert.match(await reasonOf({ $defs: { a: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' }), /^cannot be compiled/)
    assert.equal(await faultOf({ allOf: [{ $ref: '#' }] }, {}), ' cannot be validated')
  })
  it('cannot make validation slow by the dynamic kind of reference', async () => {
    const twice = { anyOf: [{ $dynamicRef: '#n' }, { $dynamicRef: '#n' }] }
    const schema = { $dynamicAnchor: 'n', properties: { a: { allOf: [twice, { properties: { stop: false } }] } } }
    let value: object = { stop: 1 }
    for (let level = 0; level < 60; level++) value = { a: value }
    assert.equal(await faultOf(schema, value), ' takes too long to validate')
  })
  it('cannot make patterns or unique lists slow', async () => {
    const long = 'a'.repeat(100_000)
    assert.match(
      String(await faultOf({ properties: { p: { pattern: '^(a+)+$' } } }, { p: `${long}!` })),
      /^\/p must match/,
    )
    const items = Array.from({ length: 50_000 }, (_none, index) => ({ index }))
    assert.equal(await faultOf({ properties: { p: { uniqueItems: true } } }, { p: items }), undefined)
    assert.equal(
      await faultOf(
        { properties: { p: { uniqueItems: true } } },
        {
          p: [
            { a: 1, b: 2 },
            { b: 2, a: 1 },
          ],
        },
      ),
      '/p must NOT have duplicate items',
    )
  })
  it('get their fuel back for each value', async () => {
    const { check } = await usable({
      $defs: { s: { type: 'string' } },
      properties: { p: { items: { $ref: '#/$defs/s' } } },
    })
    const value = { p: Array.from({ length: 300_000 }, () => 'x') }
    assert.equal(check(value), undefined)
    assert.equal(check(value), undefined)
  })
})
