import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { TreeSpan } from '#lib/trace'
import { errorOf, type Service, startService } from '../../../kit/service.ts'
import type { Bundle } from '../kit.ts'
import { outputsOf, responses, type ToolCallTold, type ToolDialect, toolDialects } from './tool-calls.ts'

let service: Service
let sessions = 0
before(async () => {
  service = await startService()
})
after(() => service[Symbol.asyncDispose]())

const newSession = (): Readonly<Record<string, string>> => ({ 'x-guard-session-id': `tools-${++sessions}` })
type Headers = ReturnType<typeof newSession>

/** Sends turns with their results; the reply asks for these calls. Returns the id of the run. */
const ask = async (
  dialect: ToolDialect,
  headers: Headers,
  turns: readonly (readonly ToolCallTold[])[],
  calls: readonly ToolCallTold[] = [],
  more: object = {},
): Promise<string> => {
  service.provider.script({ body: JSON.stringify(dialect.reply(calls)) })
  const answer = await service.request('POST', dialect.path, { ...dialect.body(turns), ...more }, headers)
  assert.equal(answer.status, 200, answer.text)
  return String(answer.headers.get('x-guard-trace-id'))
}

const bundleOf = async (trace_id: string): Promise<Bundle> => {
  const { status, text, json } = await service.request('GET', `/api/v1/runs/${trace_id}`)
  assert.equal(status, 200, text)
  return json as Bundle
}

const toolsIn = ({ spans }: Bundle): readonly TreeSpan[] => spans.filter(({ kind }) => kind === 'tool')
const requestsIn = ({ spans }: Bundle): readonly TreeSpan[] => spans.filter(({ kind }) => kind === 'model')

/** Tool, status, and which request of the run the call ended with. */
const toldIn = (bundle: Bundle): readonly unknown[] => {
  const starts = requestsIn(bundle).map(({ start_ns }) => String(start_ns))
  return toolsIn(bundle).map(({ label, status, end_ns }) => [
    label,
    status,
    end_ns === null ? null : starts.lastIndexOf(String(end_ns)),
  ])
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 2))

const read: ToolCallTold = { id: 'call_a', tool: 'read_file', args: { path: 'a.ts' }, result: 'export {}' }
const test: ToolCallTold = {
  id: 'call_b',
  tool: 'shell',
  args: { command: 'npm test' },
  result: '1 failed',
  failed: true,
}
const list: ToolCallTold = { id: 'call_c', tool: 'list', args: {}, result: '' }

