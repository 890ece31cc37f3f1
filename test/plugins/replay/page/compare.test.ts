import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { at, type PageBench, partOf, rowIds, startPages, textOf } from './kit.ts'

let bench: PageBench
before(async () => {
  bench = await startPages()
  const root = (ms: number, spans: readonly object[]) => [{ name: 'agent.run', start_ns: at(0), end_ns: at(ms), spans }]
  await bench.trace({
    trace_id: 'old',
    project_id: 'demo',
    name: 'before',
    status: 'error',
    spans: root(12_400, [
      { id: 'x', name: 'tool.call', start_ns: at(0), end_ns: at(1_000), attributes: { 'tool.name': 'read_file' } },
      { id: 'y', name: 'command.exec', start_ns: at(2_000), end_ns: at(4_000), status: 'error' },
    ]),
  })
  await bench.trace({
    trace_id: 'new',
    project_id: 'demo',
    name: 'after',
    spans: root(10_300, [
      { name: 'tool.call', start_ns: at(0), end_ns: at(3_000), attributes: { 'tool.name': 'write_file' } },
      { name: 'tool.call', start_ns: at(4_000), end_ns: at(4_500), attributes: { 'tool.name': 'read_file' } },
    ]),
  })
  await bench.trace({ trace_id: 'other', project_id: 'elsewhere', name: 'third' })
})
after(() => bench.close())

test('differences are right minus left, and swapping negates them', async () => {
  const text = await bench.page('/replay/compare?left=old&right=new')
  assert.match(textOf(text), /Duration 12\.4 s 10\.3 s 2\.1 s faster/)
  assert.match(textOf(text), /Status ✕ error ✓ ok changed/)
  assert.match(text, /<a href="\/replay\/compare\?left=new&amp;right=old">Swap sides<\/a>/)
  assert.match(textOf(await bench.page('/replay/compare?left=new&right=old')), /Duration 10\.3 s 12\.4 s 2\.1 s slower/)
})

test('spans are paired by name and number, with links to both sides', async () => {
  const text = await bench.page('/replay/compare?left=old&right=new')
  assert.deepEqual(rowIds(text), ['row-agent.run#1', 'row-tool.call#1', 'row-tool.call#2', 'row-command.exec#1'])
  assert.equal(
    textOf(partOf(text, 'row-tool.call#1')),
    '~ tool.call#1 read_file → write_file ✓ ok 1.0 s 3.0 s 2.0 s slower',
  )
  assert.match(partOf(text, 'row-tool.call#1'), /href="\/replay\/old\?span=x#span-x"/)
  assert.equal(textOf(partOf(text, 'row-command.exec#1')), '− command.exec#1 ✕ error 2.0 s – only left')
})

test('chips filter rows, and spans can be paired by label', async () => {
  const rows = async (query: string) => rowIds(await bench.page(`/replay/compare?left=old&right=new&${query}`))
  assert.deepEqual(await rows('rows=slower'), ['row-tool.call#1'])
  assert.deepEqual(await rows('rows=left'), ['row-command.exec#1'])
  assert.deepEqual(await rows('rows=right'), ['row-tool.call#2'])
  assert.deepEqual(await rows('rows=tool'), ['row-tool.call#1'])
  assert.ok((await rows('align=label')).includes('row-tool.call[read_file]#1'))
})

test('the older of two selected runs is on the left', async () => {
  const text = await bench.page('/replay/compare?run=new&run=old')
  assert.match(text, /<span class="quiet">Left<\/span> <a href="\/replay\/old">before<\/a>/)
  await bench.page('/replay/compare?run=new&run=old&run=other', 400)
})

test('with one side selected the runs of its project are listed', async () => {
  const text = await bench.page('/replay/compare?left=old')
  assert.deepEqual(rowIds(text), ['run-new'])
  assert.match(text, /href="\/replay\/compare\?left=old&amp;right=new"/)
  assert.match(await bench.page('/replay/compare?right=old'), /href="\/replay\/compare\?left=new&amp;right=old"/)
  assert.match(textOf(await bench.page('/replay/compare')), /No run is chosen/)
})

test('runs of two projects give a warning, and a missing run an error', async () => {
  assert.match(await bench.page('/replay/compare?left=old&right=other'), /belong to two projects, demo and elsewhere/)
  assert.match(await bench.page('/replay/compare?left=old&right=none', 404), /There is no run &quot;none&quot;/)
})

test('the difference of a running run is unknown', async () => {
  await bench.trace({ trace_id: 'going', project_id: 'demo', status: 'running', spans: [] })
  const text = textOf(await bench.page('/replay/compare?left=old&right=going'))
  assert.match(text, /Duration 12\.4 s running not known yet/)
})

test('an address with an unknown filter shows all rows', async () => {
  for (const rows of ['none-such', 'constructor', '__proto__', 'hasOwnProperty'])
    assert.equal(rowIds(await bench.page(`/replay/compare?left=old&right=new&rows=${rows}`)).length, 4, rows)
})

test('a limited list of runs says so', async () => {
  for (let at = 0; at < 51; at++) await bench.trace({ trace_id: `many-${at}`, project_id: 'many' })
  const text = await bench.page('/replay/compare?left=many-0')
  assert.equal(rowIds(text).length, 50)
  assert.doesNotMatch(text, /The newest 50/)
  await bench.trace({ trace_id: 'many-51', project_id: 'many' })
  assert.match(await bench.page('/replay/compare?left=many-0'), /The newest 50;.*href="\/replay\?project_id=many"/)
})
