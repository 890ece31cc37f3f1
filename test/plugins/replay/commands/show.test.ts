import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { main } from '../../../../presets/default/main.ts'
import { type Started, startGateway } from '../../../kit/gateway.ts'
import { fakeIo } from '../../../kit/io.ts'

const at = (ms: number): string => String(1_782_000_000_000_000_000n + BigInt(ms) * 1_000_000n)
const decision = (decision: string, reason_code: string | null, ms: number) => ({
  name: 'policy.decision',
  time_ns: at(ms),
  attributes: { decision, reason_code },
})
const trace = {
  trace_id: 'run-2',
  name: 'fix\nbug',
  start_ns: at(0),
  end_ns: at(1000),
  events: [{ name: 'file.change', time_ns: at(900) }],
  spans: [
    { id: 'b', name: 'tool.call', start_ns: at(250), end_ns: at(500), attributes: { 'gen_ai.tool.name': 'ls' } },
    { id: 'a', name: 'tool.call', start_ns: at(0), end_ns: at(250), events: [decision('allow', null, 10)] },
    {
      id: 'c',
      name: 'bash\u001b[31m',
      status: 'error',
      start_ns: at(500),
      end_ns: at(1000),
      events: [decision('block', 'LOOP_EXACT', 1000)],
      spans: [{ id: 'd', name: 'inner', start_ns: at(1000), end_ns: at(1000) }],
    },
  ],
}

const bar = (from: number, to: number): string => `${' '.repeat(from)}├${'─'.repeat(to - from - 1)}┤`

