import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { lazySerializers } from '../../../plugins/http/lazy-serializers.ts'

describe('late serialisers', () => {
  it('are made when they are first needed, once for all routes with their schema', () => {
    const compiled: object[] = []
    const serializers = lazySerializers(({ schema }) => {
      compiled.push(schema)
      return (data) => `${compiled.length}: ${JSON.stringify(data)}`
    })
    const [schema, other] = [{ type: 'object' }, { type: 'string' }]
    const [first, second, third] = [schema, schema, other].map((one) =>
      serializers({ schema: one, method: 'GET', url: '/', httpStatus: '200' }),
    )
    assert.deepEqual(compiled, [])
    assert.equal(first?.({ a: 1 }), '1: {"a":1}')
    assert.equal(second?.([]), '1: []')
    assert.deepEqual(compiled, [schema])
    assert.equal(third?.('b'), '2: "b"')
    assert.equal(first?.({}), '2: {}')
    assert.deepEqual(compiled, [schema, other])
  })
})
