import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { comparedWith, writeBaseline } from '../../../bench/daemon/baseline.ts'
import { figureOf, isMet } from '../../../bench/daemon/figures.ts'
import { firstFigures } from '../../../bench/daemon/first.ts'
import { daemonText } from '../../../bench/daemon/report.ts'

describe('a figure of the daemon suite', () => {
  it('has medians of the rounds, and of the ratios within each', () => {
    const rounds = [
      { raw: 10, sources: 20, portkey: 40 },
      { raw: 100, sources: 300 },
      { raw: 20, sources: 120 },
    ]
    const { values, ratios } = figureOf('start', 'start', 'ms', rounds)
    assert.deepEqual(values, { raw: 20, sources: 120, portkey: 40 })
    assert.deepEqual(ratios, { raw: 1, sources: 3, portkey: 4 })
  })
  it('is divided by something else, or has no ratio', () => {
    const round = { raw: 0, sources: 3 }
    assert.deepEqual(figureOf('cpu', 'CPU', '%', [round], { base: 100 }).ratios, { raw: 0, sources: 0.03 })
    assert.deepEqual(figureOf('added', 'added', 'ms', [round], { base: null }).ratios, {})
    assert.deepEqual(figureOf('cpu', 'CPU', '%', [round]).ratios, {}, 'nothing is a multiple of 0')
  })
  it('is met or not by its ratio or by the value of each target', () => {
    const round = { raw: 10, sources: 20, package: 12 }
    const ratio = figureOf('rss', 'RSS', 'MB', [round], { must: { ratio: 1.5 } })
    assert.deepEqual(
      [isMet(ratio, 'package'), isMet(ratio, 'sources'), isMet(ratio, 'portkey')],
      [true, false, undefined],
    )
    const value = figureOf('start', 'start', 'ms', [round], { must: { value: { sources: 20, package: 10 } } })
    assert.deepEqual([isMet(value, 'package'), isMet(value, 'sources'), isMet(value, 'raw')], [false, true, undefined])
    assert.equal(isMet(figureOf('rss', 'RSS', 'MB', [round]), 'sources'), undefined)
  })
  it('of the first requests is the added latency within a round', () => {
    const latencies = (ms: number) => Array.from({ length: 100 }, (_, index) => ms + index)
    const figures = firstFigures([{ provider: latencies(0), raw: latencies(1), sources: latencies(3) }], 100)
    const valuesOf = (id: string) => figures.find((figure) => figure.id === id)?.values
    assert.deepEqual(valuesOf('first_100_p50'), { provider: 50, raw: 51, sources: 53 })
    assert.deepEqual(valuesOf('first_100_p50_added'), { sources: 2 })
    assert.deepEqual(valuesOf('first_100_p99'), { provider: 99, raw: 100, sources: 102 })
  })
})

describe('a baseline of the daemon suite', () => {
  const start = figureOf('start', 'start to listening', 'ms', [{ raw: 100, sources: 400.4 }], {
    must: { value: { sources: 800, package: 500 } },
  })
  const idle = figureOf('cpu_idle', 'CPU when idle', '%', [{ raw: 0, sources: 2 }], { base: 100 })

  it('keeps ratios alone, and is compared by figure and target', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'guard-bench-test-'))
    try {
      const file = join(folder, 'daemon.jsonl')
      await writeBaseline([start, idle], file)
      const lines = (await readFile(file, 'utf8')).trim().split('\n')
      assert.deepEqual(
        lines.map((line) => JSON.parse(line)),
        [
          { schema: 'bench.daemon.v1', figure: 'start', target: 'sources', ratio: 4 },
          { schema: 'bench.daemon.v1', figure: 'cpu_idle', target: 'sources', ratio: 0.02 },
        ],
      )
      const now = figureOf('start', 'start to listening', 'ms', [{ raw: 100, sources: 200, portkey: 300 }])
      assert.deepEqual(await comparedWith([now], file), [{ figure: 'start', target: 'sources', ratio: 2, earlier: 4 }])
      await writeFile(file, '{}\n')
      await assert.rejects(comparedWith([now], file), /holds no line of bench\.daemon\.v1; write one with --out\./)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
  it('is printed beside the figures', () => {
    const text = daemonText({
      ...{ left_out: null, notes: ['portkey is left out'], figures: [start, idle], baseline: 'daemon.jsonl' },
      compared: [{ figure: 'start', target: 'sources', ratio: 2, earlier: 4 }],
      failures: ['sources: 20 requests were sent, 19 are on record'],
    })
    assert.match(text, /start to listening +100 ms +400 ms +4\.00× +≤ 800 \/ 500 ms +met/)
    assert.match(text, /CPU when idle +0\.000 %, 0\.0 s\/h +2\.000 %, 72\.0 s\/h/)
    assert.match(text, /ratios beside daemon\.jsonl\n/)
    assert.match(text, /start +sources +2 +4 +-50 %/)
    assert.match(text, /portkey is left out\n\nFAILED: sources: 20 requests were sent, 19 are on record$/)
  })
})
