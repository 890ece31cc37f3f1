import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { guardProgram } from '../../../kit/child-gateway.ts'
import { startGateway } from '../../../kit/gateway.ts'
import { sdkClient, sdkClients } from '../../../kit/mcp-sdk.ts'
import { remote } from '../../access/kit.ts'
import { answerOf, startAnswered, traces } from './kit.ts'

describe('the way to Replay for agents', () => {
  it('needs the key, and leaves a record of each call', async () => {
    await using answered = await startAnswered()
    const { service, client } = answered
    const without = await fetch(`${service.gateway.url}/mcp/replay`, { method: 'POST' })
    assert.equal(without.status, 401)
    await answerOf(client, 'list_runs')
    const { events } = (await service.request('GET', '/api/v1/mcp/events?server_id=replay')).json as {
      readonly events: readonly Record<string, unknown>[]
    }
    const call = events.find(({ tool }) => tool === 'list_runs')
    assert.deepEqual([call?.action, call?.forwarded, call?.outcome], ['allow', true, 'ok'])
    // questions are no answers
    const { runs } = await answerOf(client, 'list_runs')
    assert.deepEqual(
      runs.map((run) => run.trace_id),
      ['bad', 'good'],
    )
  })

  it('goes through the policy of the configuration', async (test) => {
    const folder = await mkdtemp(join(tmpdir(), 'guard-replay-mcp-'))
    test.after(() => rm(folder, { recursive: true, force: true }))
    const rules = '{ id: no-money, tools: [where_did_the_money_go], servers: [replay], action: deny }'
    await writeFile(join(folder, 'policy.yml'), `version: 1\ndefault: allow\npinning: off\nrules:\n  - ${rules}\n`)
    await using answered = await startAnswered(`mcp: { policy: "${join(folder, 'policy.yml')}" }`)
    await assert.rejects(answerOf(answered.client, 'where_did_the_money_go'), /Denied by rule 'no-money'/)
    assert.equal((await answerOf(answered.client, 'list_runs')).runs.length, 2)
  })

  it('shows a key the runs of its projects alone', async () => {
    await using running = await remote({})
    const admin = (await running.key(['admin', 'ingest'])).key
    for (const [trace_id, project_id] of [
      ['ours', 'alpha'],
      ['theirs', 'bravo'],
    ]) {
      const body = { ...traces[1], trace_id, project_id }
      const { status, text } = await running.ask('/api/v1/traces', { method: 'POST', key: admin, body })
      assert.equal(status, 201, text)
    }
    const bound = (await running.key(['mcp'], ['alpha'])).key
    await using opened = new AsyncDisposableStack()
    const client = opened.adopt(await sdkClient('v2', { url: `${running.url}/mcp/replay`, key: bound }), (one) =>
      one.close(),
    )
    const ids = async (name: string, args = {}) => (await answerOf(client, name, args)).runs.map((run) => run.trace_id)
    assert.deepEqual(await ids('list_runs'), ['ours'])
    assert.deepEqual(await ids('list_runs', { project_id: 'bravo' }), [])
    assert.deepEqual(await ids('search_runs', { words: 'no such file' }), ['ours'])
    assert.equal((await answerOf(client, 'why_failed')).run.trace_id, 'ours')
    for (const [name, args] of [
      ['get_run', { trace_id: 'theirs' }],
      ['get_step', { trace_id: 'theirs', span_id: 't2' }],
      ['why_failed', { trace_id: 'theirs' }],
      ['where_did_the_money_go', { trace_id: 'theirs' }],
      ['compare_runs', { left: 'ours', right: 'theirs' }],
    ] as const)
      await assert.rejects(answerOf(client, name, args), /RUN_NOT_FOUND/)
    const money = await answerOf(client, 'where_did_the_money_go', { since: '3650d' })
    assert.equal(money.total.cost_micro, 5_000_000)
    assert.deepEqual((await answerOf(client, 'budgets_left', { project_id: 'bravo' })).budgets, [])
    // the key of an agent reads the project of its agent
    const body = { id: 'worker', project_id: 'bravo' }
    const { key } = (await running.ask('/api/agents', { method: 'POST', key: admin, body })).json as { key: string }
    const worker = opened.adopt(await sdkClient('v2', { url: `${running.url}/mcp/replay`, key }), (one) => one.close())
    const { runs } = await answerOf(worker, 'list_runs')
    assert.deepEqual(
      runs.map((run) => run.trace_id),
      ['theirs'],
    )
  })
})

describe('guard mcp replay', { timeout: 120_000 }, () => {
  for (const name of sdkClients)
    it(`answers the official client ${name}, from the running gateway`, async (test) => {
      const folder = await mkdtemp(join(tmpdir(), 'guard-replay-mcp-'))
      test.after(() => rm(folder, { recursive: true, force: true }))
      const gateway = await startGateway()
      test.after(() => gateway.close())
      for (const trace of traces) await gateway.request('POST', '/api/v1/traces', trace)
      const port = new URL(gateway.url).port
      const config = `gateway_key: ${gateway.key}\nserver: { port: ${port} }\nstorage: { backend: memory }\n`
      await writeFile(join(folder, 'guard-config.yml'), config, { mode: 0o600 })
      const args = [...guardProgram, 'mcp', 'replay', '--agent', 'asker']
      const client = await sdkClient(name, { command: process.execPath, args, cwd: folder })
      try {
        assert.ok((await client.list()).includes('why_failed'))
        assert.equal((await answerOf(client, 'why_failed')).run.trace_id, 'bad')
        await assert.rejects(answerOf(client, 'get_run', { trace_id: 'gone' }), /RUN_NOT_FOUND/)
      } finally {
        await client.close()
      }
      const { events } = (await gateway.request('GET', '/api/v1/mcp/events?server_id=replay')).json as {
        readonly events: readonly Record<string, unknown>[]
      }
      assert.ok(events.some(({ tool, agent_id }) => tool === 'why_failed' && agent_id === 'asker'))
    })

  it('answers from the database where no gateway runs', async (test) => {
    const folder = await mkdtemp(join(tmpdir(), 'guard-replay-mcp-'))
    test.after(() => rm(folder, { recursive: true, force: true }))
    const gateway = await startGateway({ backend: 'sqlite', folder })
    for (const trace of traces) await gateway.request('POST', '/api/v1/traces', trace)
    await gateway.close()
    const config = `gateway_key: ${gateway.key}\nserver: { port: 1 }\nstorage: { file: guard.db }\n`
    await writeFile(join(folder, 'guard-config.yml'), config, { mode: 0o600 })
    const client = await sdkClient('v1', {
      command: process.execPath,
      args: [...guardProgram, 'mcp', 'replay'],
      cwd: folder,
    })
    try {
      assert.equal((await answerOf(client, 'why_failed')).error, 'no such file: a.ts')
    } finally {
      await client.close()
    }
  })
})
