import assert from 'node:assert/strict'
import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import type { Usage } from 'guard-gateway/core'
import { noUsage } from 'guard-gateway/core'
import { sha256 } from '#lib/ids'
import { costOf, type Price } from '../../../../plugins/replay/pricing/cost.ts'
import { readPrices } from '../../../../plugins/replay/pricing/prices.ts'
import { withoutProcesses } from '../../../kit/no-processes.ts'
import { aCall, aDecision, aReading, aSession, settled } from '../../../kit/settled.ts'
import { type Bundle, expecting, startReplay } from '../kit.ts'

const FILE = `version: 1
currency: USD
models:
  example-small: 400000
  example-large: { input: 3000000, output: 15000000, cache_read: 300000, cache_write_5m: 3750000, cache_write_1h: 6000000, reasoning: 20000000 }
  "example-large-*": { same_as: example-large }
  "example-*": { input: 1, output: 2 }
`
let prices: Awaited<ReturnType<typeof readPrices>>
before(async () => {
  prices = await readPrices(FILE)
})
const usage = (counts: Partial<Usage>): Usage => ({ ...noUsage, ...counts })
const cost = (model: string, counts: Partial<Usage>): bigint | undefined => {
  const price = prices.find(model)?.value
  return price && costOf(price, usage(counts))
}

describe('a price file', () => {
  it('prices by name, else by the longest pattern', () => {
    const input = { input_tokens: 1_000_000 }
    assert.deepEqual(
      ['example-small', 'example-large', 'example-large-2', 'example-x', 'other'].map((name) => cost(name, input)),
      [400_000n, 3_000_000n, 3_000_000n, 1n, undefined],
    )
    assert.deepEqual([prices.version, prices.currency, prices.models], [sha256(FILE).slice(0, 12), 'USD', 4])
  })

  it('counts each kind of token once', () => {
    const counts = {
      input_tokens: 1_000_000,
      cache_read_tokens: 1_000_000,
      cache_write_tokens: 3_000_000,
      cache_write_5m_tokens: 1_000_000,
      cache_write_1h_tokens: 1_000_000,
      output_tokens: 2_000_000,
      reasoning_tokens: 1_000_000,
    }
    assert.equal(
      cost('example-large', counts),
      3_000_000n + 300_000n + 7_500_000n + 6_000_000n + 15_000_000n + 20_000_000n,
    )
  })

  it('uses input prices for cache and output prices for reasoning by default', () => {
    assert.equal(
      cost('example-x', { cache_read_tokens: 1_000_000, reasoning_tokens: 1_000_000, output_tokens: 1_000_000 }),
      3n,
    )
  })

  it('rounds once, half up', () => {
    const price = prices.find('example-small')?.value as Price
    const micro = (input_tokens: number, output_tokens: number) => costOf(price, usage({ input_tokens, output_tokens }))
    assert.deepEqual([micro(1, 0), micro(1, 1), micro(1, 2), micro(2, 2)], [0n, 1n, 1n, 2n])
    assert.equal(costOf({ ...price, input: 1n }, usage({ input_tokens: 499_999 })), 0n)
    assert.equal(costOf({ ...price, input: 1n }, usage({ input_tokens: 500_000 })), 1n)
  })

  it('with an error is rejected with its line', async () => {
    const cases: readonly (readonly [text: string, line: number])[] = [
      ['version: 2\ncurrency: USD\nmodels: {}', 1],
      ['version: 1\ncurrency: dollars\nmodels: {}', 2],
      ['version: 1\ncurrency: USD\nmodels: [a]', 3],
      ['version: 1\ncurrency: USD\nextra: 1\nmodels: {}', 3],
      ['version: 1\ncurrency: USD\nmodels:\n  a: 1.5', 4],
      ['version: 1\ncurrency: USD\nmodels:\n  a: -1', 4],
      ['version: 1\ncurrency: USD\nmodels:\n  a: { input: 1 }', 4],
      ['version: 1\ncurrency: USD\nmodels:\n  a: { input: 1, output: 1, tip: 1 }', 4],
      ['version: 1\ncurrency: USD\nmodels:\n  a: { same_as: b }', 4],
      ['version: 1\ncurrency: USD\nmodels:\n  a: { same_as: b }\n  b: { same_as: a }', 4],
      ['version: 1\ncurrency: USD\nmodels:\n  "a*b": 1', 4],
    ]
    for (const [text, line] of cases)
      await assert.rejects(
        readPrices(text),
        (error: { code?: string; place?: { line?: number } }) =>
          error.code === 'INVALID_PRICING' && error.place?.line === line,
        text,
      )
    await assert.rejects(readPrices('a: [1'), { code: 'INVALID_YAML' })
  })
})

