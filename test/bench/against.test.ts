import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { coldFigures } from '../../bench/daemon/cold.ts'
import { daemonPrograms } from '../../bench/daemon/programs.ts'
import { daemonText } from '../../bench/daemon/report.ts'
import { leastTable } from '../../bench/load/report.ts'
import type { Sample } from '../../bench/load/rounds.ts'
import { shapes } from '../../bench/load/shapes.ts'
import { leastOf } from '../../bench/load/summary.ts'
import { readOptions } from '../../bench/options.ts'
import { gatewayOf } from '../../bench/programs.ts'
import { runLoad } from '../../bench/suites/load.ts'

const withCheckout = async (
  files: Readonly<Record<string, string>>,
  work: (folder: string) => Promise<void>,
): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'guard-bench-test-'))
  try {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(join(folder, dirname(name)), { recursive: true })
      await writeFile(join(folder, name), text)
    }
    await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const [BIN, NODE, RESTART] = ['presets/default/bin.js', 'node_modules/.bin/node', 'presets/default/restart.js']

describe('another checkout to measure against', () => {
  it('is named by an option', () => {
    assert.equal(readOptions(['--suite', 'load', '--against', '../reference']).against, '../reference')
    assert.equal(readOptions([]).against, undefined)
  })
  it('is refused without sources or packages, with what to do', async () => {
    const run = (against: string) => runLoad(readOptions(['--suite', 'load', '--against', against]), () => {})
    await withCheckout({}, (folder) =>
      assert.rejects(run(folder), {
        name: 'TypeError',
        message: `There are no sources of the gateway in ${folder}: ${join(folder, BIN)} is missing. Make a checkout with "git worktree add ${folder} <commit>".`,
      }),
    )
    await withCheckout({ [BIN]: '' }, (folder) =>
      assert.rejects(run(folder), {
        name: 'TypeError',
        message: `The checkout ${folder} has no packages: ${join(folder, NODE)} is missing. Run "npm ci" there.`,
      }),
    )
  })
  it('starts with its own Node and its own start flags, if it has any', async () => {
    await withCheckout({ [BIN]: '', [NODE]: '' }, async (folder) =>
      assert.deepEqual(await gatewayOf(folder), {
        file: join(folder, BIN),
        node: join(folder, NODE),
        flags: ['--conditions=guard-source'],
        startFlags: [],
      }),
    )
    const restart = "export const startFlags = (limit) => ['--its-own=' + limit]"
    await withCheckout(
      { [BIN]: '', [NODE]: '', [RESTART]: restart, 'package.json': '{"type":"module"}' },
      async (folder) => {
        assert.deepEqual((await gatewayOf(folder)).startFlags, ['--its-own=0'])
        const programs = await daemonPrograms({ portkey: undefined, against: folder })
        const reference = programs.find(({ name }) => name === 'reference')
        const launch = await reference?.launch(1, folder)
        assert.equal(launch?.node, join(folder, NODE))
        // it starts itself anew with its start flags
        assert.deepEqual(launch?.args.slice(0, 4), ['--conditions=guard-source', join(folder, BIN), 'gateway', 'run'])
      },
    )
  })
})

describe('the least CPU beside another checkout', () => {
  const sample = (target: Sample['target'], cpu_us: number, over: Partial<Sample> = {}): Sample => ({
    ...{ target, cpu_us, requests: 10, chunks: 0, failed: 0, errors: [], decisions: {}, threads_us: {} },
    ...{ p50_ms: 1, p99_ms: 1, wall_ms: 1, provider_cpu_us: 1, rss_bytes: 1, loop_delay_ms: 1 },
    ...over,
  })
  const shapeOf = (id: string) => {
    const shape = shapes().find((one) => one.id === id)
    assert.ok(shape)
    return shape
  }
  const first = [sample('raw', 2_000), sample('reference', 4_000), sample('gateway', 9_000)]
  const warm = [
    ...first,
    sample('gateway', 3_000),
    sample('reference', 2_000),
    sample('raw', 1_000),
    sample('raw', 5_000),
  ]

  it('is that of one part of the rounds, new and warm, a request or chunk', () => {
    const table = leastTable(leastOf(shapeOf('chat_1k'), first, warm))
    assert.match(table, /chat 1 KB +first round +request +200 µs +400 µs +900 µs +2\.00 +4\.50 +2\.25\n/)
    assert.match(table, /chat 1 KB +warm +request +100 µs +200 µs +300 µs +2\.00 +3\.00 +1\.50$/)
    const chunks = first.map((one) => ({ ...one, chunks: 1_000 }))
    assert.match(
      leastTable(leastOf(shapeOf('sse_64'), chunks, chunks)),
      /chunk +2\.0 µs +4\.0 µs +9\.0 µs +2\.00 +4\.50 +2\.25\n/,
    )
  })
  it('is not told without one', () => {
    const own = first.filter(({ target }) => target !== 'reference')
    assert.deepEqual(leastOf(shapeOf('chat_1k'), own, own), [])
  })
  it('stands below the figures of the daemon suite', () => {
    const rounds = [
      { first: { raw: 500, reference: 1_000, sources: 1_500 }, after: { raw: 100, reference: 300, sources: 500 } },
      { first: { raw: 400, reference: 1_200, sources: 1_400 }, after: { raw: 200, reference: 200, sources: 600 } },
    ]
    const figures = coldFigures(shapeOf('chat_1k'), rounds, { before: 2_000, measured: 2_000 })
    const text = daemonText({
      ...{ left_out: null, notes: [], figures, baseline: 'daemon.jsonl', compared: [], failures: [] },
    })
    const [, least = ''] = text.split('least CPU')
    assert.match(least, /first 2000 requests +400 µs +1000 µs +1400 µs +2\.50 +3\.50 +1\.40\n/)
    assert.match(least, /after 2000 requests +100 µs +200 µs +500 µs +2\.00 +5\.00 +2\.50$/)
  })
})