describe('tool calls of a proxied run', () => {
  for (const dialect of toolDialects)
    it(`end with the first request that holds their result, in ${dialect.style}`, async () => {
      const headers = newSession()
      await ask(dialect, headers, [], [read])
      await pause()
      await ask(dialect, headers, [[read]], [test, list])
      await pause()
      await ask(dialect, headers, [[read], [test, list]], [{ ...read, id: 'call_d', tool: 'write' }])
      await pause()
      // the history comes again
      const trace_id = await ask(dialect, headers, [[read], [test, list], [{ ...read, id: 'call_d', tool: 'write' }]])
      const bundle = await bundleOf(trace_id)
      assert.deepEqual(toldIn(bundle).toSorted(), [
        ['list', 'ok', 2],
        ['read_file', 'ok', 1],
        ['shell', 'error', 2],
        ['write', 'ok', 3],
      ])
      const [shell] = toolsIn(bundle).filter(({ label }) => label === 'shell')
      assert.equal(shell?.attributes['guard.tool.observed'], 'next_request')
      assert.equal(shell?.attributes['error.type'], 'tool_error')
      // a failing tool is no failing run
      assert.deepEqual([bundle.run.status, bundle.run.failure_tag], ['ok', null])
    })

  it('are open while no request holds their result, and keep no run running', async () => {
    const headers = newSession()
    const trace_id = await ask(responses, headers, [], [read, test])
    const bundle = await bundleOf(trace_id)
    assert.deepEqual(toldIn(bundle), [
      ['read_file', 'unset', null],
      ['shell', 'unset', null],
    ])
    assert.deepEqual([bundle.run.status, bundle.run.end_ns === null], ['ok', false])
    const rows = (await service.request('GET', `/api/v1/runs/${trace_id}/rows`)).json as {
      readonly columns: readonly string[]
      readonly rows: readonly (readonly unknown[])[]
    }
    const of = (name: string): readonly unknown[] => rows.rows.map((row) => row[rows.columns.indexOf(name)])
    assert.deepEqual(of('time_known').slice(2), [false, false])
    assert.deepEqual(of('duration_ns').slice(2), [null, null])
    const page = await service.request('GET', `/replay/${trace_id}`)
    assert.match(page.text, /no result seen/)
    // an export does not run either
    const otel = await service.request('GET', `/api/v1/runs/${trace_id}/export?format=otel`)
    const imported = await service.request('POST', '/api/v1/runs/import', otel.text)
    const [{ trace_id: copy = '' } = {}] = (imported.json as { imported: { trace_id: string }[] }).imported
    const again = await bundleOf(copy)
    assert.deepEqual([again.run.status, toldIn(again)], ['ok', toldIn(bundle)])
  })

  it('that a chained request answers end with it', async () => {
    const headers = newSession()
    await ask(responses, headers, [], [read, test])
    await pause()
    const more = { previous_response_id: `resp_${read.id}`, input: outputsOf([read, test]) }
    const trace_id = await ask(responses, headers, [], [list], more)
    await pause()
    await ask(responses, headers, [], [], { previous_response_id: `resp_${list.id}`, input: outputsOf([list]) })
    assert.deepEqual(toldIn(await bundleOf(trace_id)), [
      ['read_file', 'ok', 1],
      ['shell', 'error', 1],
      ['list', 'ok', 2],
    ])
  })

  it('that are equal and made at once all end; of others each for itself', async () => {
    const headers = newSession()
    const twin = { ...read, id: 'call_twin' }
    const other = { ...read, id: 'call_other', args: { path: 'b.ts' }, failed: true }
    const late = { id: 'call_late', tool: 'fetch', args: {} }
    await ask(responses, headers, [], [read, twin, other, late])
    await pause()
    const trace_id = await ask(responses, headers, [[read, twin, other, late]])
    assert.deepEqual(toldIn(await bundleOf(trace_id)), [
      ['read_file', 'ok', 1],
      ['read_file', 'ok', 1],
      ['read_file', 'error', 1],
      ['fetch', 'unset', null],
    ])
  })

  it('end with a request that is blocked, too', async () => {
    await service.policy(
      { mode: 'enforce', rules: [{ rule_type: 'max_requests', action: 'block', threshold: 1 }] },
      'stopped',
    )
    const headers = { ...newSession(), 'x-guard-project-id': 'stopped' }
    const trace_id = await ask(responses, headers, [], [test])
    await pause()
    const refused = await service.request('POST', responses.path, responses.body([[test]]), headers)
    assert.equal(errorOf(refused).code, 'LIMIT_REQUESTS', refused.text)
    assert.deepEqual(toldIn(await bundleOf(trace_id)), [['shell', 'error', 1]])
  })

  it('are read alike in pages and at once', async () => {
    const headers = newSession()
    const turns: ToolCallTold[][] = []
    let trace_id = ''
    for (let turn = 0; turn < 100; turn++) {
      const calls = [
        { ...read, id: `call_${turn}`, args: { path: `${turn}.ts` } },
        { ...test, id: `test_${turn}`, args: { command: `npm test ${turn}` }, failed: turn % 3 === 0 },
      ]
      trace_id = await ask(responses, headers, turns, calls)
      turns.push(calls)
    }
    const bundle = await bundleOf(trace_id)
    assert.ok(bundle.spans.length > 256)
    const failed = toolsIn(bundle).filter(({ status }) => status === 'error')
    assert.equal(failed.length, 33)
    const rows = (await service.request('GET', `/api/v1/runs/${trace_id}/rows?limit=2000`)).json as {
      readonly columns: readonly string[]
      readonly rows: readonly (readonly unknown[])[]
    }
    const statuses = rows.rows.map((row) => [row[0], row[rows.columns.indexOf('status')]])
    assert.deepEqual(
      bundle.spans.map(({ id, status }) => [id, status]),
      statuses,
    )
    assert.equal(toolsIn(bundle).filter(({ status }) => status === 'unset').length, 2)
  })
})

it('a run is found by a tool that failed', async () => {
  const failed = { id: 'call_x', tool: 'run', args: {}, result: 'no such file', failed: true }
  const passed = { ...failed, id: 'call_y', failed: false }
  const dialect = toolDialects.find(({ style }) => style === 'messages') as ToolDialect
  const ids: string[] = []
  for (const call of [failed, passed]) {
    const headers = newSession()
    await ask(dialect, headers, [], [call])
    ids.push(await ask(dialect, headers, [[call]]))
  }
  const { json } = await service.request(
    'GET',
    '/api/v1/runs?attribute=error.type%3Dtool_error&attribute=gen_ai.tool.name%3Drun',
  )
  const found = (json as { readonly runs: readonly { readonly trace_id: string }[] }).runs.map(
    ({ trace_id }) => trace_id,
  )
  assert.ok(found.includes(ids[0] ?? ''))
  assert.ok(!found.includes(ids[1] ?? ''))
})
