import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ApiStyle, Finding, Turn } from 'guard-gateway/core'
import { messages } from 'guard-gateway/plugins/api-styles/messages'
import { responses } from 'guard-gateway/plugins/api-styles/responses'
import { sequenceRepeat } from 'guard-gateway/plugins/detectors/sequence-repeat'
import { staleTurns } from 'guard-gateway/plugins/detectors/stale-turns'
import { toolRepeat } from 'guard-gateway/plugins/detectors/tool-repeat'
import { turnsOfReply } from '#lib/detection'
import { readRequest } from '#lib/request-reader'
import { evidence } from '../../kit/evidence.ts'

/** One call of a tool that runs at the provider, as its reply holds it: `n` makes ids and opaque members its own. */
type Served = (n: number) => readonly object[]

const block = (name: string, input: object, content: unknown): Served => {
  const call = name === 'search' ? 'mcp_tool_use' : 'server_tool_use'
  const answer = name === 'search' ? 'mcp_tool_result' : `${name}_tool_result`
  return (n) => [
    { type: call, id: `srvtoolu_${n}`, name, input, ...(name === 'search' && { server_name: 'docs' }) },
    { type: answer, tool_use_id: `srvtoolu_${n}`, content },
  ]
}

/** Blocks as Anthropic documents them. */
const blocks: Readonly<Record<string, Served>> = {
  web_search: (n) => [
    { type: 'server_tool_use', id: `srvtoolu_${n}`, name: 'web_search', input: { query: 'guard' } },
    {
      type: 'web_search_tool_result',
      tool_use_id: `srvtoolu_${n}`,
      content: [
        { type: 'web_search_result', url: 'https://a', title: 'A', encrypted_content: `e${n}`, page_age: null },
      ],
    },
  ],
  web_fetch: block(
    'web_fetch',
    { url: 'https://a' },
    {
      type: 'web_fetch_result',
      url: 'https://a',
      content: { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'A page.' } },
    },
  ),
  bash_code_execution: block(
    'bash_code_execution',
    { command: 'ls' },
    {
      type: 'bash_code_execution_result',
      stdout: 'a.txt',
      stderr: '',
      return_code: 0,
      content: [],
    },
  ),
  'an MCP server': block('search', { q: 'a' }, [{ type: 'text', text: 'Nothing.' }]),
}

/** Items as OpenAI documents them. */
const items: Readonly<Record<string, Served>> = {
  web_search_call: (n) => [
    { type: 'web_search_call', id: `ws_${n}`, status: 'completed', action: { type: 'search', query: 'guard' } },
  ],
  'web_search_call with its sources': (n) => [
    {
      type: 'web_search_call',
      id: `ws_${n}`,
      status: 'completed',
      action: { type: 'search', query: 'guard', sources: [{ type: 'url', url: 'https://a' }] },
    },
  ],
  file_search_call: (n) => [
    { type: 'file_search_call', id: `fs_${n}`, status: 'completed', queries: ['a'], results: null },
  ],
  code_interpreter_call: (n) => [
    {
      type: 'code_interpreter_call',
      id: `ci_${n}`,
      status: 'completed',
      code: 'print(1)',
      container_id: `cntr_${n}`,
      outputs: [{ type: 'logs', logs: '1' }],
    },
  ],
  mcp_call: (n) => [
    {
      type: 'mcp_call',
      id: `mcp_${n}`,
      server_label: 'docs',
      name: 'search',
      arguments: '{"q":"a"}',
      output: 'Nothing.',
      error: null,
    },
  ],
}

interface Case {
  readonly style: ApiStyle
  readonly what: string
  readonly turnsOf: (replies: readonly (readonly number[])[], own: boolean) => readonly Turn[]
}

const read = (style: ApiStyle, body: object): readonly Turn[] =>
  readRequest(style, Buffer.from(JSON.stringify({ model: 'm', ...body }))).conversation.turns

