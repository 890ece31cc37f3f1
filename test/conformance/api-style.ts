import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { ApiStyle, Part } from 'guard-gateway/core'
import { RequestReader } from 'guard-gateway/lib/request-reader'
import { bothOf } from '../kit/placeholders.ts'
import { assertReadAlike } from '../kit/read-alike.ts'
import { meterConforms, type ReplySample } from './meter.ts'

/** What the suite needs to know of a style: requests that it reads, and replies of each kind. */
export interface StyleSamples {
  /** Each holds at least one message; the style's `list` is an array in them. */
  readonly requests: readonly Readonly<Record<string, unknown>>[]
  readonly replies: readonly ReplySample[]
}

const kinds = new Set(['system', 'user', 'beside', 'text', 'call', 'result'])

/** Shapes that a style may be sent in place of a message. */
const hostile: readonly unknown[] = [
  null,
  0,
  -1,
  true,
  '',
  'text',
  [],
  {},
  [[]],
  [null],
  { role: null },
  { role: 'user' },
  { role: 'user', content: 7 },
  { role: 'user', content: [null, 1, [], {}] },
  { role: 'assistant', content: {}, tool_calls: 5 },
  { role: 'assistant', content: null, tool_calls: [null, {}, { function: 3 }, { function: { name: 4 } }] },
  { role: 'assistant', content: [{ type: 'tool_use' }, { type: 'tool_use', name: {}, input: null }] },
  { role: 'tool' },
  { role: 'tool', content: { a: 1 } },
  {
    role: 'user',
    content: [
      { type: 'tool_result', content: 5 },
      { type: 'image', source: 5 },
      { type: 'image_url', image_url: [] },
    ],
  },
  { type: 'function_call' },
  { type: 'function_call_output', output: 5 },
  { type: '_call' },
  { type: 'mcp_call', error: 5, output: null },
  { type: 'constructor' },
  { type: '__proto__' },
  { role: 'constructor' },
  { type: 'message', role: 'toString' },
  { tool_name: '' },
  { tool_name: 'x' },
  { type: 5, role: {} },
]

/** Puts characters beyond ASCII around all that a style may not know by its name. */
const beyondAscii = (name: string, value: unknown): unknown =>
  typeof value === 'string' && name !== 'role' && name !== 'type' ? `\u00a0${value}—à` : value

/** Makes all that a style may not know by its name too long to be parsed whole. */
const lengthened = (name: string, value: unknown): unknown =>
  typeof value === 'string' && name !== 'role' && name !== 'type' ? `${value} ${'and so on, '.repeat(20)}` : value

const deep = (levels: number): unknown => {
  let value: unknown = 1
  for (let level = 0; level < levels; level++) value = [value]
  return value
}

const assertParts = (parts: readonly Part[]): void => {
  for (const part of parts) {
    assert.ok(kinds.has(part.kind), `unknown kind ${part.kind}`)
    assert.equal(typeof (part.kind === 'call' ? part.tool : part.text), 'string')
    if ('id' in part) assert.equal(typeof part.id, 'string')
  }
}

