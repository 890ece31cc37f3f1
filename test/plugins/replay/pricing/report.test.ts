import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { PLAYGROUND_UPSTREAM } from '#lib/trace'
import type { PriceReport } from '../../../../plugins/replay/pricing/price-report.ts'
import { main } from '../../../../presets/default/main.ts'
import { type Started, startGateway } from '../../../kit/gateway.ts'
import { fakeIo } from '../../../kit/io.ts'
import { FakeProvider } from '../../../kit/provider.ts'
import { aCall, aDecision, aReading, settled } from '../../../kit/settled.ts'
import { expecting, startReplay } from '../kit.ts'

const today = new Date()
const dateOf = (daysAgo: number): string => new Date(today.getTime() - daysAgo * 86_400_000).toISOString().slice(0, 10)
const file = (as_of: string) => `version: 1
currency: EUR
as_of: ${as_of}
sources:
  maker: { url: https://example.com/pricing, read: ${as_of} }
models:
  m-1:
    input: 2000000
    output: 10000000
    tiers: [{ above: 200000, input: 4000000, output: 15000000 }]
    service_tiers: { batch: 0.5, priority: { input: 3500000, output: 28000000, tiers: [{ above: 9, input: 7, output: 8 }] } }
    regions: { us: 1.1 }
    source: maker
    note: Half price in winter.
`

