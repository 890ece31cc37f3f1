import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { claudeCode } from 'guard-gateway/plugins/import-formats/claude-code'
import { codex } from 'guard-gateway/plugins/import-formats/codex'
import { importFile } from '#lib/trace-file'
import { recording } from '../../kit/import-files.ts'
import { call, line, reply, result, SESSION, user } from './claude-code-lines.ts'

type Body = { messages?: { role: string; content: { type: string; text?: string }[] }[]; input?: { type: string }[] }

const bodies = (format: typeof claudeCode, text: string): readonly Body[] =>
  [...(format.requests?.(importFile(text)) ?? [])].map(({ body }) => JSON.parse(String(body)))
const kinds = (text: string): readonly string[] =>
  bodies(claudeCode, text).map(({ messages = [] }) =>
    messages.map(({ role, content }) => `${role[0]}:${content.map(({ type, text: said }) => said ?? type)}`).join(' '),
  )
const at = (second: number) => ({ timestamp: `2026-01-01T00:00:${String(second).padStart(2, '0')}.000Z` })

describe('the requests of a session', () => {
  it('hold the conversation up to them, each the one before and more', () => {
    for (const [format, folder] of [
      [claudeCode, 'claude-code/work'],
      [codex, 'codex/work'],
    ] as const) {
      const texts = [...(format.requests?.(importFile(recording(`session-files/${folder}`))) ?? [])].map(({ body }) =>
        String(body),
      )
      assert.equal(texts.length, 5)
      for (const [index, text] of texts.slice(1).entries())
        assert.ok(text.startsWith(texts[index]?.slice(0, -2) ?? '?'))
    }
  })

  it('have results of one reply in one message, also those that came before its last block', () => {
    const text =
      user('Go.', at(0)) +
      reply('m', [call('a')], { requestId: 'r', ...at(1) }) +
      user([result('a')], at(2)) +
      reply('m', [call('b')], { requestId: 'r', ...at(3) }) +
      user([result('b')], at(4)) +
      reply('n', [{ type: 'text', text: 'Done.' }], at(5))
    assert.deepEqual(kinds(text), ['u:Go.', 'u:Go. a:tool_use,tool_use u:tool_result,tool_result'])
  })

  it('go on from the summary after a compaction', () => {
    const text =
      user('Go.', at(0)) +
      reply('m', [call('a')], at(1)) +
      line('system', {}, { subtype: 'compact_boundary', ...at(2) }) +
      user('Summary.', { isCompactSummary: true, ...at(3) }) +
      reply('n', [{ type: 'text', text: 'Done.' }], at(4))
    assert.deepEqual(kinds(text), ['u:Go.', 'u:Summary.'])
  })

  it('go on from where the person went back to', () => {
    const text =
      user('Go.', { uuid: 'a', ...at(0) }) +
      reply('m', [{ type: 'text', text: 'One.' }], { uuid: 'b', parentUuid: 'a', ...at(1) }) +
      user('Left.', { uuid: 'c', parentUuid: 'b', ...at(2) }) +
      reply('n', [{ type: 'text', text: 'Two.' }], { uuid: 'd', parentUuid: 'c', ...at(3) }) +
      user('Right.', { uuid: 'e', parentUuid: 'b', ...at(4) }) +
      reply('o', [{ type: 'text', text: 'Three.' }], { uuid: 'f', parentUuid: 'e', ...at(5) })
    assert.deepEqual(kinds(text), ['u:Go.', 'u:Go. a:One. u:Left.', 'u:Go. a:One. u:Right.'])
  })

  it('are in the order of their times where subagents work beside each other', () => {
    const side = { isSidechain: true, agentId: 'x' }
    const text =
      user('Go.', at(0)) +
      reply('m', [{ type: 'text', text: 'One.' }], at(1)) +
      user('More.', at(8)) +
      reply('n', [{ type: 'text', text: 'Two.' }], at(9)) +
      user('Look.', { ...side, ...at(3) }) +
      reply('s', [{ type: 'text', text: 'Seen.' }], { ...side, ...at(4) })
    assert.deepEqual(kinds(text), ['u:Go.', 'u:Look.', 'u:Go. a:One. u:More.'])
    assert.ok([...(claudeCode.requests?.(importFile(text)) ?? [])].every(({ session_id }) => session_id === SESSION))
  })

  it('of Codex go on from what a compaction left, and from where turns were taken back', () => {
    const codexLine = (type: string, payload: object, second: number) =>
      `${JSON.stringify({ type, payload, ...at(second) })}\n`
    const said = (role: string, text: string, second: number) =>
      codexLine('response_item', { type: 'message', role, content: [{ type: 'input_text', text }] }, second)
    const head = codexLine('session_meta', { id: 's' }, 0)
    const texts = (text: string) =>
      bodies(codex, text).map(({ input = [] }) =>
        input.map((item) => JSON.stringify(item).match(/"text":"(\w+)/)?.[1]).join(' '),
      )
    const rolled = codexLine('event_msg', { type: 'thread_rolled_back', num_turns: 1 }, 5)
    const turn = (name: string, second: number) =>
      said('user', name, second) + said('assistant', `re${name}`, second + 1)
    assert.deepEqual(texts(head + turn('a', 1) + turn('b', 3) + rolled + turn('c', 6)), ['a', 'a rea b', 'a rea c'])
    const compacted = codexLine('compacted', { message: 'short', replacement_history: [] }, 3)
    assert.deepEqual(texts(head + turn('a', 1) + compacted + turn('b', 4)), ['a', 'short b'])
  })
})