/** Checks that a style keeps its contract; run on every built-in one, and on yours in one line. */
export const apiStyleConforms = (style: ApiStyle, samples: StyleSamples): void => {
  describe(`API style ${style.id}`, () => {
    it('names itself, its paths and its list', () => {
      assert.match(style.id, /^[a-z][a-z0-9_]*$/)
      assert.ok(style.paths.length > 0 && style.paths.every((path) => path.startsWith('/')))
      assert.notEqual(style.list, '')
    })

    it('reads equal elements as equal parts, and changes none', () => {
      for (const request of samples.requests) {
        const list = request[style.list]
        assert.ok(Array.isArray(list) && list.length > 0)
        for (const element of list) {
          const before = JSON.stringify(element)
          const parts = style.parts(element)
          assertParts(parts)
          assert.deepEqual(style.parts(JSON.parse(before)), parts)
          assert.equal(JSON.stringify(element), before)
        }
      }
    })

    if (style.bytewise === true)
      it('reads byte strings as the text that they stand for', () => {
        for (const request of samples.requests) {
          const json = JSON.stringify(request[style.list], beyondAscii)
          const bytes = Buffer.from(json).toString('latin1')
          const [told, read] = [bytes, json].map((list) => JSON.stringify(JSON.parse(list).flatMap(style.parts)))
          assert.equal(Buffer.from(told ?? '', 'latin1').toString(), read)
        }
      })

    if (style.bytewise === true)
      it('reads long texts as whole ones of which it is given the beginning', () => {
        const [shortened, literal] = bothOf(style)
        const reader = new RequestReader()
        for (const request of samples.requests)
          for (const list of [[], request[style.list]]) {
            const body = Buffer.from(JSON.stringify({ ...request, [style.list]: list }, lengthened))
            const [one, other] = [shortened, literal].map((either) => reader.read(either, body, '').conversation)
            assert.ok(one !== undefined && other !== undefined)
            assertReadAlike(one, other)
          }
      })

    it('reads the envelope without the list', () => {
      for (const { [style.list]: _, ...members } of samples.requests) {
        const envelope = style.envelope(members)
        assert.equal(envelope.model, members.model)
        assert.equal(envelope.stream, members.stream === true)
        assertParts([...envelope.before, ...envelope.after])
        assert.deepEqual(style.envelope(members), envelope)
      }
    })

    it('makes harmless parts of whatever it is sent', () => {
      for (const element of [...hostile, deep(20_000), { role: 'user', content: deep(20_000) }]) {
        const parts = style.parts(element)
        assertParts(parts)
        const envelope = style.envelope({
          model: element,
          stream: element,
          tools: element,
          system: element,
          instructions: element,
          prompt: element,
          metadata: element,
          conversation: element,
          max_tokens: element,
          [style.list]: Array.isArray(element) ? undefined : element,
        })
        assert.equal(typeof envelope.model, 'string')
        assert.equal(typeof envelope.stream, 'boolean')
        assertParts(envelope.before)
      }
    })

    it('makes harmless parts of random JSON', () => {
      const member = fc.constantFrom(
        'role',
        'type',
        'content',
        'text',
        'name',
        'arguments',
        'input',
        'output',
        'tool_calls',
        'function',
        'source',
        'error',
      )
      const word = fc.constantFrom(
        'user',
        'assistant',
        'tool',
        'text',
        'tool_use',
        'tool_result',
        'function_call',
        'mcp_call',
        'image',
        'x_output',
        'x_call',
      )
      const { tree } = fc.letrec((tie) => ({
        tree: fc.oneof(
          { depthSize: 'medium' },
          word,
          fc.jsonValue({ maxDepth: 1 }),
          fc.array(tie('tree'), { maxLength: 3 }),
          fc.dictionary(member, tie('tree'), { maxKeys: 5 }),
        ),
      }))
      fc.assert(
        fc.property(tree, (element) => assertParts(style.parts(element))),
        { seed: 7, numRuns: 500 },
      )
    })

    meterConforms(style, samples.replies)

    it('refuses with its own error fields only', () => {
      const body = style.refusal(
        { type: 'guard_block', code: 'LOOP_EXACT', message: 'Stop.', session_id: 'ses_1', rule_id: 'r' },
        'guardreq_1',
      )
      const { error } = body as { error: Record<string, unknown> }
      const { param: _, ...own } = error
      assert.deepEqual(own, {
        type: 'guard_block',
        code: 'LOOP_EXACT',
        message: 'Stop.',
        session_id: 'ses_1',
        rule_id: 'r',
      })
      const located = style.refusal(
        { type: 't', code: 'C', message: 'm', path: '/model', known: ['a'], line: 1, column: 2 },
        'guardreq_1',
      )
      const fields = Object.keys((located as { error: object }).error).filter((name) => name !== 'param')
      assert.deepEqual(fields.sort(), ['code', 'known', 'message', 'path', 'type'])
    })
  })
}