describe('guard prices', () => {
  let cwd = ''
  let gateway: Started
  before(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'guard-prices-'))
    await writeFile(join(cwd, 'prices.yml'), file(dateOf(3)))
    gateway = await startGateway({
      folder: cwd,
      upstream: 'http://127.0.0.1:9',
      config: 'replay: { pricing: prices.yml }',
    })
    const span = (model: string, more: object = {}) => ({
      name: 'chat',
      attributes: { 'gen_ai.request.model': model, 'gen_ai.usage.input_tokens': 1_000, ...more },
    })
    const spans = [
      span('m-1'),
      span('vendor/m-1', { 'openai.response.service_tier': 'batch' }),
      span('m-1', { 'openai.response.service_tier': 'turbo' }),
      span('new\u001b[31m-model'),
      span('new\u001b[31m-model', { 'gen_ai.usage.input_tokens': 2_000 }),
      span('unused', { 'gen_ai.usage.input_tokens': 0 }),
    ]
    const { status, text } = await gateway.request('POST', '/api/v1/traces', { trace_id: 'run-1', spans })
    assert.equal(status, 201, text)
    const config = `gateway_key: guard_test_key_that_is_long_enough\nserver: { port: ${new URL(gateway.url).port} }\nstorage: { backend: memory }\n`
    await writeFile(join(cwd, 'guard-config.yml'), config, { mode: 0o600 })
  })
  after(async () => {
    await gateway.close()
    await rm(cwd, { recursive: true, force: true })
  })
  const guard = async (...argv: readonly string[]) => {
    const io = fakeIo({ cwd, env: { OPENAI_API_KEY: 'sk-openai' } })
    const code = await main(['prices', ...argv], io)
    return { code, out: io.outText(), err: io.errText() }
  }

  it('says which file is used, how old it is, and what has no price', async () => {
    const { code, out } = await guard()
    assert.equal(code, 0)
    assert.match(out, /^file {6}\S+prices\.yml$/m)
    assert.match(out, /^models {4}1 names and patterns, in EUR, version [0-9a-f]{12}$/m)
    assert.match(out, new RegExp(`^as of {5}${dateOf(3)}, 3 days ago$`, 'm'))
    assert.match(out, /^sources {3}maker, read \S+: https:\/\/example\.com\/pricing$/m)
    assert.match(out, /^without a price +calls +spans +tokens$/m)
    assert.match(out, /^new\S*model +0 +2 +3,000$/m)
    assert.match(out, /^m-1, service tier turbo +0 +1 +1,000$/m)
    assert.ok(!out.includes('\u001b') && !out.includes('unused') && !out.includes('batch'))
  })

  it('shows the entry of a model with its parts', async () => {
    const { code, out } = await guard('us.vendor.m-1-v1:0')
    assert.equal(code, 0)
    assert.match(out, /^entry {5}m-1, region us$/m)
    assert.match(out, /^price {5}input 2, output 10, cache read 2, cache write 5m 2, cache write 1h 2, reasoning 10$/m)
    assert.match(out, /^above 200,000 input tokens: input 4, output 15,/m)
    assert.match(out, /^batch {5}× 0\.5$/m)
    assert.match(out, /^priority {2}input 3\.5, output 28,/m)
    assert.match(out, /^priority, above 9 input tokens: input 0\.000007,/m)
    assert.match(out, /^in us {5}× 1\.1$/m)
    assert.match(out, /^source {4}https:\/\/example\.com\/pricing, read /m)
    assert.match(out, /^note {6}Half price in winter\.$/m)
  })

  it('answers as JSON, and with an error for a model without a price', async () => {
    const report = JSON.parse((await guard('--json')).out)
    assert.partialDeepStrictEqual(report, { status: 'ok', currency: 'EUR', models: 1, age_days: 3, stale: false })
    assert.deepEqual(report.unpriced.at(-1), { model: 'm-1', service_tier: 'turbo', calls: 0, spans: 1, tokens: 1_000 })
    const entry = JSON.parse((await guard('M-1', '--json')).out)
    assert.partialDeepStrictEqual(entry, {
      listed: 'm-1',
      region: null,
      input: 2_000_000,
      service_tiers: { batch: '0.5' },
    })
    const none = await guard('m-2')
    assert.notEqual(none.code, 0)
    assert.equal(JSON.parse((await guard('m-2', '--json')).err).error.code, 'NO_PRICE')
    assert.match(none.err, /There is no price for "m-2"\. The price file \S+prices\.yml has none\./)
    const { status, text } = await gateway.request('GET', '/api/v1/prices?modle=m-1')
    assert.deepEqual([status, JSON.parse(text).error.code], [400, 'UNKNOWN_FILTER'])
  })

  it('says that an old file is old, and what is wrong with a broken one', async () => {
    await writeFile(join(cwd, 'prices.yml'), file(dateOf(120)))
    assert.match((await guard()).out, /120 days ago: older than 90 days, look for newer prices/)
    assert.equal(JSON.parse((await guard('--json')).out).stale, true)
    await writeFile(join(cwd, 'prices.yml'), file('soon'))
    const { out } = await guard()
    assert.match(out, /^error {5}\S+prices\.yml:3:1: "as_of" must be a date/m)
    assert.match(out, /120 days ago/)
  })

  it('leaves out what the Playground plays', async (test) => {
    const bench = await startReplay()
    test.after(() => bench.close())
    for (const upstream of ['main', PLAYGROUND_UPSTREAM]) {
      const call = aCall({ id: `guardreq_${upstream}`, at: bench.clock.now() })
      await bench.gateway.hooks.decision.promise(aDecision(), call)
      await bench.settle(settled({ call, upstream, reading: aReading({ model: `m-${upstream}` }) }))
    }
    const { unpriced } = expecting<PriceReport>(200, await bench.send('GET', '/api/v1/prices'))
    assert.deepEqual(
      unpriced.map(({ model, calls }) => [model, calls]),
      [['m-main', 1]],
    )
  })

  it('names calls whose model has no price', async (test) => {
    await using provider = await new FakeProvider().listen()
    const other = await startGateway({ upstream: provider.url })
    test.after(() => other.close())
    const body = { model: 'm-9', messages: [{ role: 'user', content: 'Hi' }] }
    assert.equal((await other.request('POST', '/v1/chat/completions', body)).status, 200)
    const { status, text } = await other.request('GET', '/api/v1/prices')
    assert.equal(status, 200, text)
    assert.partialDeepStrictEqual(JSON.parse(text), {
      file: null,
      unpriced: [{ service_tier: null, calls: 1, spans: 0 }],
    })
  })
})
