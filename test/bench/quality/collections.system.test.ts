import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { readOptions } from '../../../bench/options.ts'
import { collectionsOf } from '../../../bench/quality/collections.ts'
import { loadCorpus } from '../../../bench/quality/corpus.ts'
import { qualityText } from '../../../bench/quality/report.ts'
import { runQuality } from '../../../bench/suites/quality.ts'

const step = (file: string, text: string) => ({
  calls: [['read', { file }]],
  results: [{ text, chars: text.length, error: false, empty: false }],
})
const run = (id: string, label: 'loop' | 'clean', resolved: boolean | null = null) => ({
  schema: 'bench.trajectory.v1',
  id,
  source: 'shop',
  task: id,
  model: 'm',
  split: 'dev',
  resolved,
  label,
  loop_start_step: label === 'loop' ? 3 : null,
  system_chars: 0,
  task_chars: 0,
  tokens: Array.from({ length: 8 }, () => 1000),
  steps: Array.from({ length: 8 }, (_, index) =>
    step(label === 'loop' ? 'a' : `a${index}`, label === 'loop' ? 'x' : `x${index}`),
  ),
})

const folder = async (context: TestContext, files: Readonly<Record<string, readonly object[]>>) => {
  const root = await mkdtemp(join(tmpdir(), 'guard-collections-'))
  context.after(() => rm(root, { recursive: true, force: true }))
  for (const [name, runs] of Object.entries(files)) {
    await mkdir(join(root, name, '..'), { recursive: true })
    await writeFile(join(root, name), runs.map((one) => `${JSON.stringify(one)}\n`).join(''))
  }
  return root
}

test('folders with a common run are one collection, also transitively', () => {
  const places = (...runs: readonly (readonly string[])[]) => [
    ...collectionsOf(new Map(runs.map((folders, index) => [`run ${index}`, new Set(folders)]))).values(),
  ]
  assert.deepEqual(places(['a'], ['b']), ['a', 'b'])
  assert.deepEqual(places(['a'], ['b'], ['b', 'a'], ['c']), ['a+b', 'a+b', 'a+b', 'c'])
  assert.deepEqual(places(['a', 'b'], ['d'], ['b', 'c'], ['c']), ['a+b+c', 'd', 'a+b+c', 'a+b+c'])
})

test('each folder below the given one is a collection, and the given one if it has files', async (context) => {
  const root = await folder(context, {
    'one/a.jsonl': [run('1', 'loop')],
    'one/deep/b.jsonl': [run('2', 'clean')],
    'two/a.jsonl': [run('3', 'clean')],
    'hashes/a.jsonl': [run('3', 'clean'), run('4', 'clean')],
  })
  const { collections } = await loadCorpus(root)
  assert.deepEqual([...collections].sort(), [
    ['1', 'one'],
    ['2', 'one'],
    ['3', 'hashes+two'],
    ['4', 'hashes+two'],
  ])
  const alone = await loadCorpus(join(root, 'two'))
  assert.deepEqual([...alone.collections], [['3', 'two']])
})

test('each collection has figures, limits and savings, for peers and rules', async (context) => {
  const root = await folder(context, {
    'new/a.jsonl': [run('1', 'loop'), run('2', 'clean', true)],
    'old/a.jsonl': [run('3', 'loop'), run('4', 'clean')],
  })
  const args = [
    '--suite',
    'corpus',
    '--data',
    root,
    '--detector',
    'tool_repeat',
    '--peer',
    'gemini_cli',
    '--price',
    '0.5',
  ]
  const bounds = ['--fail-if', 'new/peer.gemini_cli:waste.saved_share<0.9', '--fail-if', 'old/tool_repeat:recall<1']
  const { summaries, observations, failures } = await runQuality(readOptions([...args, ...bounds], {}), () => {})
  const [ours] = summaries.filter(({ detector, group }) => detector.id === 'tool_repeat' && group === 'collection new')
  // the third stale turn is turn 3: requests 5 to 8 are wasted, and request 4 is refused
  assert.deepEqual(ours?.waste, {
    loops: 1,
    stopped: 1,
    median_lag: 1,
    wasted: { requests: 4, tokens: 4000, cost_micro: 2000 },
    before: { requests: 0, tokens: 0, cost_micro: 0 },
    saved: { requests: 4, tokens: 4000, cost_micro: 2000 },
    saved_share: 1,
    usd_per_million_tokens: 0.5,
  })
  const peer = observations.find(({ detector, case_id }) => detector.id === 'peer.gemini_cli' && case_id === '1')
  assert.deepEqual(
    [peer?.detector.kind, peer?.first_detection_step, peer?.waste_saved_requests, peer?.rule_id, peer?.latency_ns],
    ['peer', 6, 3, 'tool_call_loop', null],
  )
  assert.deepEqual(failures, [
    'new/peer.gemini_cli: waste.saved_share is 0.75, and "new/peer.gemini_cli:waste.saved_share<0.9"',
  ])
  const text = qualityText(summaries, false)
  for (const title of [/^corpus, new\n/m, /^corpus, old\n/m, /^corpus\n/m]) assert.match(text, title)
  assert.match(text, /what a stop saves: 2 loops waste 8 req, 0\.01 M, \$0\.00 /)
  assert.match(text, /peer\.gemini_cli +1 +3 +1 req, 0\.00 M, \$0\.00 +3 req, .* 75\.0 %/)
})

test('unknown peers and invalid prices are rejected', async () => {
  await assert.rejects(
    runQuality(readOptions(['--suite', 'synthetic', '--peer', 'hal'], {}), () => {}),
    /There is no peer "hal"; there is openhands, .*opencode_turns, or all\./,
  )
  assert.throws(() => readOptions(['--price', 'free']), /--price takes dollars a million tokens, for example 3 or 0\.3/)
})