const cases: readonly Case[] = [
  ...Object.entries(blocks).map(([what, served]) => ({
    style: messages,
    what,
    turnsOf: (replies: readonly (readonly number[])[], own: boolean) =>
      read(messages, {
        messages: [
          { role: 'user', content: 'Go.' },
          ...replies.flatMap((calls, reply) => {
            const content = calls.flatMap((n) => [{ type: 'text', text: `Step ${n}.` }, ...served(n)])
            const call = { type: 'tool_use', id: `own_${reply}`, name: 'note', input: { reply } }
            const result = { type: 'tool_result', tool_use_id: `own_${reply}`, content: `noted ${reply}` }
            return own
              ? [
                  { role: 'assistant', content: [...content, call] },
                  { role: 'user', content: [result] },
                ]
              : [{ role: 'assistant', content }]
          }),
        ],
      }),
  })),
  ...Object.entries(items).map(([what, served]) => ({
    style: responses,
    what,
    turnsOf: (replies: readonly (readonly number[])[], own: boolean) =>
      read(responses, {
        input: [
          { role: 'user', content: 'Go.' },
          ...replies.flatMap((calls, reply) => [
            ...calls.flatMap((n) => [...served(n)]),
            ...(own
              ? [
                  { type: 'function_call', call_id: `own_${reply}`, name: 'note', arguments: `{"reply":${reply}}` },
                  { type: 'function_call_output', call_id: `own_${reply}`, output: `noted ${reply}` },
                ]
              : []),
          ]),
        ],
      }),
  })),
]

const said = (turns: readonly Turn[], params = {}) =>
  toolRepeat.detect(evidence(toolRepeat, 'a', { turns, rule: { params } })) as Finding | undefined

describe('tools that run at the provider', () => {
  for (const { style, what, turnsOf } of cases) {
    it(`${style.id}, ${what}: three equal calls of one reply are three`, () => {
      assert.equal(said(turnsOf([[1, 2]], false)), undefined)
      assert.deepEqual(said(turnsOf([[1, 2, 3]], false))?.where, [{ turn: -3 }, { turn: -2 }, { turn: -1 }])
    })
    it(`${style.id}, ${what}: they count beside calls of the client, reply by reply`, () => {
      const turns = turnsOf([[1], [2], [3]], true)
      assert.equal(turnsOfReply(turns), 2)
      assert.deepEqual(said(turns)?.where, [{ turn: -6 }, { turn: -4 }, { turn: -2 }])
      assert.equal(said(turnsOf([[1], [2]], true)), undefined)
    })
  }
  const equal = cases.filter(({ what }) => what !== 'web_search_call' && what !== 'file_search_call')
  for (const { style, what, turnsOf } of equal) {
    it(`${style.id}, ${what}: their results are compared`, () => {
      const turns = turnsOf([[1, 2, 3, 4]], false)
      assert.equal(said(turns, { result_aware: true })?.results_equal, true)
      const stale = staleTurns.detect(evidence(staleTurns, 'a', { turns })) as Finding | undefined
      assert.equal(stale?.count, 3)
    })
  }
  it('are part of sequences', () => {
    const [one, two] = [blocks.web_search, blocks.bash_code_execution]
    const content = [1, 2, 3].flatMap((n) => [...(one?.(n) ?? []), ...(two?.(10 + n) ?? [])])
    const turns = read(messages, {
      messages: [
        { role: 'user', content: 'Go.' },
        { role: 'assistant', content },
      ],
    })
    const found = sequenceRepeat.detect(
      evidence(sequenceRepeat, 'a', { turns, rule: { params: { result_aware: true } } }),
    ) as Finding | undefined
    assert.equal(found?.where?.length, 6)
  })
  it('end with a user message, like calls of the client', () => {
    const content = [1, 2, 3].flatMap((n) => [...(blocks.web_search?.(n) ?? [])])
    const talk = [
      { role: 'user', content: 'Go.' },
      { role: 'assistant', content },
    ]
    assert.equal(said(read(messages, { messages: talk }))?.count, 3)
    assert.equal(said(read(messages, { messages: [...talk, { role: 'user', content: 'And now?' }] })), undefined)
  })
})
