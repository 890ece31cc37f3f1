import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type Bench, type Bundle, expecting, startReplay } from '../kit.ts'

const PRICES = 'version: 1\ncurrency: USD\nmodels: { example: { input: 1000000, output: 2000000 } }\n'
const MODEL = { 'gen_ai.request.model': 'example' }
const USE = { 'gen_ai.usage.input_tokens': 3, 'gen_ai.usage.output_tokens': 5 }

describe('a span in several parts', () => {
  let bench: Bench
  let folder = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'guard-parts-'))
    await writeFile(join(folder, 'prices.yml'), PRICES)
    bench = await startReplay({ pricing: join(folder, 'prices.yml') })
  })
  after(async () => {
    await bench.close()
    await rm(folder, { recursive: true })
  })
  /** Sends the parts of a span, one per request, and returns its run. */
  const sent = async (trace_id: string, ...parts: readonly object[]) => {
    for (const part of parts) {
      const body = { trace_id, id: 's', name: 'ask', start_ns: 1_780_000_000_000_000_000, ...part }
      assert.ok((await bench.send('POST', '/api/v1/spans', body)).status < 300)
    }
    const { run, spans } = expecting<Bundle>(200, await bench.send('GET', `/api/v1/runs/${trace_id}`))
    return { run, span: spans[1] }
  }
  const found = async (query: string) => {
    const list = expecting<{ runs: { trace_id: string }[] }>(200, await bench.send('GET', `/api/v1/runs?${query}`))
    return list.runs.map(({ trace_id }) => trace_id)
  }

  const orders = [
    [
      'model, then use',
      [
        { status: 'running', attributes: MODEL },
        { status: 'ok', attributes: USE },
      ],
    ],
    ['use, then model', [{ attributes: USE }, { attributes: MODEL }]],
    ['both, then the model again', [{ attributes: { ...MODEL, ...USE } }, { attributes: MODEL }]],
    ['nothing, then both', [{ status: 'running' }, { status: 'ok', attributes: { ...MODEL, ...USE } }]],
  ] as const
  for (const [at, [name, parts]] of orders.entries())
    it(`has the model, tokens and cost of all its parts: ${name}`, async () => {
      const { run, span } = await sent(`order-${at}`, ...parts)
      assert.deepEqual([span?.kind, run.total_tokens, run.cost_micro], ['model', 8, 13])
      assert.equal(span?.attributes['guard.cost_source'], 'priced')
    })

  it('keeps an explicit kind and price', async () => {
    const { span } = await sent('named', { kind: 'tool' }, { attributes: MODEL })
    assert.equal(span?.kind, 'tool')
    const own = await sent('own', { attributes: { ...USE, 'guard.cost_micro': 7 } }, { attributes: MODEL })
    assert.deepEqual([own.run.cost_micro, own.span?.attributes['guard.cost_source']], [7, undefined])
  })

  it('has ended if its end arrives without a status', async () => {
    const end_ns = '1780000000000000512'
    const { run, span } = await sent('ended', { status: 'running' }, { end_ns })
    assert.deepEqual([span?.status, run.status], ['ok', 'ok'])
    const told = await sent('failed', { status: 'error' }, { end_ns })
    assert.equal(told.span?.status, 'error')
    const going = await sent('going', { status: 'running' }, { attributes: MODEL })
    assert.equal(going.span?.status, 'running')
  })

  it('is found by later words after it was no longer evidence for a failure', async () => {
    await sent('words', { status: 'timeout' }, { status: 'ok', attributes: { note: 'recovered', ...MODEL } })
    assert.deepEqual(await found('q=recovered'), ['words'])
    assert.ok((await found('model=example')).includes('words'))
    assert.deepEqual(await found('failure_tag=timeout'), [])
  })
})
