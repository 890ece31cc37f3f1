import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { itself, nearestOwn, shares } from '../../../bench/load/profile.ts'
import { ratioTable } from '../../../bench/load/report.ts'
import type { Sample } from '../../../bench/load/rounds.ts'
import { shapes } from '../../../bench/load/shapes.ts'
import { summaryOf } from '../../../bench/load/summary.ts'
import { Tally } from '../../../bench/load/tally.ts'

const sample = (target: Sample['target'], cpu_us: number, over: Partial<Sample> = {}): Sample => ({
  target,
  requests: 100,
  failed: 0,
  errors: [],
  decisions: target === 'gateway' ? { allow: 100 } : {},
  p50_ms: 1,
  p99_ms: 2,
  wall_ms: 50,
  cpu_us,
  threads_us: { MainThread: cpu_us / 2 },
  provider_cpu_us: 5_000,
  rss_bytes: 1_048_576,
  loop_delay_ms: 1,
  chunks: 0,
  ...over,
})
const [chat] = shapes()

describe('a summary', () => {
  it('compares within rounds: minimum, median and maximum of the ratios', () => {
    assert.ok(chat)
    const rounds = [
      [sample('raw', 1_000), sample('gateway', 2_000)],
      [sample('gateway', 9_000), sample('raw', 3_000)],
      [sample('raw', 500), sample('gateway', 1_000), sample('gateway', 2_000), sample('raw', 1_500)],
    ]
    const summary = summaryOf(chat, rounds)
    assert.deepEqual(summary.ratio, { min: 1.5, median: 2, max: 3 })
    assert.equal(summary.gateway_us, 20)
    assert.equal(summary.requests_per_s, 2_000)
    assert.equal(summary.provider_share, 0.1)
    assert.deepEqual(summary.decisions, { allow: 400 })
    assert.deepEqual(summary.threads_us, { MainThread: 10 })
    assert.match(ratioTable([summary]), /chat 1 KB +request +13 µs +20 µs +2\.00 +1\.50 +3\.00 +≤ 2\.0 +met/)
  })
  it('counts streams by chunk, and lists failures by target', () => {
    const shape = shapes().find(({ reply }) => reply.stream !== undefined)
    assert.ok(shape)
    const summary = summaryOf(shape, [
      [
        sample('raw', 1_000, { chunks: 1_000 }),
        sample('gateway', 3_000, { chunks: 1_000, failed: 2, errors: ['cut'] }),
      ],
    ])
    assert.equal(summary.per, 'chunk')
    assert.equal(summary.gateway_us, 3)
    assert.equal(summary.failed, 2)
    assert.deepEqual(summary.errors, ['gateway: cut'])
    assert.match(ratioTable([summary]), /≤ 1\.3 +over/)
  })
})

describe('a tally', () => {
  it('counts short and unsuccessful replies as failed, and retains few reasons', () => {
    const tally = new Tally(10)
    tally.replied({ status: 200, bytes: 10, decision: 'allow' }, 5)
    tally.replied({ status: 200, bytes: 9, decision: 'shadow_flag' }, 7)
    tally.replied({ status: 429, bytes: 10, decision: 'block' }, 6)
    for (let index = 0; index < 9; index++) tally.failed('broken')
    const { failed, errors, decisions, p50_ms, p99_ms } = tally.counted(12)
    assert.equal(failed, 11)
    assert.equal(errors.length, 5)
    assert.equal(errors[0], 'status 200 with 9 bytes, 200 with 10 expected')
    assert.deepEqual(decisions, { allow: 1, shadow_flag: 1, block: 1 })
    assert.deepEqual([p50_ms, p99_ms], [6, 7])
  })
})

describe('a profile', () => {
  it('reports time by function and by nearest function of the package, without idle time', () => {
    const frame = (functionName: string, url = '', lineNumber = -1) => ({
      callFrame: { functionName, scriptId: '0', url, lineNumber, columnNumber: 0 },
    })
    const place = new URL('../../../core/a.ts', import.meta.url).href
    const nodes = [
      { id: 1, ...frame('(root)'), children: [2, 3, 4, 6] },
      { id: 2, ...frame('(idle)') },
      { id: 3, ...frame('work', place, 9), children: [5] },
      { id: 4, ...frame('(garbage collector)') },
      { id: 5, ...frame('hash', 'node:internal/crypto/hash', 1), children: [7] },
      { id: 6, ...frame('post', 'node:inspector', 114) },
      { id: 7, ...frame('oneShotDigest') },
    ]
    const profile = { nodes, startTime: 0, endTime: 100, samples: [2, 3, 7, 4, 6], timeDeltas: [900, 40, 35, 25, 700] }
    assert.deepEqual(shares(profile, 1, itself), [{ name: 'work', at: 'core/a.ts:10', percent: 40 }])
    assert.deepEqual(shares(profile, 9, itself)[1], { name: 'oneShotDigest', at: '', percent: 35 })
    assert.deepEqual(shares(profile, 9, nearestOwn), [
      { name: 'work', at: 'core/a.ts:10', percent: 75 },
      { name: '(garbage collector)', at: '', percent: 25 },
    ])
  })
})
