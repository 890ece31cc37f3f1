import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { claudeCode } from 'guard-gateway/plugins/import-formats/claude-code'
import { writeJson } from '#lib/json'
import { argumentHash } from '#lib/trace'
import { ARGUMENT_KEY, readImport, recording, spanFacts, spansIn } from '../../kit/import-files.ts'
import { call, line, reply, result, SESSION, user } from './claude-code-lines.ts'

const work = recording('session-files/claude-code/work')
const delegate = recording('session-files/claude-code/delegate')
const read = (text: string) => readImport(claudeCode, text)

describe('a session of Claude Code', () => {
  it('becomes a run with its session, project, agent and version', () => {
    const { runs, warnings } = read(work)
    assert.deepEqual(warnings, [])
    assert.deepEqual(
      runs.map(({ run, spans }) => ({ ...run, attributes: { ...run.attributes }, spans })),
      [
        {
          trace_id: SESSION.replaceAll('-', ''),
          project_id: 'shop',
          session_id: SESSION,
          agent_name: 'claude-code',
          attributes: {
            'resource.service.name': 'claude-code',
            'resource.service.version': '2.1.330',
            'resource.guard.project.id': 'shop',
          },
          spans: 10,
        },
      ],
    )
  })

  it('becomes spans of its requests and calls, with models, tokens, times and errors', () => {
    const all = spansIn(read(work))
    const spans = [...all.filter(({ name }) => name === 'agent.run'), ...all.filter(({ name }) => name !== 'agent.run')]
    const names = ['gen_ai.request.model', 'gen_ai.tool.name', 'gen_ai.usage.input_tokens']
    const model = { name: 'gen_ai.request', status: 'ok', 'gen_ai.request.model': 'claude-sonnet-4-5' }
    const tool = { name: 'tool.call', status: 'ok' }
    assert.equal(spans.find(({ parent_id }) => parent_id === null)?.name, 'agent.run')
    assert.deepEqual(
      spans.filter(({ name }) => name !== 'agent.run').map((span) => spanFacts(span, ...names)),
      [
        { ...model, 'gen_ai.usage.input_tokens': 1_810 },
        { ...tool, 'gen_ai.tool.name': 'Read' },
        { ...model, 'gen_ai.usage.input_tokens': 1_820 },
        { ...tool, 'gen_ai.tool.name': 'Bash', status: 'error' },
        { ...model, 'gen_ai.usage.input_tokens': 1_830 },
        { ...tool, 'gen_ai.tool.name': 'Edit' },
        { ...model, 'gen_ai.usage.input_tokens': 1_840 },
        { ...tool, 'gen_ai.tool.name': 'Bash' },
        { ...model, 'gen_ai.usage.input_tokens': 20 },
      ],
    )
    assert.deepEqual(
      spanFacts(
        spans[1] ?? assert.fail(),
        ...['cache_read', 'cache_creation'].map((of) => `gen_ai.usage.${of}.input_tokens`),
      ),
      {
        name: 'gen_ai.request',
        status: 'ok',
        'gen_ai.usage.cache_read.input_tokens': 400,
        'gen_ai.usage.cache_creation.input_tokens': 400,
      },
    )
    assert.equal(spans[1]?.attributes?.['guard.usage.cache_creation_1h.input_tokens'], 100)
    const command = { command: 'ls /not-there', description: 'Runs a command' }
    assert.equal(spans[4]?.attributes?.['guard.argument_hash'], argumentHash(ARGUMENT_KEY, command))
    for (const { start_ns = 0n, end_ns } of spans.slice(1)) assert.ok((end_ns ?? 0n) > start_ns)
  })

  it('tells nothing of what was said, run or found', () => {
    const text = writeJson([read(work).runs, [...read(work).records()]])
    for (const said of ['notes', 'not-there', 'alpha', 'No such file', 'finished', 'home/dev'])
      assert.ok(!text.includes(said), said)
  })

  it('has the spans of a subagent below the call that started it, from a file of its own', () => {
    const reading = read(delegate)
    assert.equal(reading.runs.length, 1)
    const spans = spansIn(reading)
    const agent = spans.find(({ name }) => name === 'invoke_agent')
    const started = spans.find(({ id }) => id === agent?.parent_id)
    assert.deepEqual(
      [started?.attributes?.['gen_ai.tool.name'], agent?.attributes?.['gen_ai.agent.name']],
      ['Agent', 'general-purpose'],
    )
    const own = spans.filter(({ parent_id }) => parent_id === agent?.id)
    assert.ok(own.length > 0 && own.every(({ name }) => name === 'gen_ai.request'))
    assert.equal(reading.runs[0]?.run.agent_name, 'claude-code')
  })

  it('is a run of its own where only the subagent is there', () => {
    const alone = recording('session-files/claude-code/delegate/-home-dev-shop/00000003-0000-4000-8000-000000000001')
    const [one] = read(alone).runs
    assert.equal(one?.run.session_id, '00000003-0000-4000-8000-000000000001')
    assert.notEqual(one?.run.trace_id, read(delegate).runs[0]?.run.trace_id)
  })

  it('has subagents of earlier versions, told by their prompt', () => {
    const side = { isSidechain: true }
    const task = { type: 'tool_use', id: 't', name: 'Task', input: { prompt: 'Look.', subagent_type: 'explorer' } }
    const spans = spansIn(
      read(
        user('Go.') +
          reply('a', [task]) +
          user('Look.', { ...side, uuid: 's1', parentUuid: null }) +
          reply('b', [call('x')], { ...side, uuid: 's2', parentUuid: 's1' }) +
          user([result('x')], { ...side, uuid: 's3', parentUuid: 's2' }) +
          user([result('t')]),
      ),
    )
    const agent = spans.find(({ name }) => name === 'invoke_agent')
    const started = spans.find(({ id }) => id === agent?.parent_id)
    assert.deepEqual(
      [started?.attributes?.['gen_ai.tool.name'], agent?.attributes?.['gen_ai.agent.name']],
      ['Task', 'explorer'],
    )
  })

  it('counts the usage of a reply once, however many lines it has', () => {
    const blocks = [call('a'), call('b')].map((block, at) =>
      reply(
        'm',
        [block],
        { requestId: 'r', timestamp: `2026-01-01T00:00:0${at + 1}.000Z` },
        { input_tokens: 7, output_tokens: at + 1 },
      ),
    )
    const spans = spansIn(
      read(user('Go.') + blocks.join(user([result('a')])) + user([result('b', { is_error: true })])),
    )
    const usage = ['gen_ai.usage.input_tokens', 'gen_ai.usage.output_tokens', 'gen_ai.tool.call.id']
    assert.deepEqual(
      spans.filter(({ name }) => name !== 'agent.run').map((span) => spanFacts(span, ...usage)),
      [
        { name: 'gen_ai.request', status: 'ok', 'gen_ai.usage.input_tokens': 7, 'gen_ai.usage.output_tokens': 2 },
        { name: 'tool.call', status: 'ok', 'gen_ai.tool.call.id': 'a' },
        { name: 'tool.call', status: 'error', 'gen_ai.tool.call.id': 'b' },
      ],
    )
  })

  it('has a told cost, failed requests with their status, and calls without a result', () => {
    const failed = { isApiErrorMessage: true, error: 'rate_limit', uuid: 'e' }
    const shown = [{ type: 'text', text: 'API Error: 429 {"type":"error"}' }]
    const spans = spansIn(
      read(
        user('Go.') +
          reply('a', [call('x')], { costUSD: 0.25 }) +
          line('assistant', { id: 'f', model: '<synthetic>', content: shown, usage: { input_tokens: 0 } }, failed),
      ),
    )
    assert.deepEqual(
      spans.map((span) => spanFacts(span, 'gen_ai.usage.cost', 'error.type', 'http.response.status_code')).slice(0, 4),
      [
        { name: 'gen_ai.request', status: 'ok', 'gen_ai.usage.cost': 0.25 },
        { name: 'gen_ai.request', status: 'error', 'error.type': 'rate_limit', 'http.response.status_code': 429 },
        { name: 'tool.call', status: 'error' },
        { name: 'agent.run', status: 'error', 'error.type': 'rate_limit' },
      ],
    )
    assert.equal(
      spans.find(({ name }) => name === 'tool.call')?.status_message,
      'The session ends before a result came.',
    )
  })
})
