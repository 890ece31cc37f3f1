import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { at, type PageBench, partOf, rowIds, startPages, textOf } from '../kit.ts'

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

test('spans are paired by name and number on request, with links to both sides', async () => {
  const text = await bench.page('/replay/compare?left=old&right=new&align=name')
  assert.deepEqual(rowIds(text), ['row-agent.run#1', 'row-tool.call#1', 'row-tool.call#2', 'row-command.exec#1'])
  assert.equal(
    textOf(partOf(text, 'row-tool.call#1')),
    '~ tool.call#1 read_file → write_file ✓ ok 1.0 s 3.0 s 2.0 s slower',
  )
  assert.match(partOf(text, 'row-tool.call#1'), /href="\/replay\/old\?span=x#span-x"/)
  assert.equal(textOf(partOf(text, 'row-command.exec#1')), '− command.exec#1 ✕ error 2.0 s – only left')
})

test('chips filter rows, and spans can be paired by label', async () => {
  const rows = async (query: string) =>
    rowIds(await bench.page(`/replay/compare?left=old&right=new&align=name&${query}`))
  assert.deepEqual(await rows('rows=slower'), ['row-tool.call#1'])
  assert.deepEqual(await rows('rows=left'), ['row-command.exec#1'])
  assert.deepEqual(await rows('rows=right'), ['row-tool.call#2'])
  assert.deepEqual(await rows('rows=tool'), ['row-tool.call#1'])
  assert.ok(
    rowIds(await bench.page('/replay/compare?left=old&right=new&align=label')).includes('row-tool.call[read_file]#1'),
  )
})

test('links filter the rows and pair them in another way, and name the chosen one', async () => {
  const text = await bench.page('/replay/compare?left=old&right=new&rows=left')
  const links = (label: string) => {
    const [, nav = ''] = new RegExp(`<nav [^>]*aria-label="${label}">(.*?)</nav>`, 's').exec(text) ?? []
    return [...nav.matchAll(/href="([^"]*)"( aria-current="true")?>([^<]*)/g)].map(
      ([, href = '', current, name]) =>
        `${name}: ${href.replaceAll('&amp;', '&').replace('/replay/compare?', '')}${current ?? ''}`,
    )
  }
  assert.deepEqual(links('Rows'), [
    'All: left=old&right=new',
    'Changed: left=old&right=new&rows=changed',
    'Slower: left=old&right=new&rows=slower',
    'Only left (1): left=old&right=new&rows=left aria-current="true"',
    'Only right (1): left=old&right=new&rows=right',
    'Other tool or model (0): left=old&right=new&rows=tool',
  ])
  assert.deepEqual(links('Pairing'), [
    'As sequences: rows=left&left=old&right=new aria-current="true"',
    'By name and label: rows=left&left=old&right=new&align=label',
    'By name: rows=left&left=old&right=new&align=name',
  ])
})

test('rows that are changed, and what only one side has, say so', async () => {
  const rows = async (query: string) => bench.page(`/replay/compare?left=old&right=new&align=name&${query}`)
  assert.deepEqual(rowIds(await rows('rows=changed')), ['row-tool.call#1', 'row-tool.call#2', 'row-command.exec#1'])
  const text = await rows('')
  assert.match(partOf(text, 'row-tool.call#1'), /<span class="warning" title="changed">~</)
  assert.match(partOf(text, 'row-command.exec#1'), /<span class="warning" title="only left">−</)
  assert.match(textOf(partOf(text, 'row-tool.call#2')), /^\+ tool\.call#2 read_file ✓ ok – 500 ms only right/)
  assert.match(textOf(await rows('rows=tool&unfold=x')), /tool\.call#1/)
  const same = await bench.page('/replay/compare?left=old&right=old&rows=changed')
  assert.match(same, /<p class="empty">No row is like this\.<\/p>/)
})

test('an attribute that differs is named with both values, three of them at most', async () => {
  const span = (attributes: object) => [step('s', 'step', 0, attributes)]
  await bench.trace({ trace_id: 'mild', spans: span({ a: 1, b: 1, c: 1, d: 1, gone: 'x' }) })
  await bench.trace({ trace_id: 'hot', spans: span({ a: 2, b: 2, c: 2, d: 1 }) })
  const row = partOf(await bench.page('/replay/compare?left=mild&right=hot&align=name'), 'row-step#1')
  assert.match(row, /title="a: 1 → 2\nb: 1 → 2\nc: 1 → 2\ngone: x → none">other a, b, c and 1 more</)
})

test('three equal steps are folded, two are not, and 300 rows are a page', async () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => command(`c${index}`, index * 20))
  for (const count of [2, 3]) {
    await bench.trace({ trace_id: `few-${count}`, spans: many(count) })
    await bench.trace({ trace_id: `none-${count}`, spans: [] })
    const text = await bench.page(`/replay/compare?left=none-${count}&right=few-${count}&rows=right`)
    assert.equal(rowIds(text).length, count === 2 ? 2 : 1)
  }
  const long = Array.from({ length: 300 }, (_, index) => step(`l${index}`, `step-${index}`, index * 20, {}))
  await bench.trace({ trace_id: 'long', spans: long })
  const page = async (query: string) => {
    const text = await bench.page(`/replay/compare?left=long&${query}`)
    return [rowIds(text).length, textOf(/<nav class="pages".*?<\/nav>/s.exec(text)?.[0] ?? '')]
  }
  assert.deepEqual(await page('right=long&after=300'), [1, '← previous 301 to 301 of 301'])
  assert.deepEqual(await page('right=long&after=301'), [300, '1 to 300 of 301 next →'])
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
  assert.doesNotMatch(text, /50 in all/)
  await bench.trace({ trace_id: 'many-51', project_id: 'many' })
  assert.match(
    await bench.page('/replay/compare?left=many-0'),
    /then the newest, 50 in all;.*href="\/replay\?project_id=many"/,
  )
})

