import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Attributes } from 'guard-gateway/core'
import { type Bench, type Bundle, expecting, startReplay } from '../kit.ts'

const FILE = `version: 1
currency: USD
models:
  m:
    input: 2000000
    output: 10000000
    cache_read: 200000
    cache_write_5m: 2500000
    cache_write_1h: 4000000
    reasoning: 20000000
    tiers: [{ above: 200000, input: 4000000, output: 15000000 }]
    service_tiers: { batch: 0.5 }
    regions: { us: 1.1 }
`
const usage = (counts: Readonly<Record<string, number>>): Attributes =>
  Object.fromEntries(Object.entries(counts).map(([name, value]) => [`gen_ai.usage.${name}`, value]))
const model = (name: string): Attributes => ({ 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': name })

const cases: readonly (readonly [
  name: string,
  attributes: Attributes,
  cost: number | undefined,
  source: string | undefined,
])[] = [
  ['input and output', { ...model('m'), ...usage({ input_tokens: 1_000, output_tokens: 100 }) }, 3_000, 'priced'],
  [
    'an agent that tells usage and no calls',
    { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.request.model': 'm', ...usage({ input_tokens: 1_000 }) },
    2_000,
    'priced',
  ],
  [
    'cached reads and writes within the input',
    {
      ...model('m'),
      ...usage({
        input_tokens: 6_000,
        'cache_read.input_tokens': 2_000,
        'cache_creation.input_tokens': 3_000,
        output_tokens: 0,
      }),
      'guard.usage.cache_creation_1h.input_tokens': 1_000,
    },
    2_000 + 400 + 5_000 + 4_000,
    'priced',
  ],
  [
    'writes of an hour are no more than all writes',
    {
      ...model('m'),
      ...usage({ input_tokens: 1_000, 'cache_creation.input_tokens': 1_000 }),
      'guard.usage.cache_creation_1h.input_tokens': 9_000,
    },
    4_000,
    'priced',
  ],
  [
    'input that leaves out more cached tokens than it has',
    {
      ...model('m'),
      ...usage({ input_tokens: 1_000, 'cache_read.input_tokens': 4_000, 'cache_creation.input_tokens': 300 }),
    },
    2_000 + 800 + 750,
    'priced',
  ],
  [
    'reasoning',
    { ...model('m'), ...usage({ output_tokens: 100, 'reasoning.output_tokens': 40 }) },
    600 + 800,
    'priced',
  ],
  ['a long prompt', { ...model('m'), ...usage({ input_tokens: 200_001 }) }, 800_004, 'priced'],
  ...['openai.response.service_tier', 'gen_ai.response.service_tier', 'gen_ai.openai.response.service_tier'].map(
    (name) => [name, { ...model('m'), ...usage({ input_tokens: 1_000 }), [name]: 'batch' }, 1_000, 'priced'] as const,
  ),
  [
    'the tier that answered, not the one that was asked for',
    {
      ...model('m'),
      ...usage({ input_tokens: 1_000 }),
      'openai.request.service_tier': 'batch',
      'openai.response.service_tier': 'default',
    },
    2_000,
    'priced',
  ],
  ['a region in the name', { ...model('us.vendor.m-v1:0'), ...usage({ input_tokens: 1_000 }) }, 2_200, 'priced'],
  [
    'a region in an attribute',
    { ...model('m'), ...usage({ input_tokens: 1_000 }), 'guard.inference_geo': 'us' },
    2_200,
    'priced',
  ],
  [
    'a provider before the name',
    { ...model('openrouter/vendor/M'), ...usage({ input_tokens: 1_000 }) },
    2_000,
    'priced',
  ],
  ['no price', { ...model('n'), ...usage({ input_tokens: 1_000 }) }, 0, 'unpriced'],
  [
    'no price, and the sender told a cost',
    { ...model('n'), ...usage({ input_tokens: 1_000 }), 'guard.cost_told_micro': 77 },
    77,
    'told',
  ],
  [
    'a price goes before what the sender told',
    { ...model('m'), ...usage({ input_tokens: 1_000 }), 'guard.cost_told_micro': 77 },
    2_000,
    'priced',
  ],
  ['told nonsense', { ...model('n'), ...usage({ input_tokens: 1_000 }), 'guard.cost_told_micro': -7 }, 0, 'unpriced'],
  [
    'a cost of its writer stays',
    { ...model('m'), ...usage({ input_tokens: 1_000 }), 'guard.cost_micro': 5 },
    5,
    undefined,
  ],
]

describe('a span', () => {
  let bench: Bench
  let folder = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'guard-prices-'))
    await writeFile(join(folder, 'prices.yml'), FILE)
    bench = await startReplay({ pricing: join(folder, 'prices.yml') })
  })
  after(async () => {
    await bench.close()
    await rm(folder, { recursive: true, force: true })
  })

  for (const [index, [name, attributes, cost, source]] of cases.entries())
    it(`costs: ${name}`, async () => {
      const trace_id = `span-${index}`
      await bench.send('POST', '/api/v1/traces', { trace_id, spans: [{ name: 'chat', attributes }] })
      const { run, spans } = expecting<Bundle>(200, await bench.send('GET', `/api/v1/runs/${trace_id}`))
      assert.deepEqual(
        [run.cost_micro, spans[1]?.attributes['guard.cost_micro'], spans[1]?.attributes['guard.cost_source']],
        [cost, cost, source],
      )
    })

  it('costs what its sender told in dollars, unless other costs are in another currency', async (test) => {
    const attributes = { ...model('n'), ...usage({ input_tokens: 1_000 }), 'guard.cost_told_micro': 77 }
    const euros = join(folder, 'euros.yml')
    await writeFile(euros, 'version: 1\ncurrency: EUR\nmodels: {}\n')
    for (const [options, cost, source] of [
      [{}, 77, 'told'],
      [{ pricing: euros }, 0, 'unpriced'],
    ] as const) {
      const other = await startReplay(options)
      test.after(() => other.close())
      await other.send('POST', '/api/v1/traces', { trace_id: 'told', spans: [{ name: 'chat', attributes }] })
      const { run, spans } = expecting<Bundle>(200, await other.send('GET', '/api/v1/runs/told'))
      assert.deepEqual([run.cost_micro, spans[1]?.attributes['guard.cost_source']], [cost, source])
    }
  })
})
