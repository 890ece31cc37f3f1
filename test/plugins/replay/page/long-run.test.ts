import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { expecting } from '../kit.ts'
import { at, type PageBench, rowIds, startPages } from './kit.ts'

const SPANS = 2_500

let bench: PageBench
before(async () => {
  bench = await startPages()
  const spans = Array.from({ length: SPANS - 1 }, (_, i) => ({
    id: `s${i}`,
    name: 'step',
    start_ns: at(i),
    end_ns: at(i + 1),
  }))
  await bench.trace({ trace_id: 'long', spans })
})
after(() => bench.close())

test('a long run has pages of 300 rows, at most 150 KB, one with the selected span', async () => {
  const first = await bench.page('/replay/long')
  assert.equal(rowIds(first).length, 300)
  assert.ok(Buffer.byteLength(first) < 150 * 1024)
  assert.match(first, /rows 1 to 300 of 2,500/)
  assert.match(first, /<a href="\?after=300">rows after →<\/a>/)
  const second = await bench.page('/replay/long?span=s2400')
  assert.equal(rowIds(second).length, SPANS - 2_400)
  assert.ok(rowIds(second).includes('span-s2400'))
})

test('a script replaces the first rows by all rows, and marks the matches', async () => {
  const first = await bench.page('/replay/long')
  assert.match(first, /<a id="load-all" hidden href="\?all=1">Load all 2,500<\/a>/)
  assert.doesNotMatch(first, /data-critical/)
  const all = await bench.page('/replay/long?all=1&find=step%232400')
  assert.equal(rowIds(all).length, 100)
  assert.match(all, /data-rows="2500"/)
  assert.match(all, /data-matches="2400"/)
  assert.deepEqual(rowIds(await bench.page('/replay/long?all=1&part=frame')), [])
})

test('a long run is not live', async () => {
  assert.doesNotMatch(await bench.page('/replay/long'), /data-live/)
})

test('rows are numbered by start, also after later writes', async () => {
  const rows = async (after: number) =>
    expecting<{ readonly rows: readonly (readonly unknown[])[]; readonly next: number | null }>(
      200,
      await bench.send('GET', `/api/v1/runs/long/rows?after=${after}`),
    )
  assert.deepEqual((await rows(2_000)).rows[0]?.slice(0, 4), ['s1999', 1, 'step', 2_000])
  await bench.trace({ trace_id: 'long', spans: [{ id: 'early', name: 'step', start_ns: at(-1), end_ns: at(0) }] })
  assert.deepEqual((await rows(2_000)).rows[0]?.slice(0, 4), ['s1998', 1, 'step', 2_000])
})
