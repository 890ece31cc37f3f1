import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { noUsage, type Usage } from 'guard-gateway/core'
import { chargeOf, costOf, type Entry, type Price, type Terms } from '../../../../plugins/replay/pricing/cost.ts'
import { type Prices, readPrices } from '../../../../plugins/replay/pricing/prices.ts'

const root = join(import.meta.dirname, '../../../..')
let prices: Prices
let text: string
before(async () => {
  text = await readFile(join(root, 'examples/prices.yml'), 'utf8')
  prices = await readPrices(text)
})

const half = { times: 5n, per: 10n }
/** Names of the file with their prices. */
const listed = () =>
  [...text.matchAll(/^ {2}"?([a-z0-9.-]+)"?:/gm)].flatMap(([, name = '']): [string, Entry][] => {
    const entry = prices.find(name)?.value
    return entry === undefined ? [] : [[name, entry]]
  })

const M = 1_000_000
const cost = (model: string, counts: Partial<Usage>, terms: Terms = {}): number => {
  const found = prices.find(model)
  assert.ok(found !== undefined, model)
  const usage = { ...noUsage, ...counts }
  const { price, factors } = chargeOf(found.value, usage, { ...terms, region: found.region ?? terms.region })
  return Number(costOf(price, usage, factors)) / M
}

describe('examples/prices.yml', () => {
  it('is dated, and gives each price a source with a date', () => {
    assert.match(prices.as_of ?? '', /^2026-/)
    assert.ok(prices.models > 100)
    for (const { url, read } of prices.sources.values()) {
      assert.ok(url.startsWith('https://'))
      assert.ok(read <= (prices.as_of ?? ''), `${url} was read after ${prices.as_of}`)
    }
    for (const [name, { source }] of listed())
      assert.ok(source !== null || name === 'local-model', `${name} has no source`)
  })

  it('has prices that fit each other', () => {
    for (const [name, entry] of listed()) {
      assert.ok(entry.cache_read <= entry.input && entry.input <= entry.output, name)
      let below: Price = entry
      for (const tier of entry.tiers.toReversed()) {
        assert.ok(tier.input > below.input && tier.output > below.output, `${name} above ${tier.above}`)
        assert.ok(tier.cache_read >= below.cache_read, `${name} above ${tier.above}`)
        below = tier
      }
      assert.deepEqual(entry.service_tiers.get('batch') ?? half, half, name)
    }
  })

  it('prices what providers bill, in dollars', () => {
    const bills: readonly (readonly [name: string, usage: Partial<Usage>, terms: Terms, dollars: number])[] = [
      ['gpt-6.2-sol', { input_tokens: M / 10, output_tokens: M / 10 }, {}, 0.2 + 1],
      ['openai/gpt-6.2-astra', { input_tokens: M, output_tokens: M }, {}, 16 + 60],
      ['gpt-5.4-2026-03-05', { input_tokens: 100_000 }, { service_tier: 'flex' }, 0.125],
      ['azure/gpt-5.4-mini', { cache_read_tokens: M }, { service_tier: 'priority' }, 0.15],
      ['claude-opus-5-5', { cache_write_tokens: M, cache_write_1h_tokens: M / 2 }, {}, 2.5 + 4],
      ['claude-opus-5-5[1m]', { input_tokens: M }, { service_tier: 'fast' }, 8],
      ['claude-opus-5-5', { input_tokens: M }, { region: 'us', service_tier: 'batch' }, 2.2],
      ['us.anthropic.claude-sonnet-4-6-20260217-v1:0', { output_tokens: M }, {}, 16.5],
      ['global.anthropic.claude-haiku-4-5-20251001-v1:0', { output_tokens: M }, {}, 5],
      ['anthropic/claude-haiku-5.5', { input_tokens: 60_000, cache_read_tokens: 40_001 }, {}, 0.03 + 0.00200005],
      ['models/gemini-2.5-pro', { input_tokens: 300_000, output_tokens: 10_000 }, {}, 0.75 + 0.15],
      ['google/gemini-4-neon', { input_tokens: M }, { service_tier: 'ON_DEMAND_PRIORITY' }, 5.4],
      ['x-ai/grok-4.7', { input_tokens: 200_000 }, {}, 0.8],
      ['deepseek/deepseek-v4-pro', { input_tokens: M, cache_read_tokens: M, output_tokens: M }, {}, 2.662],
      ['devstral-latest', { output_tokens: M }, {}, 2],
      ['qwen/qwen3.7-plus', { input_tokens: 256_000 }, {}, 0.128],
      ['moonshotai/kimi-k3', { cache_read_tokens: M }, {}, 0.3],
      ['z-ai/glm-5.3', { input_tokens: M }, {}, 1.4],
      ['MiniMax-M2.7', { cache_write_tokens: M }, {}, 0.375],
    ]
    for (const [name, usage, terms, dollars] of bills)
      assert.ok(Math.abs(cost(name, usage, terms) - dollars) <= 0.000_001, `${name}: ${cost(name, usage, terms)}`)
  })

  it('knows no model that it does not name', () => {
    for (const name of ['gpt-7', 'claude-opus-6', 'gemini-4', 'grok-5', 'local-model-2', 'gpt-5.4-mini-tuned'])
      assert.equal(prices.find(name), undefined, name)
  })
})

describe('plugins/replay/pricing/README.md', () => {
  it('shows a file that can be used', async () => {
    const readme = await readFile(join(root, 'plugins/replay/pricing/README.md'), 'utf8')
    const [, file = ''] = /```yaml\n([\s\S]*?)```/.exec(readme) ?? []
    const shown = await readPrices(file)
    assert.equal(shown.find('large-2')?.value.note, 'Until the end of the year.')
  })
})
