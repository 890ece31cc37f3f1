import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { noUsage, type Usage } from 'guard-gateway/core'
import { chargeOf, costOf, type Terms } from '../../../../plugins/replay/pricing/cost.ts'
import { type Prices, readPrices } from '../../../../plugins/replay/pricing/prices.ts'

const FILE = `version: 1
currency: USD
as_of: 2026-11-20
sources:
  maker: { url: https://example.com/pricing, read: 2026-11-20 }
models:
  large:
    input: 2000000
    output: 10000000
    cache_read: 200000
    cache_write_5m: 2500000
    cache_write_1h: 4000000
    tiers:
      - { above: 200000, input: 4000000, output: 15000000, cache_read: 400000, cache_write_5m: 5000000, cache_write_1h: 8000000 }
      - { above: 1000000, input: 6000000, output: 20000000 }
    service_tiers:
      batch: 0.5
      flex: { input: 1200000, output: 6000000 }
      priority:
        input: 3500000
        output: 28000000
        tiers: [{ above: 500000, input: 7000000, output: 56000000 }]
    regions: { us: 1.1, eu: 1.25 }
    source: maker
    note: Until the end of the year.
  "large-*": { same_as: large }
  odd: { input: 3, output: 7, regions: { us: 1.1, eu: 1.3333 }, service_tiers: { batch: 0.0001 } }
`

let prices: Prices
before(async () => {
  prices = await readPrices(FILE)
})

const M = 1_000_000
const micro = (model: string, counts: Partial<Usage>, terms: Terms = {}): bigint => {
  const found = prices.find(model)
  assert.ok(found !== undefined)
  const usage = { ...noUsage, ...counts }
  const { price, factors } = chargeOf(found.value, usage, { ...terms, region: found.region ?? terms.region })
  return costOf(price, usage, factors)
}

describe('the price of a request', () => {
  const cases: readonly (readonly [name: string, model: string, usage: Partial<Usage>, terms: Terms, micro: bigint])[] =
    [
      ['the usual one', 'large', { input_tokens: 100_000, output_tokens: 1_000 }, {}, 210_000n],
      ['at a limit', 'large', { input_tokens: 200_000 }, {}, 400_000n],
      ['above a limit, all of it', 'large', { input_tokens: 200_001, output_tokens: 1_000 }, {}, 815_004n],
      [
        'cached input counts for the limit',
        'large',
        { input_tokens: 1, cache_read_tokens: 150_000, cache_write_tokens: 50_000, cache_write_1h_tokens: 20_000 },
        {},
        4n + 60_000n + 150_000n + 160_000n,
      ],
      ['the highest limit that is passed', 'large', { input_tokens: M + 1, cache_read_tokens: M }, {}, 12_000_006n],
      ['output does not count for the limit', 'large', { input_tokens: 1, output_tokens: M }, {}, 10_000_002n],
      [
        'cache writes of both lifetimes',
        'large',
        { cache_write_tokens: 3_000, cache_write_1h_tokens: 1_000 },
        {},
        9_000n,
      ],
      ['batch', 'large', { input_tokens: 1_000, output_tokens: 100 }, { service_tier: 'batch' }, 1_500n],
      ['batch above a limit', 'large', { input_tokens: 300_000 }, { service_tier: 'batch' }, 600_000n],
      [
        'flex, with prices of its own',
        'large',
        { input_tokens: M, cache_read_tokens: 0 },
        { service_tier: 'flex' },
        1_200_000n,
      ],
      ['flex has no tiers here', 'large', { input_tokens: 2 * M }, { service_tier: 'flex' }, 2_400_000n],
      ['priority', 'large', { input_tokens: 1_000, output_tokens: 1_000 }, { service_tier: 'priority' }, 31_500n],
      ['priority above its own limit', 'large', { input_tokens: 600_000 }, { service_tier: 'priority' }, 4_200_000n],
      ['fast is priority', 'large', { input_tokens: 1_000 }, { service_tier: 'fast' }, 3_500n],
      ['as Vertex AI names it', 'large', { input_tokens: 1_000 }, { service_tier: 'ON_DEMAND_FLEX' }, 1_200n],
      ...['default', 'standard', 'auto', 'ON_DEMAND', '', 'scale', 'unheard-of'].map(
        (service_tier) =>
          [`${service_tier} is the usual one`, 'large', { input_tokens: 1_000 }, { service_tier }, 2_000n] as const,
      ),
      ['a region', 'large', { input_tokens: 1_000 }, { region: 'us' }, 2_200n],
      ['a region and batch', 'large', { input_tokens: 1_000 }, { region: 'US', service_tier: 'batch' }, 1_100n],
      ['a region without a factor', 'large', { input_tokens: 1_000 }, { region: 'global' }, 2_000n],
      ['a region in the name', 'eu.vendor.large-v1:0', { input_tokens: 1_000 }, {}, 2_500n],
      ['the name says more than the reply', 'eu.vendor.large-v1:0', { input_tokens: 1_000 }, { region: 'us' }, 2_500n],
      ['a pattern', 'large-next', { input_tokens: 1_000 }, { region: 'us' }, 2_200n],
      // 375,009 × 1.3333 is 499,999.4997
      ['just below a half', 'odd', { input_tokens: 125_003 }, { region: 'eu' }, 0n],
      ['just above it', 'odd', { input_tokens: 125_004 }, { region: 'eu' }, 1n],
      ['half up', 'odd', { input_tokens: 151_515, output_tokens: 0 }, { region: 'us' }, 0n],
      ['and just above', 'odd', { input_tokens: 151_516 }, { region: 'us' }, 1n],
      ['a small factor', 'odd', { input_tokens: 1e12 }, { service_tier: 'batch' }, 300n],
      ['large counts are exact', 'large', { output_tokens: 999_999_999_999 }, {}, 9_999_999_999_990n],
    ]
  for (const [name, model, usage, terms, expected] of cases)
    it(name, () => {
      assert.equal(micro(model, usage, terms), expected)
    })

  it('says which parts apply', () => {
    const entry = prices.find('large')?.value
    assert.ok(entry !== undefined)
    const usage = { ...noUsage, input_tokens: 300_000 }
    const { above, service_tier, region } = chargeOf(entry, usage, { service_tier: 'Batch', region: 'us' })
    assert.deepEqual([above, service_tier, region], [200_000, 'batch', 'us'])
    assert.deepEqual([entry.source, entry.note], ['maker', 'Until the end of the year.'])
    assert.deepEqual([prices.as_of, prices.sources.get('maker')?.read], ['2026-11-20', '2026-11-20'])
  })
})

