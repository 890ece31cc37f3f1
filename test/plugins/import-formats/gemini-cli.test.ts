import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { geminiCli } from 'guard-gateway/plugins/import-formats/gemini-cli'
import { writeJson } from '#lib/json'
import { importFile } from '#lib/trace-file'
import { readImport, recording, spanFacts, spansIn } from '../../kit/import-files.ts'

const work = recording('session-files/gemini/work')
const SESSION = '00000006-0000-4000-8000-000000000001'
const read = (text: string) => readImport(geminiCli, text)
const head = { sessionId: 's', projectHash: 'h' }
const at = (second: number) => ({ timestamp: `2026-01-01T00:00:0${second}.000Z` })
const user = (id: string, text: string, second: number) => ({ id, type: 'user', content: [{ text }], ...at(second) })
const model = (id: string, text: string, second: number, more: object = {}) => ({
  id,
  type: 'gemini',
  content: text,
  model: 'm',
  ...at(second),
  ...more,
})
const lines = (...records: readonly object[]) => [head, ...records].map((record) => JSON.stringify(record)).join('\n')
const conversations = (text: string) =>
  [...(geminiCli.requests?.(importFile(text)) ?? [])].map(({ body }) =>
    (JSON.parse(String(body)) as { contents: { role: string; parts: { text?: string }[] }[] }).contents
      .map(({ role, parts }) => `${role[0]}:${parts.map((part) => part.text ?? Object.keys(part)[0]).join(',')}`)
      .join(' '),
  )

describe('a chat of Gemini CLI', () => {
  it('becomes a run of its requests and calls, with tokens and errors, without words', () => {
    const reading = read(work)
    const [{ run } = assert.fail()] = reading.runs
    assert.deepEqual(
      [run.session_id, run.agent_name, reading.runs.length, reading.warnings],
      [SESSION, 'gemini-cli', 1, []],
    )
    const model = { name: 'gen_ai.request', status: 'ok' }
    const tool = { name: 'tool.call', status: 'ok' }
    assert.deepEqual(
      spansIn(reading)
        .filter(({ name }) => name !== 'agent.run')
        .map((span) => spanFacts(span, 'gen_ai.tool.name', 'gen_ai.usage.input_tokens')),
      [
        { ...model, 'gen_ai.usage.input_tokens': 1_010 },
        { ...tool, 'gen_ai.tool.name': 'read_file' },
        { ...model, 'gen_ai.usage.input_tokens': 1_020 },
        { ...tool, 'gen_ai.tool.name': 'run_shell_command', status: 'error' },
        { ...model, 'gen_ai.usage.input_tokens': 1_030 },
        { ...tool, 'gen_ai.tool.name': 'replace' },
        { ...model, 'gen_ai.usage.input_tokens': 1_040 },
        { ...tool, 'gen_ai.tool.name': 'run_shell_command' },
        { ...model, 'gen_ai.usage.input_tokens': 20 },
      ],
    )
    const text = writeJson([...reading.records()])
    for (const said of ['notes', 'not-there', 'alpha', 'finished', 'home/dev']) assert.ok(!text.includes(said), said)
  })

  it('has requests with the conversation up to them', () => {
    const all = conversations(work)
    assert.equal(all.length, 5)
    assert.match(
      all[1] ?? '',
      /^u:<session_context>[\s\S]* u:Do what the notes say, then stop\. m:functionCall u:functionResponse$/,
    )
  })

  it('of an earlier version is one object, whose results stand with their calls', () => {
    const call = {
      id: 'c',
      name: 'ls',
      args: {},
      status: 'error',
      result: [{ functionResponse: { name: 'ls', response: { output: 'x' } } }],
      ...at(2),
    }
    const text = JSON.stringify(
      { ...head, messages: [user('a', 'Go.', 0), model('b', '', 1, { toolCalls: [call] }), model('c', 'Done.', 3)] },
      null,
      2,
    )
    assert.ok(geminiCli.accepts(importFile(text)))
    assert.deepEqual(conversations(text), ['u:Go.', 'u:Go. m:functionCall u:functionResponse'])
    assert.deepEqual(
      spansIn(read(text))
        .filter(({ name }) => name === 'tool.call')
        .map(({ status }) => status),
      ['error'],
    )
  })

  it('goes on from where the person went back to, and from what a compression left', () => {
    const turns = [user('a', 'A', 0), model('b', 'B', 1), user('c', 'C', 2), model('d', 'D', 3)]
    assert.deepEqual(conversations(lines(...turns, { $rewindTo: 'c' }, user('e', 'E', 4), model('f', 'F', 5))), [
      'u:A',
      'u:A m:B u:C',
      'u:A m:B u:E',
    ])
    const set = { $set: { messages: [user('x', 'short', 4), model('d', 'D', 3)] } }
    const compressed = lines(...turns, set, user('e', 'E', 5), model('f', 'F', 6))
    assert.deepEqual(conversations(compressed), ['u:A', 'u:A m:B u:C', 'u:short m:D u:E'])
    assert.equal(read(compressed).runs[0]?.spans, 4)
  })

  it('that breaks off loses its last line alone, and is refused with its place for what is wrong', () => {
    assert.deepEqual(
      read(work.trimEnd().slice(0, -9)).warnings.map(({ code }) => code),
      ['line_ignored'],
    )
    for (const [text, message] of [
      [
        lines(model('a', 'x', 0, { tokens: { input: -1 } })),
        /^Line 2, \/tokens\/input: "input" must be a number of tokens/,
      ],
      [
        lines({ $set: { messages: [model('a', 'x', 0, { timestamp: 'x' })] } }),
        /^Line 2, \/\$set\/messages\/0\/timestamp/,
      ],
      [lines({ $set: { messages: 1 } }), /^Line 2, \/\$set\/messages: "messages" must be an array/],
    ] as const)
      assert.throws(() => read(text), { name: 'GuardError', message })
    assert.deepEqual(read(lines()).runs, [])
  })
})
