import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { hostname } from 'node:os'
import { it, type TestContext } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { endAbandonedRuns } from '../../../../plugins/replay/maintenance/abandoned-runs.ts'
import { startGateway } from '../../../kit/gateway.ts'
import { resourceSpans, span, traceId } from '../../../kit/otlp-data.ts'
import { type Bench, type Bundle, expecting, startReplay } from '../kit.ts'

const WRITER_GONE = 'its writer went before the span ended'

const started = async (test: TestContext): Promise<Bench> => {
  const bench = await startReplay()
  test.after(() => bench.close())
  return bench
}
/** The id of an exited process. */
const deadPid = async (): Promise<number> => {
  const child = spawn(process.execPath, ['-e', ''])
  await once(child, 'exit')
  return child.pid ?? 0
}
const open = { name: 'agent.run', id: 'root', status: 'running' }
const post = async (bench: Bench, more: object = {}): Promise<void> => {
  const body = {
    trace_id: 'left',
    status: 'running',
    spans: [open, { name: 'x', id: 'x', status: 'running' }],
    ...more,
  }
  const { status } = await bench.send('POST', '/api/v1/traces', body)
  assert.ok(status < 300)
}
const told = async (bench: Bench) => {
  const { run, spans } = expecting<Bundle>(200, await bench.send('GET', '/api/v1/runs/left'))
  return [run.status, ...spans.map(({ status, status_message, end_ns }) => [status, status_message, end_ns === null])]
}

it('a client’s run ends only after its process has exited', async (test) => {
  const bench = await started(test)
  await post(bench, { writer: `${hostname()}:${process.pid}` })
  await bench.gateway.storage.patch('runs', 'left', { writer: `${hostname()}:${process.pid}:0` })
  assert.equal(await endAbandonedRuns(bench.gateway), 0)
  await post(bench, { writer: `${hostname()}:${await deadPid()}` })
  assert.equal(await endAbandonedRuns(bench.gateway), 1)
  assert.deepEqual(await told(bench), ['error', ['error', WRITER_GONE, false], ['error', WRITER_GONE, false]])
  assert.equal(await endAbandonedRuns(bench.gateway), 0)
})

it('a process on another host is not assumed to have exited', async (test) => {
  const bench = await started(test)
  await post(bench, { writer: `another-host:${await deadPid()}` })
  assert.equal(await endAbandonedRuns(bench.gateway), 0)
})

it('a run without a named process ends with its gateway, and its spans run again when the client continues', async (test) => {
  const bench = await started(test)
  await post(bench)
  assert.equal(await endAbandonedRuns(bench.gateway), 0)
  await bench.gateway.storage.patch('runs', 'left', { writer: `${hostname()}:${await deadPid()}:0` })
  assert.equal(await endAbandonedRuns(bench.gateway), 1)
  assert.equal((await told(bench))[0], 'error')
  await post(bench)
  assert.deepEqual(await told(bench), ['running', ['running', null, true], ['running', null, true]])
  await post(bench, { status: 'ok', spans: [{ ...open, status: 'ok', end_ns: `${Date.now()}000000` }] })
  assert.deepEqual((await told(bench)).slice(0, 2), ['ok', ['ok', null, false]])
})

it('a run without an open span also ends', async (test) => {
  const bench = await started(test)
  await post(bench, { spans: [] })
  await bench.gateway.storage.patch('runs', 'left', { writer: `${hostname()}:${await deadPid()}:0` })
  assert.equal(await endAbandonedRuns(bench.gateway), 1)
  assert.equal((await told(bench))[0], 'error')
})

it('open spans of a client in a run of the gateway end with the client', async (test) => {
  const bench = await started(test)
  const run = { trace_id: 'left' }
  const none = { events: [], artifacts: [] }
  const ended = [{ id: 'g', name: 'gen_ai.request', status: 'ok', end_ns: 2n ** 60n }]
  await bench.gateway.keep([{ owner: 'gateway', origin: 'gateway', run, spans: ended, ...none }])
  await post(bench, { status: undefined, spans: [{ name: 'x', id: 'x', status: 'running' }] })
  await bench.gateway.storage.patch('runs', 'left', { writer: `${hostname()}:${await deadPid()}:0` })
  assert.equal(await endAbandonedRuns(bench.gateway), 1)
  assert.equal(JSON.stringify(await told(bench)).includes('running'), false)
})

it('the process of an exporter is the one in its resource', async () => {
  const gateway = await startGateway()
  const resource = { 'host.name': hostname(), 'process.pid': { intValue: await deadPid() } }
  const body = resourceSpans([span({ endTimeUnixNano: '0' })], resource)
  assert.equal((await gateway.request('POST', '/v1/traces', body)).status, 200)
  const run = async () => ((await gateway.request('GET', `/api/v1/runs/${traceId}`)).json as Bundle).run
  assert.equal((await run()).status, 'running')
  assert.equal(await endAbandonedRuns(gateway.gateway), 1)
  assert.equal((await run()).status, 'error')
  await gateway.close()
})

it('a killed client of the SDK is identified by its process', async (test) => {
  const gateway = await startGateway()
  test.after(() => gateway.close())
  const script = `
    import { createGuard } from 'guard-gateway/sdk'
    const guard = createGuard({ baseUrl: '${gateway.url}', live: true, flushMs: 1 })
    void guard.trace('job', async () => {
      guard.span('done', () => {})
      await guard.span('step', () => new Promise((done) => setTimeout(done, 60_000)))
    })
  `
  const child = spawn(process.execPath, ['--conditions=guard-source', '--input-type=module', '-e', script], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  test.after(() => child.kill('SIGKILL'))
  const runs = async () => (await gateway.gateway.storage.find('runs', { limit: 10 })).rows
  while ((await runs()).length === 0) await setTimeout(20)
  assert.equal(await endAbandonedRuns(gateway.gateway), 0)
  child.kill('SIGKILL')
  await once(child, 'exit')
  assert.equal(await endAbandonedRuns(gateway.gateway), 1)
  assert.deepEqual(
    (await runs()).map(({ status }) => status),
    ['error'],
  )
})