describe('pricing', () => {
  it('prices calls and spans, reloads the file, and retains the last valid one', async (test) => {
    test.mock.timers.enable({ apis: ['setInterval'] })
    const folder = await mkdtemp(join(tmpdir(), 'guard-prices-'))
    test.after(() => rm(folder, { recursive: true, force: true }))
    const file = join(folder, 'prices.yml')
    await writeFile(file, FILE)
    const bench = await startReplay({ pricing: file })
    test.after(() => bench.close())
    const session = aSession()
    let calls = 0
    const ended = async (model: string) => {
      const call = aCall({ id: `guardreq_${calls++}`, session })
      await bench.gateway.hooks.decision.promise(aDecision(), call)
      const counts = usage({ input_tokens: 1_000_000, total_tokens: 1_000_000 })
      await bench.settle(settled({ call, usage: counts, reading: aReading({ model }) }))
      const row = await bench.gateway.storage.get('calls', call.id)
      return [row?.cost_micro, row?.cost_source, row?.price_version] as const
    }
    assert.deepEqual(await ended('example-small'), [400_000, 'priced', prices.version])
    assert.deepEqual(await ended('unknown'), [0, 'unpriced', prices.version])
    assert.equal((await bench.gateway.storage.get('sessions', session.row.id))?.cost_micro, 400_000)
    const list = await bench.send('GET', '/api/v1/runs?min_cost_micro=400000')
    assert.equal(expecting<{ runs: readonly { cost_micro: number }[] }>(200, list).runs[0]?.cost_micro, 400_000)

    const attributes = {
      'gen_ai.request.model': 'example-large',
      'gen_ai.usage.input_tokens': 3_000_000,
      'gen_ai.usage.cache_read.input_tokens': 1_000_000,
      'gen_ai.usage.cache_creation.input_tokens': 1_000_000,
    }
    const own = { ...attributes, 'guard.cost_micro': 5 }
    const spans = [
      { name: 'gen_ai.request', attributes },
      { name: 'gen_ai.request', attributes: own },
    ]
    await bench.send('POST', '/api/v1/traces', { trace_id: 'priced', spans })
    const { run, spans: read } = expecting<Bundle>(200, await bench.send('GET', '/api/v1/runs/priced'))
    assert.equal(run.cost_micro, 3_000_000 + 300_000 + 3_750_000 + 5)
    assert.deepEqual(
      read.slice(1).map((span) => span.attributes['guard.cost_source']),
      ['priced', undefined],
    )

    const read_again = async (text: string) => {
      await writeFile(file, text)
      // like a copy that preserves times
      await utimes(file, 1, 1)
      return looked_at(text)
    }
    const looked_at = async (text: string) => {
      // half a second without requests
      test.mock.timers.tick(1_000)
      const health = () => bench.gateway.health.get('pricing')?.() as { status: string; version: string }
      const isRead = () => health().version === sha256(text).slice(0, 12)
      const giveUp = performance.now() + 60_000
      while (!isRead() && bench.faults.length === 0 && performance.now() < giveUp) await setTimeout(2)
      return health()
    }
    const cheaper = FILE.replace('400000', '200000')
    assert.equal((await read_again(cheaper)).version, sha256(cheaper).slice(0, 12))
    assert.deepEqual((await ended('example-small')).slice(0, 1), [200_000])
    const dearer = FILE.replace('400000', '600000')
    assert.equal((await read_again(dearer)).version, sha256(dearer).slice(0, 12))
    await read_again(cheaper)
    const long = `${FILE}${'# why\n'.repeat(1_000)}`
    const unread = await withoutProcesses(() => read_again(long))
    assert.deepEqual([unread.status, unread.version], ['error', sha256(cheaper).slice(0, 12)])
    assert.match(String(bench.faults.pop()), /prices\.yml: The text was not read: /)
    assert.equal((await looked_at(long)).version, sha256(long).slice(0, 12))
    await read_again(cheaper)
    const broken = await read_again('version: 7')
    assert.deepEqual([broken.status, broken.version], ['error', sha256(cheaper).slice(0, 12)])
    const [fault] = bench.faults as { code?: string; message?: string }[]
    assert.deepEqual([fault?.code, fault?.message], ['INVALID_PRICING', `${file}:1:1: "version" must be 1.`])
    assert.deepEqual((await ended('example-small')).slice(0, 1), [200_000])
  })

  it('reports the consequence of a file that was never valid', async (test) => {
    const folder = await mkdtemp(join(tmpdir(), 'guard-prices-'))
    test.after(() => rm(folder, { recursive: true, force: true }))
    const odd = join(folder, 'odd.yml')
    await writeFile(odd, 'version: 2')
    const absent = join(folder, 'absent.yml')
    for (const [pricing, begins] of [
      [odd, `${odd}:1:1: "version" must be 1.`],
      [absent, `The price file ${absent} cannot be read.`],
    ] as const) {
      const bench = await startReplay({ pricing })
      test.after(() => bench.close())
      const [fault] = bench.faults as { message?: string }[]
      assert.equal(
        fault?.message,
        `${begins} Until it can be used every request costs 0, and rules about cost never match.`,
      )
    }
  })

  it('costs nothing without a file', async (test) => {
    const bench = await startReplay()
    test.after(() => bench.close())
    const call = aCall()
    await bench.gateway.hooks.decision.promise(aDecision(), call)
    await bench.settle(settled({ call }))
    const row = await bench.gateway.storage.get('calls', call.id)
    assert.deepEqual([row?.cost_micro, row?.cost_source, row?.price_version], [0, 'unpriced', null])
  })

  it('reports a missing file, and still serves', async (test) => {
    const bench = await startReplay({ pricing: join(tmpdir(), 'guard-no-such-prices.yml') })
    test.after(() => bench.close())
    assert.partialDeepStrictEqual(bench.gateway.health.get('pricing')?.(), { status: 'error', version: null })
  })
})
