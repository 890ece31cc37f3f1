import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { codex } from 'guard-gateway/plugins/import-formats/codex'
import { writeJson } from '#lib/json'
import { importFile } from '#lib/trace-file'
import { readImport, recording, spanFacts, spansIn } from '../../kit/import-files.ts'

const work = recording('session-files/codex/work')
const SESSION = '00000004-0000-4000-8000-000000000001'
const read = (text: string) => readImport(codex, text)

let second = 0
const line = (type: string, payload: object): string =>
  `${JSON.stringify({ timestamp: new Date(Date.UTC(2026, 0, 1) + 1_000 * second++).toISOString(), type, payload })}\n`
const meta = (id = SESSION, more: object = {}) =>
  line('session_meta', { id, cwd: '/home/dev/shop', cli_version: '0.40.0', model_provider: 'openai', ...more })
const item = (payload: object) => line('response_item', payload)
const event = (payload: object) => line('event_msg', payload)
const call = (call_id: string) => item({ type: 'function_call', name: 'shell', arguments: '{"a":1}', call_id })
const output = (call_id: string, text: unknown) => item({ type: 'function_call_output', call_id, output: text })
const usage = (input_tokens: number, total: number) => {
  const counts = { input_tokens, cached_input_tokens: 2, output_tokens: 3, reasoning_output_tokens: 1 }
  return event({ type: 'token_count', info: { total_token_usage: { total_tokens: total }, last_token_usage: counts } })
}
const callStatus = (after: string) =>
  spansIn(read(meta() + call('a') + after)).find(({ name }) => name === 'tool.call')?.status
const facts = (text: string) =>
  spansIn(read(text))
    .filter(({ name }) => name !== 'agent.run')
    .map((span) => spanFacts(span, 'gen_ai.tool.call.id', 'gen_ai.usage.input_tokens', 'error.type'))

