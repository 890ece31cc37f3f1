import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import { messages } from 'guard-gateway/plugins/api-styles/messages'
import { readRequest } from '#lib/request-reader'
import { caseOf } from '../../../bench/quality/case-requests.ts'
import { loadCorpus } from '../../../bench/quality/corpus.ts'

const label = { silver: 'loop', silver_first_step: 1, human_repetition_steps: [1, 2] }
const head = { id: 'run-1', src: 'shop', model: 'm-1', task: 'fix', split: 'dev', resolved: true, sysn: 400, taskn: 80 }

/** The same run with hashes only, and with beginnings of texts. */
const hashed = {
  ...head,
  label,
  steps: [
    { c: [['make', '11aa', '11aa', 20]], r: [['2233', '4455', 90, 1]], t: ['99ff', 30] },
    { c: [['make', '11aa', '11aa', 20]], r: [['2234', '4455', 90, 1]] },
    { c: [['cat', '77bb', '77bb', 12]], r: [['0000', '0000', 0, 4]], u: ['abcd', 12] },
  ],
}
const texts = {
  ...head,
  label,
  steps: [
    { a: [['make', { target: 'all' }]], r: [{ h: '2233', n: 900, p: 'error 1' }], t: 'I build it.', tn: 30 },
    { a: [['make', { target: 'all' }]], r: [{ h: '2234', n: 900, p: 'error 2' }] },
    { a: [['cat', { path: 'a.ts' }]], r: [{ h: '0000', n: 0, p: '' }], u: { h: 'abcd', n: 12, p: 'Thank you.' } },
  ],
}

const folder = async (context: TestContext, files: Readonly<Record<string, Buffer | string>>) => {
  const root = await mkdtemp(join(tmpdir(), 'guard-corpus-'))
  context.after(() => rm(root, { recursive: true, force: true }))
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(root, name, '..'), { recursive: true })
    await writeFile(join(root, name), content)
  }
  return root
}

const packed = (...runs: readonly object[]): Buffer => gzipSync(runs.map((run) => `${JSON.stringify(run)}\n`).join(''))

describe('the trajectories of a folder', () => {
  it('are read from the compact format, with turns counted from 0', async (context) => {
    const root = await folder(context, { 'features/shop.jsonl.gz': packed(hashed) })
    const { trajectories } = await loadCorpus(root)
    const [run] = trajectories
    assert.deepEqual(
      [run?.source, run?.label, run?.loop_start_step, run?.kind, run?.system_chars],
      ['shop', 'loop', 3, 'people saw repetition', 400],
    )
    assert.deepEqual(run?.steps[0], {
      calls: [['make', '11aa']],
      args_chars: 20,
      results: [{ hash: '2233', masked_hash: '4455', chars: 90, error: true, empty: false }],
      text: '99ff',
      text_chars: 30,
    })
    assert.equal(run?.steps[2]?.results[0]?.empty, true)
  })
  it('are merged if two files have the same run: texts of one, error flags of the other', async (context) => {
    for (const names of [
      ['a.jsonl.gz', 'b.jsonl.gz'],
      ['b.jsonl.gz', 'a.jsonl.gz'],
    ] as const) {
      const root = await folder(context, { [names[0]]: packed(hashed), [names[1]]: packed(texts) })
      const [run, ...others] = (await loadCorpus(root)).trajectories
      assert.deepEqual(others, [])
      const result = { text: 'error 1', hash: '2233', masked_hash: '4455', chars: 900, error: true, empty: false }
      assert.deepEqual(run?.steps[0]?.results, [result])
      assert.deepEqual(run?.steps[0]?.calls, [['make', { target: 'all' }]])
    }
  })
  it('are filtered by split', async (context) => {
    const root = await folder(context, {
      'a.jsonl': `${JSON.stringify(hashed)}\n${JSON.stringify({ ...hashed, id: 'run-2', split: 'test' })}\n`,
    })
    const { trajectories, left_out } = await loadCorpus(root, 'dev')
    assert.deepEqual([trajectories.map(({ id }) => id), left_out], [['run-1'], 1])
  })
  it('are rejected with file and line', async (context) => {
    const broken = await folder(context, { 'a.jsonl': `${JSON.stringify(hashed)}\n{"id":\n` })
    await assert.rejects(loadCorpus(broken), /^TypeError: a\.jsonl:2 is not JSON/)
    const other = await folder(context, { 'a.jsonl': '{"id":"x","steps":[]}\n' })
    await assert.rejects(loadCorpus(other), /a\.jsonl:1 is no trajectory: it has neither the schema/)
    const step = JSON.stringify({ schema: 'bench.trajectory.v1', id: 'x', steps: [{ calls: [], results: [] }, {}] })
    await assert.rejects(loadCorpus(await folder(context, { 'a.jsonl': step })), /a\.jsonl:1 is no trajectory: step 2 /)
    const plain = await folder(context, { 'a.jsonl.gz': JSON.stringify(hashed) })
    await assert.rejects(loadCorpus(plain), /^TypeError: a\.jsonl\.gz is not gzip/)
    await assert.rejects(loadCorpus(await folder(context, {})), /holds no \.jsonl/)
    await assert.rejects(loadCorpus(join(broken, 'nowhere')), /There is no folder/)
  })
})

describe('a trajectory as requests', () => {
  const conversations = async (context: TestContext, run: object) => {
    const [trajectory] = (await loadCorpus(await folder(context, { 'a.jsonl.gz': packed(run) }))).trajectories
    assert.ok(trajectory)
    return [...caseOf('corpus', trajectory).requests()].map(({ body }) => readRequest(messages, body).conversation)
  }
  it('has k - 1 turns in request k', async (context) => {
    const found = await conversations(context, hashed)
    assert.deepEqual(
      found.map(({ turns }) => turns.length),
      [0, 1, 2],
    )
  })
  it('retains equality of calls, and of errors that differ only in digits', async (context) => {
    for (const run of [hashed, texts]) {
      const calls = (await conversations(context, run)).at(-1)?.turns.map(({ calls: [one] }) => one)
      assert.equal(calls?.[0]?.key, calls?.[1]?.key)
      assert.deepEqual(
        calls?.map((one) => one?.error),
        run === hashed ? [true, true] : [false, false],
      )
      if (run === hashed) assert.equal(calls?.[0]?.result, calls?.[1]?.result)
      else assert.notEqual(calls?.[0]?.result, calls?.[1]?.result)
    }
  })
})
