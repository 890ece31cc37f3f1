import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { ApiStyle, Part } from 'guard-gateway/core'
import { RequestReader } from 'guard-gateway/lib/request-reader'
import { plain } from '../../../kit/plain-style.ts'
import { assertReadAlike } from '../../../kit/read-alike.ts'

const reader = new RequestReader()
/** A style of its own each time, so that nothing is known of its bodies. */
const styles = (seen: unknown[] = []): readonly ApiStyle[] => {
  const parts = (element: unknown) => {
    seen.push(element)
    return plain.parts(element)
  }
  return [{ ...plain }, { ...plain, bytewise: true, parts }]
}

const pieces = [
  ...[
    'a',
    ' ',
    '  ',
    '\n',
    '\r\n',
    '\t',
    '\u0000',
    '\u001b[1m',
    '"',
    '\\',
    '\\u00e9',
    'exit code 7',
    '0x1F 22',
    '{"é":1}',
  ],
  ...[
    '\u007f',
    '\u0080',
    '\u0085',
    '\u00a0',
    'à',
    'é',
    'ÿ',
    '—',
    '\u2028',
    '\ufeff',
    '\uffee',
    '日本',
    '😀',
    '\ud800',
    '\u212a',
  ],
  ...[
    '<system-reminder>',
    '</system-reminder>',
    'Chunk ID: —\u2028\r\n',
    '\nWall time: é',
    '{"success":false,"à":"à"}',
  ],
]
const text = fc.array(fc.constantFrom(...pieces), { maxLength: 5 }).map((some) => some.join(''))
const name = fc.constantFrom('a', 'request_id', 'idempotency_\u212aey', 'é', '\uffee', '😀', '__proto__', '1')
const value = fc.oneof(text, fc.integer(), fc.array(text, { maxLength: 2 }), fc.dictionary(name, text, { maxKeys: 3 }))
const id = fc.option(fc.constantFrom('c1', 'é1', 'à'), { nil: undefined })
const part: fc.Arbitrary<Part> = fc.oneof(
  fc.record({
    kind: fc.constantFrom('system', 'user', 'beside', 'text'),
    text,
    blocks: fc.array(value, { maxLength: 2 }),
  }),
  fc.record({
    kind: fc.constant('call'),
    tool: name,
    args: fc.oneof(
      value,
      value.map((args) => JSON.stringify(args)),
    ),
    id,
  }),
  fc.record({ kind: fc.constant('result'), text, id, blocks: fc.array(value, { maxLength: 1 }), error: fc.boolean() }),
) as fc.Arbitrary<Part>

const bodyOf = (items: unknown, escaped: boolean): Buffer => {
  const json = JSON.stringify({ model: 'm', items })
  const inAscii = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  return Buffer.from(escaped ? json.replace(/[^\0-\x7f]/g, inAscii) : json)
}

describe('byte strings', () => {
  it('give the conversation that text gives, whether nothing, its frame or its beginning is known', () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), fc.boolean(), fc.nat(8), (items, escaped, some) => {
        const [asText, asBytes] = styles()
        assert.ok(asText && asBytes)
        const long = { kind: 'user', text: 'long — '.repeat(400) }
        const bodies = [items.slice(0, some), items, [long], [long, ...items.slice(0, some)], [long, ...items]]
        for (const body of bodies.map((list) => bodyOf(list, escaped))) {
          assertReadAlike(reader.read(asBytes, body, 'one').conversation, reader.read(asText, body, 'one').conversation)
        }
      }),
    )
  })
  it('are what a bytewise style is given, but where an escape stands for a character beyond ASCII, or no character does', () => {
    const given = (said: string) => {
      const seen: unknown[] = []
      const style = styles(seen)[1]
      assert.ok(style)
      for (const items of ['[]', `[{"kind":"user","text":"${said}"}]`])
        reader.read(style, Buffer.from(`{"model":"m","items":${items}}`), '')
      return (seen[0] as { text: string }).text
    }
    assert.equal(given('é'), 'Ã©')
    assert.equal(given('é\\u001b\\u007f'), 'Ã©\u001b\u007f')
    assert.equal(given('é\\u0080'), 'é\u0080')
    assert.equal(given('é\\u0100'), 'é\u0100')
    assert.equal(given('é\\u2014'), 'é—')
    assert.equal(given('e\\u001b'), 'e\u001b')
  })
})
