import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { RunSummary } from '#lib/trace-file'
import { expecting } from '../kit.ts'
import { type PageBench, partOf, startPages } from './kit.ts'

let bench: PageBench
before(async () => {
  bench = await startPages()
  await bench.trace({ trace_id: 'a/b', name: 'first', tags: ['old'] })
})
after(() => bench.close())

const run = async (): Promise<RunSummary> =>
  expecting<{ readonly run: RunSummary }>(200, await bench.send('GET', '/api/v1/runs/a%2Fb')).run

test('a run can be pinned and unpinned, with a notice', async () => {
  const pinned = await bench.form('/ui/runs/a%2Fb/pin', { pinned: 'true', return_to: '/replay?q=first' })
  assert.equal(pinned.status, 303)
  assert.equal(pinned.headers.location, '/replay?q=first&notice=run-pinned#run-a/b', 'the list, at the run')
  assert.equal((await run()).pinned, true)
  const text = await bench.page('/replay?q=first&notice=run-pinned')
  assert.match(text, /role="status">Pinned\. Retention leaves this run alone\.</)
  assert.match(text, /name="pinned" value="false" data-key="p" aria-label="Unpin first">★/)
  const own = await bench.form('/ui/runs/a%2Fb/pin', { pinned: 'false', return_to: '/replay/a%2Fb?view=raw' })
  assert.equal(own.headers.location, '/replay/a%2Fb?view=raw&notice=run-unpinned')
  assert.equal((await run()).pinned, false)
})

test('tags are trimmed, deduplicated and saved', async () => {
  const answer = await bench.form('/ui/runs/a%2Fb/tags', { tags: ' nightly , slow,, nightly' })
  assert.equal(answer.headers.location, '/replay/a%2Fb?notice=run-tags-saved')
  assert.deepEqual((await run()).tags, ['nightly', 'slow'])
})

test('quoted tags do not change when saved again', async () => {
  const tags = ['plain', 'a, b', '"quoted" word', '"', 'say "hi", then']
  await bench.trace({ trace_id: 'tagged', tags })
  const shown = /name="tags" value="([^"]*)"/.exec(await bench.page('/replay/tagged'))?.[1] ?? ''
  await bench.form('/ui/runs/tagged/tags', { tags: shown.replaceAll('&quot;', '"') })
  const { run } = expecting<{ run: { tags: readonly string[] } }>(200, await bench.send('GET', '/api/v1/runs/tagged'))
  assert.deepEqual(run.tags, tags)
})

test('invalid tags return to the form with an error', async () => {
  const tags = `fine, ${'x'.repeat(65)}`
  const { status, text } = await bench.form('/ui/runs/a%2Fb/tags', { tags })
  assert.equal(status, 422)
  const form = partOf(text, 'tags')
  assert.match(text, /<details id="tags" open>/)
  assert.ok(form.includes(`value="${tags}"`))
  assert.match(form, /id="tags-fault">A tag has 1 to 64 characters\./)
  assert.deepEqual((await run()).tags, ['nightly', 'slow'])
})

test('a failure tag can be set, and derived again', async () => {
  await bench.form('/ui/runs/a%2Fb/failure-tag', { failure_tag: 'timeout' })
  assert.equal((await run()).failure_tag, 'timeout')
  assert.match(await bench.page('/replay/a%2Fb'), /<option value="timeout" selected>/)
  await bench.form('/ui/runs/a%2Fb/failure-tag', { failure_tag: '' })
  assert.equal((await run()).failure_tag, null)
  assert.equal((await bench.form('/ui/runs/a%2Fb/failure-tag', { failure_tag: 'sad' })).status, 422)
})

test('a form for a missing run gives an error', async () => {
  assert.equal((await bench.form('/ui/runs/none/pin', { pinned: 'true' })).status, 404)
  assert.equal((await bench.form('/ui/runs/a%2Fb/pin', { pinned: 'perhaps' })).status, 422)
})

test('the import page lists formats and redirects to the import', async () => {
  assert.equal((await bench.send('GET', '/ui/runs/import')).headers.location, '/replay/import')
  const text = await bench.page('/replay/import')
  assert.match(text, /action="\/ui\/runs\/import" enctype="multipart\/form-data"/)
  assert.match(text, /exported as json, jsonl, otel, at most 67\.1 MB/)
  assert.match(await bench.page('/replay?notice=runs-imported'), /role="status">Imported\.</)
})
