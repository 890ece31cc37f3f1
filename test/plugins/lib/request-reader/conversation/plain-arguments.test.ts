import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { canonical, inArguments } from '../../../../../plugins/lib/request-reader/conversation/fingerprint.ts'
import { arePlainArguments } from '../../../../../plugins/lib/request-reader/conversation/plain-arguments.ts'
import { argumentText } from '../../../../../plugins/lib/request-reader/conversation/tool-calls.ts'

describe('arguments that are canonical as they are', () => {
  const plain = [
    '{"path":"src/a.ts"}',
    '{"command":"ls -la | wc","timeout":120}',
    '{"a":0,"b":123456789012345,"c":true,"d":false,"e":null,"f":""}',
    '{"text":"{[,:}]","under_score":"~!"}',
  ]
  for (const text of plain) it(`are seen without parsing: ${text}`, () => assert.equal(arePlainArguments(text), true))

  const others = {
    'no object': '["a"]',
    'an empty object': '{}',
    'blanks between members': '{"a":1, "b":2}',
    'blanks behind a colon': '{"a": 1}',
    'members out of order': '{"b":1,"a":2}',
    'the same member twice': '{"a":1,"a":2}',
    'a nameless member': '{"":1}',
    'a member that means nothing': '{"a":1,"request_id":"r"}',
    'an escape in a text': '{"a":"\\u0041"}',
    'an escape in a name': '{"\\u0061":1}',
    'a character beyond ASCII': '{"a":"é"}',
    'a control character': '{"a":"\u0001"}',
    'a nested object': '{"a":{"b":1}}',
    'a list': '{"a":[1]}',
    'a negative number': '{"a":-0}',
    'a fraction': '{"a":1.50}',
    'an exponent': '{"a":1e3}',
    'a leading zero': '{"a":01}',
    'more digits than a double holds': '{"a":9007199254740993}',
    'a word that is none': '{"a":truely}',
    'a missing value': '{"a":}',
    'a missing brace': '{"a":1',
    'an open text': '{"a":"b',
    'a comma at the end': '{"a":1,}',
    'more behind the object': '{"a":1}{"b":2}',
  }
  for (const [name, text] of Object.entries(others))
    it(`are not those with ${name}`, () => assert.equal(arePlainArguments(text), false))

  it('are those that parsing and writing leaves as they are', () => {
    const value = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.double({ noNaN: true }))
    const name = fc.oneof(fc.constantFrom('a', 'b', 'path', 'nonce', 'trace-id', '__proto__', '10', '9'), fc.string())
    const members = fc.array(fc.tuple(name, value), { maxLength: 4 })
    fc.assert(
      fc.property(members, fc.boolean(), (list, inOrder) => {
        const sorted = inOrder ? list.toSorted(([one], [other]) => (one < other ? -1 : 1)) : list
        const text = `{${sorted.map((member) => member.map((part) => JSON.stringify(part)).join(':')).join()}}`
        const canonicalText = canonical(JSON.parse(text), inArguments)
        if (arePlainArguments(text)) assert.equal(text, canonicalText)
        assert.equal(argumentText(text), canonicalText)
      }),
      { numRuns: 2_000 },
    )
  })
})
