import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Answered, answerOf, startAnswered, type ToolAnswer } from './kit.ts'

const ANSWER_BYTES = 16_384

describe('Replay for agents', () => {
  let answered: Answered
  before(async () => {
    answered = await startAnswered()
  })
  after(() => answered[Symbol.asyncDispose]())
  const ask = (name: string, args: Record<string, unknown> = {}) => answerOf(answered.client, name, args)

  it('has tools that only read, with what they take and give', async () => {
    const names = await answered.client.list()
    assert.deepEqual(names, [
      'why_failed',
      'where_did_the_money_go',
      'list_runs',
      'search_runs',
      'get_run',
      'get_step',
      'compare_runs',
      'list_sessions',
      'budgets_left',
    ])
  })

  it('tells why the newest run failed, and why a named one did not', async () => {
    const { run, step, error, answer } = await ask('why_failed')
    assert.deepEqual([run.trace_id, step.span_id, error], ['bad', 't2', 'no such file: a.ts'])
    assert.match(answer, /^tool\.call#2 edit: failed: no such file/)
    assert.match((await ask('why_failed', { trace_id: 'good' })).answer, /went well/)
    await assert.rejects(ask('why_failed', { agent: 'nobody' }), /No run with these filters has failed/)
  })

  it('tells where the money went: of a run, and of all by model, run and session', async () => {
    const one = await ask('where_did_the_money_go', { trace_id: 'good' })
    assert.deepEqual(one.total, { cost_micro: 2_000_000, cost: '2' })
    assert.deepEqual(
      one.groups.map((use) => [use.name, use.calls, use.cached_input_tokens]),
      [
        ['m-1', 1, 400],
        ['read_file', 1, undefined],
        ['edit', 1, undefined],
      ],
    )
    const since = { since: '3650d' }
    const models = await ask('where_did_the_money_go', { ...since })
    assert.deepEqual([models.total.cost_micro, models.groups[0]?.input_tokens], [7_000_000, 4000])
    const runs = await ask('where_did_the_money_go', { by: 'run', ...since })
    assert.deepEqual(
      runs.groups.map((run) => run.trace_id),
      ['bad', 'good'],
    )
    const tools = await ask('where_did_the_money_go', { by: 'tool', ...since })
    assert.deepEqual(tools.groups.find((use) => use.name === 'edit')?.errors, 1)
  })

  it('lists, searches and reads runs and steps in parts', async () => {
    const first = await ask('list_runs', { limit: 1 })
    assert.deepEqual([first.runs.length, first.runs[0]?.trace_id], [1, 'bad'])
    const second = await ask('list_runs', { limit: 1, cursor: first.next_cursor })
    assert.deepEqual(second.runs[0]?.trace_id, 'good')
    assert.deepEqual((await ask('list_runs', { status: 'error' })).runs.length, 1)
    assert.deepEqual((await ask('search_runs', { words: 'no such file' })).runs[0]?.trace_id, 'bad')
    const part = await ask('get_run', { trace_id: 'bad', limit: 2 })
    assert.deepEqual([part.steps.length, part.next_after, part.all_steps], [2, 2, 4])
    const rest = await ask('get_run', { trace_id: 'bad', after: part.next_after })
    assert.deepEqual(
      rest.steps.map(({ step, status, error }) => [step, status, error]),
      [
        ['tool.call#1 read_file', 'ok', undefined],
        ['tool.call#2 edit', 'error', 'no such file: a.ts'],
      ],
    )
    const { attributes, step } = await ask('get_step', { trace_id: 'bad', span_id: 'm1' })
    assert.deepEqual([step.took_ms, attributes['gen_ai.usage.input_tokens']], [100, 3000])
  })

  it('compares two runs', async () => {
    const { they_part, deltas, rows } = await ask('compare_runs', { left: 'good', right: 'bad' })
    assert.match(they_part ?? '', /edit ends as ok on the left, as error on the right/)
    assert.equal(deltas.cost_micro, 3_000_000)
    assert.ok(rows.some((row) => row.right?.error === 'no such file: a.ts'))
  })

  it('lists sessions, and what is left of budgets', async () => {
    const { service } = answered
    await service.policy({ rules: [{ id: 'few', rule_type: 'max_requests', threshold: 5, action: 'block' }] })
    const body = { model: 'm-1', messages: [{ role: 'user', content: 'hi' }] }
    await service.request('POST', '/v1/chat/completions', body, { 'x-guard-session-id': 'budgeted' })
    const { sessions } = await ask('list_sessions')
    assert.deepEqual([sessions[0]?.name, sessions[0]?.requests, sessions[0]?.state], ['budgeted', 1, 'open'])
    const { budgets } = await ask('budgets_left', { session_id: sessions[0]?.session_id })
    assert.deepEqual([budgets[0]?.rule_id, budgets[0]?.used, budgets[0]?.left], ['few', 1, 4])
    assert.match((await ask('budgets_left', { project_id: 'none' })).note ?? '', /No rule/)
  })

  it('says what to do where arguments do not fit or nothing is there', async () => {
    await assert.rejects(ask('get_run', { trace_id: 'gone' }), /RUN_NOT_FOUND: .*List them/)
    await assert.rejects(ask('get_step', { trace_id: 'bad', span_id: 'gone' }), /get_run lists its steps/)
    await assert.rejects(ask('list_runs', { status: 5 }), /status/)
    await assert.rejects(ask('list_runs', { odd: 'x' }), /odd/)
    await assert.rejects(ask('list_runs', { since: 'soon' }), /"since" must be/)
    await assert.rejects(ask('list_runs', { cursor: 'x' }), /INVALID_CURSOR/)
    await assert.rejects(ask('budgets_left', { session_id: 'gone' }), /list_sessions/)
    await assert.rejects(ask('no_such_tool'), /no_such_tool/)
  })

  it('keeps answers small, however long names are and many steps', async () => {
    const long = '💥'.repeat(120)
    const spans = Array.from({ length: 100 }, (_, at) => ({
      id: `s${at}`,
      name: long.slice(0, 240),
      status: 'error',
      status_message: long,
      attributes: Object.fromEntries(Array.from({ length: 30 }, (_one, n) => [`${n}`, long.repeat(2)])),
    }))
    const trace = { trace_id: 'long', name: long, task_id: 't', agent_name: long.slice(0, 100), spans }
    const { status, text } = await answered.service.request('POST', '/api/v1/traces', trace)
    assert.equal(status, 201, text)
    let steps = 0
    for (let after: number | null = 0; after !== null; ) {
      const answer: ToolAnswer = await ask('get_run', { trace_id: 'long', limit: 80, after })
      assert.ok(Buffer.byteLength(JSON.stringify(answer)) <= ANSWER_BYTES)
      steps += answer.steps.length
      after = answer.next_after
    }
    assert.equal(steps, 101)
    const step = await ask('get_step', { trace_id: 'long', span_id: 's1' })
    assert.ok(Buffer.byteLength(JSON.stringify(step)) <= ANSWER_BYTES)
    assert.equal(step.complete, false)
    for (const name of ['why_failed', 'where_did_the_money_go', 'list_runs'])
      assert.ok(Buffer.byteLength(JSON.stringify(await ask(name))) <= ANSWER_BYTES, name)
  })
})