describe('replay show', () => {
  let cwd = ''
  let gateway: Started
  before(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'guard-show-'))
    gateway = await startGateway({ upstream: 'http://127.0.0.1:1' })
    const { status, text } = await gateway.request('POST', '/api/v1/traces', trace)
    assert.equal(status, 201, text)
    const config = `gateway_key: ${gateway.key}\nserver: { port: ${new URL(gateway.url).port} }\nstorage: { backend: memory }\n`
    await writeFile(join(cwd, 'guard-config.yml'), config, { mode: 0o600 })
  })
  after(async () => {
    await gateway.close()
    await rm(cwd, { recursive: true, force: true })
  })
  const show = async (argv: readonly string[], { env = {}, tty = false } = {}) => {
    const io = fakeIo({ cwd, env: { OPENAI_API_KEY: 'sk-openai', ...env }, tty })
    const code = await main(['replay', 'show', ...argv], io)
    return { code, out: io.outText(), err: io.errText() }
  }
  const lines = async (...argv: readonly string[]): Promise<readonly string[]> => {
    const { code, out, err } = await show(argv)
    assert.equal(code, 0, err)
    return out.trimEnd().split('\n')
  }

  it('prints spans as a tree over time, with decisions, without control characters', async () => {
    const rows = await lines('run-2')
    const row = (name: string, drawn: string, took: string, rest: string): string =>
      `${name.padEnd(13)} ${drawn.padEnd(42)} ${took.padStart(8)} ${rest}`
    assert.deepEqual(rows, [
      'fix bug  error  tag loop  1.0s  0 tokens  cost 0  (why: LOOP_EXACT in bash#1)',
      row('agent.run', bar(0, 41), '1.0s', 'error'),
      row('  tool.call#1', bar(0, 10), '250ms', 'ok      allow (client)'),
      row('  tool.call#2', bar(10, 21), '250ms', 'ok      ls'),
      row('  bash#1', bar(21, 41), '500ms', 'error   block LOOP_EXACT (client)'),
      row('    inner#1', `${' '.repeat(41)}│`, '0ms', 'ok'),
    ])
  })
  it('distinguishes decisions of the gateway from a client’s', async () => {
    const body = { model: 'm', messages: [{ role: 'user', content: 'hi' }] }
    assert.equal((await gateway.request('POST', '/v1/chat/completions', body)).status, 502)
    const { json } = await gateway.request('GET', '/api/v1/runs?origin=gateway')
    const [run] = (json as { runs: { trace_id: string }[] }).runs
    const [, , span] = await lines(run?.trace_id ?? '')
    assert.match(span ?? '', /^ {2}gen_ai\.request#1 .* allow$/)
  })
  it('prints complete decision codes on any width', async () => {
    const { json } = await gateway.request('POST', '/api/demo/run', { scenario: 'error-retry', mode: 'shadow' })
    const { trace_ids } = json as { trace_ids: readonly string[] }
    for (const width of ['60', '80'])
      assert.match((await lines(trace_ids[0] ?? '', '--width', width)).join('\n'), / shadow_flag LOOP_ERROR_RETRY$/m)
  })
  it('prints why an agent’s request was blocked', async () => {
    const { json } = await gateway.request('POST', '/api/demo/run', { scenario: 'exact-loop', mode: 'enforce' })
    const { trace_ids } = json as { trace_ids: readonly string[] }
    assert.match((await lines(trace_ids[0] ?? ''))[0] ?? '', / tag loop .*\(why: LOOP_EXACT in gen_ai\.request#3\)$/)
  })
  it('prints tokens and cost in each line, and why a request failed', async () => {
    const usage = { 'gen_ai.usage.input_tokens': 1200, 'gen_ai.usage.output_tokens': 30, 'guard.cost_micro': 450000 }
    const model = { name: 'chat', kind: 'model', start_ns: at(0), end_ns: at(900), attributes: usage }
    const failed = { ...model, status: 'error', attributes: { 'http.response.status_code': 529, 'error.type': 'busy' } }
    await gateway.request('POST', '/api/v1/traces', { trace_id: 'paid', spans: [model, failed] })
    const [, , first, second] = await lines('paid', '--width', '120')
    assert.match(first ?? '', / 900ms +1,230 +0\.45 ok/)
    assert.match(second ?? '', / error +529 busy$/)
  })
  it('prints calls by model and tool with --use', async () => {
    const [head, ...rows] = await lines('run-2', '--use')
    assert.match(head ?? '', /model, tool or command +calls +errors +p50 +p95 +in +cached +out +cost/)
    assert.match(rows.join('\n'), /^tool +ls +1 +250ms +250ms/m)
    const { out } = await show(['run-2', '--use', '--json'])
    const [tool] = (JSON.parse(out) as { uses: readonly Record<string, unknown>[] }).uses
    assert.deepEqual([tool?.kind, tool?.calls, tool?.p50_ns], ['tool', 1, 250_000_000])
  })
  it('selects spans by name and name#n with descendants, and events', async () => {
    const titles = async (...argv: readonly string[]) =>
      (await lines('run-2', ...argv)).slice(1).map((line) => line.split(/ {2,}[├│•]| [├│•]/, 1)[0]?.trim())
    assert.deepEqual(await titles('--spans', 'tool.call#2'), ['tool.call#2'])
    assert.deepEqual(await titles('--spans', 'tool.call'), ['tool.call#1', 'tool.call#2'])
    assert.deepEqual(await titles('--spans', 'inner,tool.call#1'), ['tool.call#1', 'inner#1'])
    assert.deepEqual(await titles('--events'), [
      'agent.run',
      'tool.call#1',
      'policy.decision',
      'tool.call#2',
      'bash#1',
      'policy.decision',
      'inner#1',
      'file.change',
    ])
    const { code, err } = await show(['run-2', '--spans', 'nothing'])
    assert.equal(code, 2)
    assert.match(err, /No span of the run is called nothing/)
  })
  it('has the requested width, and rejects an invalid one', async () => {
    for (const width of ['60', '200'])
      for (const line of (await lines('run-2', '--width', width)).slice(1))
        assert.ok(line.length <= Number(width), line)
    assert.ok((await lines('run-2', '--width', '200')).some((line) => line.length > 150))
    const span = (ms: number) => ({ name: 'retrieval.of.documents', start_ns: at(ms), end_ns: at(ms + 1) })
    await gateway.request('POST', '/api/v1/traces', { trace_id: 'narrow', start_ns: at(0), spans: [span(0), span(1)] })
    for (const locale of ['en_US.UTF-8', 'C']) {
      const { out } = await show(['narrow', '--width', '60'], { env: { LANG: locale } })
      const sign = locale === 'C' ? '~' : '…'
      assert.match(out, new RegExp(`^ {2}retrieval.of.do${sign}#1 .*\n {2}retrieval.of.do${sign}#2 `, 'm'))
    }
    for (const width of ['59', '1001', 'wide']) assert.equal((await show(['run-2', '--width', width])).code, 2, width)
  })
  it('prints colours on a terminal only, and ASCII if the locale lacks Unicode', async () => {
    const red = '\u001b[31m'
    assert.ok((await show(['run-2'], { tty: true })).out.includes(`${red}error`))
    for (const env of [{ NO_COLOR: '1' }, { TERM: 'dumb' }])
      assert.ok(!(await show(['run-2'], { tty: true, env })).out.includes('\u001b'))
    assert.ok(!(await show(['run-2', '--no-color'], { tty: true })).out.includes('\u001b'))
    assert.ok((await show(['run-2'], { env: { FORCE_COLOR: '1' } })).out.includes(red))
    const { out } = await show(['run-2'], { env: { LANG: 'C' } })
    assert.match(out, /\|-+\|/)
    assert.match(out, /^[\n -~]+$/)
  })
  it('names a missing run, and prints the response with --json', async () => {
    assert.equal((await show(['nobody'])).code, 1)
    assert.equal(JSON.parse((await show(['run-2', '--json'])).out).run.trace_id, 'run-2')
  })
  it('finds a run by the beginning of its id, however many are newer', async () => {
    const record = (trace_id: string) =>
      gateway.request('POST', '/api/v1/traces', { trace_id, name: 'one of many', spans: [{ name: 'step' }] })
    const old = '5eed0000000000000000000000000001'
    await record(old)
    for (let newer = 0; newer < 205; newer++) await record((0xa0000000 + newer).toString(16).padEnd(32, '7'))
    assert.equal(JSON.parse((await show(['5eed', '--json'])).out).run.trace_id, old)
  })
})