describe('a price file with an error', () => {
  const head = 'version: 1\ncurrency: USD\n'
  const model = (line: string) => `${head}models:\n  a:\n    input: 1\n    output: 1\n    ${line}`
  const cases: readonly (readonly [text: string, place: readonly [line: number, column: number], says: RegExp])[] = [
    [`${head}as_of: today\nmodels: {}`, [3, 1], /"as_of" must be a date/],
    [`${head}as_of: 2026-02-30\nmodels: {}`, [3, 1], /"as_of" must be a date/],
    [`${head}sources: [a]\nmodels: {}`, [3, 1], /"sources" must name sources/],
    [`${head}sources: { a: { url: here, read: 2026-01-01 } }\nmodels: {}`, [3, 17], /needs "url"/],
    [`${head}sources: { a: { url: "https://a.example" } }\nmodels: {}`, [3, 12], /needs "read"/],
    [`${head}sources: { a: { url: "https://a.example", read: 2026-01-01, by: me } }\nmodels: {}`, [3, 61], /no "by"/],
    [model('source: nobody'), [7, 5], /"source" must name one of "sources": there are none/],
    [model('note: 7'), [7, 5], /"note" must be text/],
    [model('tiers: { above: 1 }'), [7, 5], /"tiers" must be a list/],
    [model('tiers: [7]'), [7, 13], /a tier must be prices/],
    [model('tiers: [{ input: 1, output: 1 }]'), [7, 13], /"above" must be the input tokens/],
    [model('tiers: [{ above: 0, input: 1, output: 1 }]'), [7, 15], /"above" must be the input tokens/],
    [model('tiers: [{ above: 9, input: 1 }]'), [7, 13], /a price is an integer/],
    [model('tiers: [{ above: 9, input: 1, output: 1, tip: 1 }]'), [7, 46], /no "tip"/],
    [
      model('tiers: [{ above: 9, input: 1, output: 1 }, { above: 9, input: 2, output: 2 }]'),
      [7, 48],
      /two tiers above 9/,
    ],
    [model('service_tiers: [batch]'), [7, 5], /"service_tiers" must give names/],
    [model('service_tiers: { Batch: 0.5 }'), [7, 22], /lower case/],
    [model('service_tiers: { batch: half }'), [7, 22], /a factor is a number/],
    [model('service_tiers: { batch: -1 }'), [7, 22], /a factor is a number/],
    [model('service_tiers: { batch: 0.12345 }'), [7, 22], /at most four decimals/],
    [model('service_tiers: { batch: { input: 1 } }'), [7, 22], /a price is an integer/],
    [model('service_tiers: { batch: { input: 1, output: 1, service_tiers: {} } }'), [7, 52], /no "service_tiers"/],
    [model('regions: 1.1'), [7, 5], /"regions" must give names/],
    [model('regions: { us: 1e30 }'), [7, 16], /a factor is a number/],
    [model('regions: { us: { input: 1, output: 1 } }'), [7, 16], /a factor is a number/],
    [model('tier: {}'), [7, 5], /there is no "tier"; there is input/],
  ]
  for (const [text, place, says] of cases)
    it(`is refused with its place: ${says.source}, ${text.split('\n').at(-1)?.trim().slice(0, 60)}`, async () => {
      await assert.rejects(
        readPrices(text),
        (error: Error & { code?: string; place?: { line: number; column: number } }) => {
          assert.equal(error.code, 'INVALID_PRICING')
          assert.match(error.message, says)
          assert.deepEqual([error.place?.line, error.place?.column], place)
          return true
        },
      )
    })
})
