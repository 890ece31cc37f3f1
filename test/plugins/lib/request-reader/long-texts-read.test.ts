import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { ApiStyle } from 'guard-gateway/core'
import { RequestReader } from 'guard-gateway/lib/request-reader'
import { chatCompletions } from 'guard-gateway/plugins/api-styles/chat-completions'
import { messages } from 'guard-gateway/plugins/api-styles/messages'
import { responses } from 'guard-gateway/plugins/api-styles/responses'
import { bothOf } from '../../../kit/placeholders.ts'
import { assertReadAlike } from '../../../kit/read-alike.ts'

const reader = new RequestReader()
const pieces = [
  ...[
    'word ',
    'word ',
    '  ',
    '\n',
    '\t',
    '\r\n',
    '"',
    '\\',
    '/',
    '\b\f',
    '\u0000',
    '\u001b[0m',
    '—',
    '日本',
    '😀',
    '\ud800',
  ],
  ...[
    '<system-reminder>',
    '</system-reminder>',
    '\nChunk ID: 7\n',
    '\nWall time: 3 s\n',
    'exit code 2',
    'EXIT CODE 2',
    '0x1f',
  ],
  ...[
    '{"success":false}',
    '[',
    '{',
    'x-anthropic-billing-header: 1',
    'data:image/png;base64,',
    ',',
    '\u0085',
    '\u2028',
  ],
]
const words = fc
  .tuple(
    fc.array(fc.constantFrom(...pieces), { maxLength: 6 }),
    fc.nat(70),
    fc.array(fc.constantFrom(...pieces), { maxLength: 3 }),
  )
  .map(([before, words, behind]) => `${before.join('')}${'word '.repeat(words)}${behind.join('')}`)
const text = fc.oneof(
  { weight: 3, arbitrary: words },
  words.map((log) => JSON.stringify({ success: false, log })),
)
const image = fc.record({ type: fc.constant('image_url'), image_url: fc.record({ url: text }) })
const said = fc.record({ type: fc.constant('text'), text })
const spelling = fc.constantFrom('plain', 'in ASCII', 'for HTML')

/** JSON as different clients write it. */
const written = (value: unknown, spelled: string): Buffer => {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  const json = JSON.stringify(value).replaceAll('"rounded"', '9007199254740993')
  if (spelled === 'plain') return Buffer.from(json)
  return Buffer.from(
    spelled === 'in ASCII'
      ? json.replace(/[^\0-\x7f]/g, escaped)
      : json.replace(/[<>&/]/g, '\\$&').replace(/\\[<>&]/g, (pair) => escaped(pair[1] ?? '')),
  )
}

const chatElement = fc.oneof(
  fc.record({ role: fc.constantFrom('system', 'user', 'assistant', 'tool', 'odd'), content: text }),
  fc.record({ role: fc.constantFrom('user', 'tool'), content: fc.array(fc.oneof(said, image), { maxLength: 3 }) }),
  fc
    .oneof(
      text,
      fc.dictionary(text, text, { maxKeys: 2 }).map((args) => JSON.stringify(args)),
    )
    .map((args) => ({ role: 'assistant', tool_calls: [{ id: 'c', function: { name: 'f', arguments: args } }] })),
  fc.record({ role: fc.constant('tool'), tool_call_id: fc.constant('c'), content: text }),
)
const block = fc.oneof(
  said,
  fc.record({
    type: fc.constant('tool_use'),
    id: fc.constant('c'),
    name: fc.constant('f'),
    input: fc.record({ path: text, line: fc.constantFrom(1, 'rounded') }),
  }),
  fc.record({
    type: fc.constant('tool_result'),
    tool_use_id: fc.constant('c'),
    content: fc.oneof(text, fc.array(fc.oneof(said, image), { maxLength: 2 })),
    is_error: fc.boolean(),
  }),
  fc.record({ type: fc.constant('image'), source: fc.record({ data: text }) }),
  fc.record({ type: fc.constant('strange'), some: fc.dictionary(text, text, { maxKeys: 2 }) }),
)
const messagesElement = fc.record({
  role: fc.constantFrom('system', 'user', 'assistant'),
  content: fc.oneof(text, fc.array(block, { maxLength: 3 })),
})
const responsesElement = fc.oneof(
  fc.record({ role: fc.constantFrom('developer', 'user', 'assistant'), content: text }),
  fc.record({ type: fc.constant('function_call'), call_id: fc.constant('c'), name: fc.constant('f'), arguments: text }),
  fc.record({ type: fc.constant('function_call_output'), call_id: fc.constant('c'), output: text }),
  fc.record({ type: fc.constant('compaction'), encrypted_content: text }),
)

/** Checks that lists of such elements are read alike with placeholders and without, now and later. */
const readsAlike = (style: ApiStyle, element: fc.Arbitrary<unknown>) => {
  fc.assert(
    fc.property(fc.array(element, { maxLength: 6 }), spelling, (list, spelled) => {
      const [shortened, literal] = bothOf(style)
      for (const items of [[], list]) {
        const body = written({ model: 'm', [style.list]: items }, spelled)
        assertReadAlike(reader.read(shortened, body, '').conversation, reader.read(literal, body, '').conversation)
      }
    }),
  )
}

describe('long texts', () => {
  it('tell what they tell without placeholders, in chat_completions', () => readsAlike(chatCompletions, chatElement))
  it('tell what they tell without placeholders, in messages', () => readsAlike(messages, messagesElement))
  it('tell what they tell without placeholders, in responses', () => readsAlike(responses, responsesElement))
})
