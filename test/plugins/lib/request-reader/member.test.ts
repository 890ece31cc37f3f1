import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { memberSpan, memberValue } from '#lib/request-reader'

describe('memberSpan', () => {
  it('finds the value of a top-level member, whatever is around it', () => {
    const names = fc.constantFrom('model', 'messages', 'a"b', '', 'ü', 'x')
    fc.assert(
      fc.property(fc.dictionary(names, fc.jsonValue()), names, fc.constantFrom(0, 1, 3), (object, name, indent) => {
        const json = Buffer.from(JSON.stringify(object, null, indent))
        const span = memberSpan(json, name)
        if (!Object.hasOwn(object, name)) return assert.equal(span, undefined)
        assert.deepEqual(
          JSON.parse(json.toString('utf8', span?.start, span?.end)),
          JSON.parse(JSON.stringify(object[name])),
        )
        assert.deepEqual(memberValue(json, name), JSON.parse(JSON.stringify(object[name])))
      }),
      { seed: 3, numRuns: 300 },
    )
  })
  it('reads escaped names as a parser does, and not those of inner objects', () => {
    assert.equal(memberValue(Buffer.from('{"a":{"model":1},"\\u006dodel":2}'), 'model'), 2)
    assert.equal(memberValue(Buffer.from('{"a":{"model":1}}'), 'model'), undefined)
  })
  it('refuses what is no object', () => {
    for (const text of ['[]', '', '{"a":1', '{"a" 1}', '{"a":1}x']) {
      assert.throws(() => memberSpan(Buffer.from(text), 'a'), { code: 'INVALID_BODY' })
    }
  })
})
