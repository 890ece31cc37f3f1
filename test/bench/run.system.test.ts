import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { isChosen, readOptions } from '../../bench/options.ts'

const script = join(import.meta.dirname, '../../bench/run.ts')
// the compile cache of the tests: cached code is valid only for equal engine flags
const cached = `--import=${join(import.meta.dirname, '../kit/compile-cache.ts')}`

const bench = (...args: readonly string[]): Promise<{ code: number; out: string; err: string }> => benchIn({}, ...args)

const benchIn = (
  env: Record<string, string>,
  ...args: readonly string[]
): Promise<{ code: number; out: string; err: string }> =>
  new Promise((resolve) => {
    const options = { env: { ...process.env, NODE_COMPILE_CACHE: undefined, ...env } }
    const argv = ['--conditions=guard-source', cached, script, ...args]
    const child = execFile(process.execPath, argv, options, (_, out, err) =>
      resolve({ code: child.exitCode ?? -1, out, err }),
    )
  })

describe('npm run bench', () => {
  it('lists its measurements by suite or name', async () => {
    const { code, out } = await bench('--list')
    assert.equal(code, 0)
    const names = out.trim().split('\n')
    for (const part of [
      'fingerprint: ',
      'detectors: ',
      'headers: ',
      'storage: ',
      'pipeline: ',
      'redact: ',
      'mcp: ',
      'lean_8',
      'chat_1k',
      'sse_64',
      'reads',
      'ingest',
      'scale_exact',
      'daemon_first',
    ])
      assert.ok(
        names.some((name) => name.startsWith(part)),
        part,
      )
    assert.equal(new Set(names).size, names.length)
    const load = await bench('--list', '--suite', 'load', 'growing')
    assert.deepEqual(load.out.trim().split('\n'), ['growing_64k', 'growing_500k'])
    const { out: json } = await bench('--list', '--json', '--suite', 'load', 'growing')
    assert.deepEqual(JSON.parse(json), { names: ['growing_64k', 'growing_500k'] })
  })
  it('runs the named cases and prints JSON, including start times of the command line', async () => {
    const names = ['max_tokens, 1 KB', 'start: guard --help', 'start: guard mcp run under a policy']
    const { code, out, err } = await bench('--suite', 'throughput', '--smoke', '--json', ...names)
    assert.equal(code, 0, err)
    const { throughput, load } = JSON.parse(out) as {
      throughput: { name: string; samples: number; p50_ms: number }[]
      load?: unknown
    }
    assert.deepEqual(
      throughput.map(({ name, samples, p50_ms }) => [name, samples >= 2, p50_ms > 0]),
      [`detectors: ${names[0]}`, ...names.slice(1)].map((name) => [name, true, true]),
    )
    assert.equal(load, undefined)
  })
  it('measures direct and proxied tool calls in separate processes', async () => {
    const { code, out, err } = await bench('--suite', 'mcp', '--smoke', '--json', 'lean_1')
    assert.equal(code, 0, err)
    const { mcp } = JSON.parse(out) as {
      mcp: { setting: string; way: string; calls_per_s: number; proxy_us: number }[]
    }
    assert.deepEqual(
      mcp.map(({ setting, way, calls_per_s, proxy_us }) => [setting, way, calls_per_s > 0, proxy_us > 0]),
      [
        ['lean_1', 'direct', true, false],
        ['lean_1', 'raw', true, true],
        ['lean_1', 'memory', true, true],
        ['lean_1', 'sqlite', true, true],
        ['lean_1', 'bundle', true, true],
      ],
    )
  })
  it('measures the pages on the server, and in Chromium if available', async () => {
    const { code, out, err } = await bench('--suite', 'pages', '--smoke', '--json')
    assert.equal(code, 0, err)
    const { pages } = JSON.parse(out) as { pages: { figures: { name: string; value: number; unit: string }[] } }
    const names = pages.figures.map(({ name }) => name)
    for (const wanted of ['list of 5 runs, server', '50 spans, server', '2500 spans, server'])
      assert.ok(names.includes(wanted), `${wanted} is not among ${names.join('; ')}`)
    assert.equal(names.includes('2500 spans, interactive'), !err.includes('there is no Chromium'))
    assert.ok(pages.figures.every(({ value, unit }) => value > 0 && unit === 'ms'))
  })
  it('creates a store of runs once, and measures its response times', async () => {
    const TMPDIR = await mkdtemp(join(tmpdir(), 'guard-bench-test-'))
    try {
      const args = ['--suite', 'replay', '--smoke', '--json', 'reads', 'sdk']
      const { code, out, err } = await benchIn({ TMPDIR }, ...args)
      assert.equal(code, 0, err)
      const { replay } = JSON.parse(out) as {
        replay: { runs: number; timings: { name: string; p50_ms: number }[]; figures: { name: string }[] }
      }
      assert.equal(replay.runs, 1_000)
      for (const name of ['list: first page', 'list: page 41', 'search: a common word', 'read: its tree'])
        assert.ok((replay.timings.find((one) => one.name === name)?.p50_ms ?? 0) > 0, name)
      assert.ok(replay.figures.some(({ name }) => name === 'SDK: span()'))
      const [made, ...others] = await readdir(TMPDIR)
      assert.match(made ?? '', /^guard-bench-replay-1000-[0-9a-f]{12}\.db$/)
      assert.deepEqual(others, [])
    } finally {
      await rm(TMPDIR, { recursive: true, force: true })
    }
  })
  it('exits with 2 and names the invalid argument', async () => {
    const { code, err } = await bench('--suite', 'speed')
    assert.equal(code, 2)
    assert.match(
      err,
      /^There is no suite "speed"; there is throughput, load, mcp, replay, .*vectors, corpus, synthetic\./,
    )
    assert.deepEqual(await bench('--suite', 'vectors', 'nope'), {
      code: 2,
      out: '',
      err: 'Nothing is called "nope"; --list says what there is.\n',
    })
    assert.deepEqual(await bench('--suite', 'vectors', '--out', '/nowhere/figures.jsonl'), {
      code: 2,
      out: '',
      err: '/nowhere/figures.jsonl cannot be written: there is no such folder (ENOENT). Name another file.\n',
    })
  })
})

describe('bench options', () => {
  it('select by part of a name, ignoring case', () => {
    const options = readOptions(['SSE', 'chat_1k', '--rounds', '3'])
    assert.equal(options.rounds, 3)
    assert.equal(isChosen(options, 'sse_64'), true)
    assert.equal(isChosen(options, 'chat_32k'), false)
    assert.equal(isChosen(readOptions([]), 'anything'), true)
  })
  it('reject unknown options and values', () => {
    assert.throws(() => readOptions(['--fast']), TypeError)
    assert.throws(() => readOptions(['--rounds', '0']), /whole number from 1, not "0"/)
  })
})