describe('a rollout of Codex', () => {
  it('becomes a run with its session, project, agent and version', () => {
    const { runs, warnings } = read(work)
    assert.deepEqual(warnings, [])
    const [{ run, spans } = assert.fail()] = runs
    const { trace_id, project_id, session_id, agent_name, attributes } = run
    assert.deepEqual(
      [trace_id, project_id, session_id, agent_name, attributes?.['resource.service.version'], spans, runs.length],
      [SESSION.replaceAll('-', ''), 'shop', SESSION, 'codex', '0.169.0', 10, 1],
    )
  })

  it('becomes spans of its requests and calls, with models, tokens and errors', () => {
    const spans = spansIn(read(work)).filter(({ name }) => name !== 'agent.run')
    const names = ['gen_ai.tool.name', 'gen_ai.usage.input_tokens', 'gen_ai.usage.cache_read.input_tokens']
    const model = { name: 'gen_ai.request', status: 'ok', 'gen_ai.usage.cache_read.input_tokens': 400 }
    const tool = { name: 'tool.call', status: 'ok', 'gen_ai.tool.name': 'exec_command' }
    assert.deepEqual(
      spans.map((span) => spanFacts(span, ...names)),
      [
        { ...model, 'gen_ai.usage.input_tokens': 1_010 },
        tool,
        { ...model, 'gen_ai.usage.input_tokens': 1_020 },
        { ...tool, status: 'error' },
        { ...model, 'gen_ai.usage.input_tokens': 1_030 },
        { ...tool, 'gen_ai.tool.name': 'apply_patch' },
        { ...model, 'gen_ai.usage.input_tokens': 1_040 },
        tool,
        { ...model, 'gen_ai.usage.input_tokens': 20, 'gen_ai.usage.cache_read.input_tokens': 0 },
      ],
    )
    assert.equal(spans[0]?.attributes?.['gen_ai.request.model'], 'gpt-5.5')
    const text = writeJson([read(work).runs, [...read(work).records()]])
    for (const said of ['notes', 'not-there', 'alpha', 'finished', 'home/dev']) assert.ok(!text.includes(said), said)
  })

  it('has the usage of versions that tell it in events, once', () => {
    const told = usage(10, 13)
    const text = meta() + item({ type: 'message', role: 'user', content: [] }) + call('a') + told + told
    assert.deepEqual(
      facts(text + output('a', 'Exit code: 1\nOutput:\n') + told + call('b') + usage(20, 36) + output('b', 'x')),
      [
        { name: 'gen_ai.request', status: 'ok', 'gen_ai.usage.input_tokens': 10 },
        { name: 'tool.call', status: 'error', 'gen_ai.tool.call.id': 'a', 'error.type': 'tool_error' },
        { name: 'gen_ai.request', status: 'ok', 'gen_ai.usage.input_tokens': 20 },
        { name: 'tool.call', status: 'ok', 'gen_ai.tool.call.id': 'b' },
      ],
    )
    // usage that comes after the result of its reply
    const [late] = facts(meta() + call('a') + output('a', 'x') + usage(30, 33))
    assert.deepEqual(late, { name: 'gen_ai.request', status: 'ok', 'gen_ai.usage.input_tokens': 30 })
  })

  it('has failed calls of every version', () => {
    for (const failed of [
      output('a', '{"output":"x","metadata":{"exit_code":2}}'),
      output('a', { content: 'x', success: false }),
      event({ type: 'exec_command_end', call_id: 'a', exit_code: 2 }) + output('a', 'x'),
      event({ type: 'patch_apply_end', call_id: 'a', success: false }) + output('a', 'x'),
      event({ type: 'mcp_tool_call_end', call_id: 'a', result: { Err: 'no' } }) + output('a', 'x'),
    ])
      assert.equal(callStatus(failed), 'error', failed)
    for (const fine of [
      output('a', 'Read: Exit code: 1'),
      output('a', '{"output":"x","metadata":{"exit_code":0}}'),
      output('a', [{ type: 'input_text', text: 'x' }]),
    ])
      assert.equal(callStatus(fine), 'ok', fine)
  })

  it('has requests that failed', () => {
    const message = 'unexpected status 503 Service Unavailable'
    const [failed] = spansIn(
      read(meta() + event({ type: 'error', message, codex_error_info: 'server_overloaded' })),
    ).filter(({ name }) => name === 'gen_ai.request')
    assert.deepEqual(spanFacts(failed ?? assert.fail(), 'error.type', 'http.response.status_code'), {
      name: 'gen_ai.request',
      status: 'error',
      'error.type': 'server_overloaded',
      'http.response.status_code': 503,
    })
  })

  it('is one of several in a file, and a fork is one of its own', () => {
    const other = '00000005-0000-4000-8000-000000000001'
    const { runs } = read(work + meta(other) + call('a'))
    assert.deepEqual(
      runs.map(({ run }) => run.session_id),
      [SESSION, other],
    )
    const fork = read(meta(other, { forked_from_id: SESSION }) + meta() + call('a'))
    assert.deepEqual(
      fork.runs.map(({ run }) => run.session_id),
      [other],
    )
  })
})

describe('a damaged rollout of Codex', () => {
  it('that breaks off in its last line loses that line alone, with a warning', () => {
    const { runs, warnings } = read(work.trimEnd().slice(0, -30))
    assert.deepEqual([runs[0]?.spans, warnings.map(({ code }) => code)], [10, ['line_ignored']])
  })

  for (const [what, text, message] of [
    ['no head', call('a'), /^Line 1: A rollout begins with a line of type "session_meta"/],
    ['a head without an id', meta('').replace('"id":""', '"x":1'), /^Line 1, \/payload: The session has no "id"/],
    ['negative usage', meta() + call('a') + usage(-1, 3), /^Line 3, \/payload\/info\/last_token_usage\/input_tokens/],
    [
      'a payload of another type',
      `${meta()}{"timestamp":"2026-01-01T00:00:00Z","type":"event_msg","payload":1}\n`,
      /^Line 2, \/payload/,
    ],
  ] as const)
    it(`is refused with its line for ${what}`, () => {
      assert.throws(() => read(text), { name: 'GuardError', message })
    })

  it('without a request holds nothing, which is said', () => {
    const { runs, warnings } = read(meta())
    assert.deepEqual([runs, warnings.map(({ code }) => code)], [[], ['nothing_found']])
  })

  it('is known by its first line', () => {
    assert.ok(codex.accepts(importFile(work)))
    for (const text of ['', '{"type":"run"}', recording('session-files/claude-code/work')])
      assert.ok(!codex.accepts(importFile(text)))
  })
})
