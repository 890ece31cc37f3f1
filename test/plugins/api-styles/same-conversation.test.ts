import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import type { ApiStyle, Part } from 'guard-gateway/core'
import { chatCompletions } from 'guard-gateway/plugins/api-styles/chat-completions'
import { messages } from 'guard-gateway/plugins/api-styles/messages'
import { responses } from 'guard-gateway/plugins/api-styles/responses'
import { targetOf } from '#lib/api-style'
import { argumentText } from '#lib/request-reader'

const styles = [chatCompletions, messages, responses]

const partsOf = (style: ApiStyle, { [style.list]: list, ...members }: Record<string, unknown>): Part[] => {
  const envelope = style.envelope(Array.isArray(list) ? members : { ...members, [style.list]: list }, targetOf(style))
  return [
    ...envelope.before,
    ...(Array.isArray(list) ? list : []).flatMap((element) => style.parts(element)),
    ...envelope.after,
  ]
}

/** Arguments in one spelling, as detection compares them. */
const plain = (parts: readonly Part[]) =>
  parts.map((part) => (part.kind === 'call' ? { ...part, args: argumentText(part.args) } : part))

const png = { type: 'base64', media_type: 'image/png', data: 'QUJD' }

const bodies = new Map<ApiStyle, Record<string, unknown>>([
  [
    chatCompletions,
    {
      model: 'm',
      messages: [
        {
          role: 'system',
          content: [
            { type: 'text', text: 'You are' },
            { type: 'text', text: 'helpful.' },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,QUJD' } },
          ],
        },
        {
          role: 'assistant',
          content: 'Reading.',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'read', arguments: '{"path":"a", "id": 1}' } },
            { id: 'c2', type: 'function', function: { name: 'list', arguments: '' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'file text' },
        {
          role: 'tool',
          tool_call_id: 'c2',
          content: [
            { type: 'text', text: 'a' },
            { type: 'text', text: 'b' },
          ],
        },
        { role: 'assistant', content: [{ type: 'text', text: 'Done.' }], reasoning_content: 'hm' },
        { role: 'user', content: 'Again' },
      ],
      tool_name: 'extra',
      arguments: '{"x":1}',
    },
  ],
  [
    messages,
    {
      model: 'm',
      system: [
        { type: 'text', text: 'x-anthropic-billing-header: 1' },
        { type: 'text', text: 'You are' },
        { type: 'text', text: 'helpful.', cache_control: { type: 'ephemeral' } },
      ],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look' },
            { type: 'image', source: png },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 's' },
            { type: 'text', text: 'Reading.' },
            { type: 'tool_use', id: 'c1', name: 'read', input: { id: 1, path: 'a' } },
            { type: 'tool_use', id: 'c2', name: 'list', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'c1', content: 'file text' },
            {
              type: 'tool_result',
              tool_use_id: 'c2',
              content: [
                { type: 'text', text: 'a' },
                { type: 'text', text: 'b' },
              ],
            },
          ],
        },
        { role: 'assistant', content: 'Done.' },
        { role: 'user', content: [{ type: 'text', text: 'Again' }] },
      ],
      tool_name: 'extra',
      tool_input: { x: 1 },
    },
  ],
  [
    responses,
    {
      model: 'm',
      instructions: 'You are helpful.',
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'Look' },
            { type: 'input_image', image_url: 'data:image/png;base64,QUJD' },
          ],
        },
        { type: 'reasoning', id: 'rs', summary: [], encrypted_content: 'e' },
        {
          type: 'message',
          id: 'msg',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'Reading.', annotations: [] }],
        },
        { type: 'function_call', id: 'fc1', call_id: 'c1', name: 'read', arguments: '{"path":"a","id":1}' },
        { type: 'function_call', id: 'fc2', call_id: 'c2', name: 'list', arguments: '{}' },
        { type: 'function_call_output', id: 'o1', call_id: 'c1', output: 'file text' },
        {
          type: 'function_call_output',
          id: 'o2',
          call_id: 'c2',
          output: [
            { type: 'input_text', text: 'a' },
            { type: 'input_text', text: 'b' },
          ],
        },
        { role: 'assistant', content: 'Done.' },
        { role: 'user', content: 'Again' },
      ],
      tool_name: 'extra',
      args: { x: 1 },
    },
  ],
])

const expected = [
  { kind: 'system', text: 'You are helpful.' },
  { kind: 'user', text: 'Look', blocks: ['QUJD'] },
  { kind: 'text', text: 'Reading.' },
  { kind: 'call', tool: 'read', args: '{"id":1,"path":"a"}', id: 'c1' },
  { kind: 'call', tool: 'list', args: '{}', id: 'c2' },
  { kind: 'result', text: 'file text', id: 'c1' },
  { kind: 'result', text: 'a b', id: 'c2' },
  { kind: 'text', text: 'Done.' },
  { kind: 'user', text: 'Again' },
  { kind: 'call', tool: 'extra', args: '{"x":1}' },
]

describe('one conversation in every style', () => {
  for (const [style, body] of bodies) {
    it(`gives the same parts in ${style.id}`, () => assert.deepEqual(plain(partsOf(style, body)), expected))
    it(`says nothing by white space alone in ${style.id}`, () => {
      for (const content of [
        '',
        ' \n',
        [{ type: 'text', text: '' }],
        [
          { type: 'text', text: '\n' },
          { type: 'text', text: ' ' },
        ],
      ])
        for (const role of ['system', 'user', 'assistant'])
          assert.deepEqual(style.parts({ role, content }), [], JSON.stringify({ role, content }))
    })
  }
})

const folder = new URL('../../../../shared/fixtures/', import.meta.url)
const recordings = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.shape.json')) : []

const requestsOf = (name: string) =>
  JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as { url: string; body?: Record<string, unknown> }[]

const assertOrdinary = (style: ApiStyle, body: Record<string, unknown>, name: string): void => {
  const parts = partsOf(style, body)
  const calls = new Set(parts.flatMap((part) => (part.kind === 'call' ? [part.id] : [])))
  for (const part of parts) {
    assert.ok(!('blocks' in part), `${name} has blocks in a ${part.kind} part`)
    if (part.kind === 'result') assert.ok(calls.has(part.id), `${name} has a result without its call`)
  }
  assert.ok(parts.some(({ kind }) => kind === 'user'))
  assert.notEqual(style.envelope(body, targetOf(style)).model, '')
}

describe('requests of real clients', () => {
  it('hold no part that is strange, pair every result with a call, and name a model', () => {
    for (const name of recordings) {
      for (const { url, body } of requestsOf(name)) {
        const style = styles.find(({ paths }) => paths.includes(url.split('?')[0] ?? ''))
        if (style !== undefined && body !== undefined) assertOrdinary(style, body, name)
      }
    }
  })
})
