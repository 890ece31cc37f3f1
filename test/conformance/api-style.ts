import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { ApiStyle, Part } from 'guard-gateway/core'
import { pathPattern, targetOf } from '#lib/api-style'
import { type AddressedSample, addressesAreRead } from './api-style/addressed.ts'
import { hostile } from './api-style/hostile-requests.ts'
import { meterConforms, type ReplySample } from './meter.ts'

/** What the suite needs to know of a style: requests that it reads, and replies of each kind. */
export interface StyleSamples {
  /** Each holds at least one message; the style's `list` is an array in them. */
  readonly requests: readonly Readonly<Record<string, unknown>>[]
  readonly replies: readonly ReplySample[]
  /** For a style whose paths have parameters, or whose requests ask for a stream otherwise than by `stream: true`: requests to each of its paths. */
  readonly addressed?: readonly AddressedSample[]
}

const kinds = new Set(['system', 'user', 'beside', 'text', 'call', 'result'])

/** All texts and numbers in a value. */
const leaves = (value: unknown): readonly unknown[] =>
  typeof value === 'object' && value !== null ? Object.values(value).flatMap(leaves) : [value]

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
      assert.ok(style.paths.length > 0)
      for (const path of style.paths) assert.equal(pathPattern(path).pattern, path)
      for (const path of style.unguarded ?? []) assert.match(path, /^(?:GET|POST|PUT|PATCH|DELETE) \/./)
      assert.notEqual(style.list, '')
    })

    it('judges none of the paths that it lets pass unjudged', () => {
      const plain = (path: string) => path.replace(/\{\+?(\w+)\}/g, '$1')
      const unguarded = (style.unguarded ?? []).filter((path) => path.startsWith('POST ')).map((path) => path.slice(5))
      for (const path of unguarded)
        for (const own of style.paths) assert.equal(pathPattern(own).match(plain(path)), undefined, path)
    })

    if (samples.addressed !== undefined) addressesAreRead(style, samples.addressed)

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

    it('reads the envelope without the list', () => {
      for (const { [style.list]: _, ...members } of samples.requests) {
        const envelope = style.envelope(members, targetOf(style))
        if (samples.addressed === undefined) {
          assert.equal(envelope.model, members.model)
          assert.equal(envelope.stream, members.stream === true)
        }
        assertParts([...envelope.before, ...envelope.after])
        assert.deepEqual(style.envelope(members, targetOf(style)), envelope)
      }
    })

    it('makes harmless parts of whatever it is sent', () => {
      for (const element of hostile) {
        const parts = style.parts(element)
        assertParts(parts)
        const members = {
          model: element,
          stream: element,
          tools: element,
          system: element,
          instructions: element,
          metadata: element,
          conversation: element,
          max_tokens: element,
          options: element,
          prompt: element,
          images: element,
          systemInstruction: element,
          generationConfig: element,
          toolConfig: element,
          [style.list]: Array.isArray(element) ? undefined : element,
        }
        const envelope = style.envelope(members, targetOf(style))
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
        'parts',
        'functionCall',
        'functionResponse',
        'response',
        'images',
        'source',
        'error',
      )
      const word = fc.constantFrom(
        'user',
        'assistant',
        'model',
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

    it('refuses with an error that says why', () => {
      const blocked = { type: 'guard_block', code: 'LOOP_EXACT', message: 'Stop.', session_id: 'ses_1', rule_id: 'r' }
      const body = style.refusal(blocked, 'guardreq_1', 429)
      assert.ok('error' in body)
      const said = leaves(JSON.parse(JSON.stringify(body)))
      for (const text of Object.values(blocked)) assert.ok(said.includes(text), `${text} is missing`)
      assert.deepEqual(style.refusal(blocked, 'guardreq_1', 429), body)
    })

    it('says of an error what goes out on model paths, and nothing else', () => {
      const located = { type: 't', code: 'C', message: 'm', path: '/model', known: ['a'], line: 77, column: 78 }
      const said = leaves(JSON.parse(JSON.stringify(style.refusal(located, 'guardreq_1', 400))))
      for (const text of ['t', 'C', 'm', '/model', 'a']) assert.ok(said.includes(text), `${text} is missing`)
      for (const place of [77, 78]) assert.ok(!said.includes(place) && !said.includes(String(place)))
    })
  })
}