const step = (id: string, name: string, ms: number, attributes: object) => ({
  id,
  name,
  start_ns: at(ms),
  end_ns: at(ms + 10),
  attributes,
})
const command = (id: string, ms: number) => step(id, 'command.exec', ms, { command: 'npm test' })
const model = (id: string, ms: number, tokens: number) =>
  step(id, 'gen_ai.request', ms, {
    'gen_ai.request.model': 'gpt',
    'gen_ai.usage.input_tokens': tokens,
    'gen_ai.usage.output_tokens': 0,
    'guard.cost_micro': tokens * 10,
  })

test('runs are compared as sequences: where they part, what repeats, tokens and cost of each step', async () => {
  const root = (spans: readonly object[]) => [{ id: 'r', name: 'agent.run', start_ns: at(0), end_ns: at(900), spans }]
  await bench.trace({ trace_id: 'good', spans: root([model('m', 0, 1_000), command('c', 20)]) })
  const repeats = Array.from({ length: 6 }, (_, index) => command(`x${index}`, 100 + index * 20))
  await bench.trace({ trace_id: 'loop', spans: root([model('m', 0, 3_500), command('c', 20), ...repeats]) })
  const text = await bench.page('/replay/compare?left=good&right=loop')
  assert.match(textOf(text), /They part at step 3: left ends, right repeats npm test six times\. right /)
  assert.match(text, /<a href="\/replay\/loop\?span=x0#span-x0">right<\/a>/)
  assert.deepEqual(rowIds(text), [
    'row-agent.run#1',
    'row-gen_ai.request#1',
    'row-command.exec#1',
    'row-+command.exec#2',
  ])
  assert.match(textOf(partOf(text, 'row-gen_ai.request#1')), /gpt ✓ ok 10 ms 10 ms 2\.5k more 0\.025 more$/)
  const folded = partOf(text, 'row-+command.exec#2'.replace('+', '\\+'))
  assert.equal(textOf(folded), '+ command.exec#2 ×6 npm test ✓ ok – 60 ms only right')
  const [, href = ''] = /href="([^"#]*unfold=[^"#]*)/.exec(folded) ?? []
  assert.equal(rowIds(await bench.page(href.replaceAll('&amp;', '&'))).length, 9)
  assert.match(textOf(await bench.page('/replay/compare?left=good&right=good')), /Both took the same steps\./)
})

test('runs of the same task come first among those to choose from, and words find others', async () => {
  const run = (trace_id: string, more: object) => bench.trace({ trace_id, project_id: 'shop', ...more })
  await run('mine', { name: 'cart rounding', task_id: 'cart-1' })
  await run('same-task', { name: 'another name', task_id: 'cart-1' })
  for (let other = 0; other < 60; other++) await run(`other-${other}`, { name: 'cart rounding', task_id: `x-${other}` })
  const text = await bench.page('/replay/compare?left=mine')
  assert.equal(rowIds(text)[0], 'run-same-task')
  assert.match(textOf(partOf(text, 'run-same-task')), /another name same task/)
  assert.doesNotMatch(textOf(partOf(text, 'run-other-59')), /same task/)
  assert.match(text, /<input type="hidden" name="left" value="mine">.*<input type="search" name="q"/)
  assert.deepEqual(rowIds(await bench.page('/replay/compare?left=mine&q=another')), ['run-same-task'])
  assert.match(textOf(await bench.page('/replay/compare?left=mine&q=nowhere')), /No other run of the project/)
  const found = await bench.page('/replay/compare?left=mine&q=another')
  assert.match(found, /href="\/replay\/compare\?left=mine&amp;right=same-task"/)
  await run('nameless', {})
  await run('named', { name: 'tidy up' })
  await run('named-too', { name: 'tidy up' })
  assert.equal(rowIds(await bench.page('/replay/compare?right=named'))[0], 'run-named-too')
})
