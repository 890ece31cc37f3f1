import { dialectOf, type Step } from '../../kit/dialogue.ts'
import { type Ask, times, word } from './kinds.ts'

const chat = dialectOf('chat_completions')

const MESSAGES = '/v1/messages'
const RESPONSES = '/v1/responses'

/** Replies with a tool that ran at the provider, each followed by a call of the client. */
const blocks = (of: (n: number) => readonly object[]): readonly Ask[] =>
  times(6, (count) => ({
    path: MESSAGES,
    body: {
      model: 'm',
      max_tokens: 64,
      messages: [
        { role: 'user', content: 'Find out.' },
        ...times(count, (n) => [
          {
            role: 'assistant',
            content: [...of(n), { type: 'tool_use', id: `t${n}`, name: 'note', input: { text: word(n) } }],
          },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${n}`, content: `noted ${word(n)}` }] },
        ]).flat(),
      ],
    },
  }))

const items = (of: (n: number) => readonly object[]): readonly Ask[] =>
  times(6, (count) => ({
    path: RESPONSES,
    body: {
      model: 'm',
      input: [
        { role: 'user', content: 'Find out.' },
        ...times(count, (n) => [
          ...of(n),
          { type: 'function_call', call_id: `c${n}`, name: 'note', arguments: JSON.stringify({ text: word(n) }) },
          { type: 'function_call_output', call_id: `c${n}`, output: `noted ${word(n)}` },
        ]).flat(),
      ],
    },
  }))

const begun = (opening: string, last: string): readonly Ask[] => {
  const calls = ['README.md', 'src/a.ts', 'test/a.ts'].map(
    (path, index): Step => ({ tool: 'read_file', args: { path }, result: index === 2 ? last : `the text of ${path}` }),
  )
  return [0, 1, 2, 3].map((count) => ({
    path: chat.path,
    body: chat.body([{ user: opening }, ...calls.slice(0, count)]),
  }))
}

/** Loops of the provider's own tools, of conversations and of replies. */
export const sessionLoops: Readonly<Record<string, readonly Ask[]>> = {
  server_tool_use: blocks((n) => [
    { type: 'server_tool_use', id: `s${n}`, name: 'web_search', input: { query: 'guard' } },
    {
      type: 'web_search_tool_result',
      tool_use_id: `s${n}`,
      content: [
        { type: 'web_search_result', url: 'https://a', title: 'A', encrypted_content: word(n), page_age: null },
      ],
    },
  ]),
  mcp_tool_use: blocks((n) => [
    { type: 'mcp_tool_use', id: `m${n}`, name: 'search', server_name: 'docs', input: { q: 'guard' } },
    { type: 'mcp_tool_result', tool_use_id: `m${n}`, is_error: false, content: [{ type: 'text', text: 'Nothing.' }] },
  ]),
  web_search_call: items((n) => [
    { type: 'web_search_call', id: `w${n}`, status: 'completed', action: { type: 'search', query: 'guard' } },
  ]),
  mcp_call: items((n) => [
    {
      type: 'mcp_call',
      id: `m${n}`,
      server_label: 'docs',
      name: 'search',
      arguments: '{"q":"a"}',
      output: 'Nothing.',
      error: null,
    },
  ]),
  'a history that is compacted again and again': times(5, (n) => begun(`Summary ${word(n)}: read on.`, word(n))).flat(),
  'a subagent that is sent again after the same failure': times(5, (n) =>
    begun('Repair the build.', `Error: no rule (${word(n)})`),
  ).flat(),
  'replies that only reason': times(5, (n) => ({
    path: chat.path,
    body: chat.body([{ user: `Prove it. (${word(n)})` }]),
    answer: {
      id: `chatcmpl-${n}`,
      object: 'chat.completion',
      model: 'm',
      choices: [
        { index: 0, message: { role: 'assistant', content: null, reasoning_content: 'Hm.' }, finish_reason: 'length' },
      ],
      usage: { prompt_tokens: 10, completion_tokens: 900, total_tokens: 910 },
    },
  })),
}
