import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { aSessionRow, NOON } from 'guard-gateway/test'
import { at, type PageBench, partOf, rowIds, startPages, textOf } from './kit.ts'

let bench: PageBench
before(async () => {
  bench = await startPages()
})
after(() => bench.close())

const run = (trace_id: string, more: object = {}) => ({
  trace_id,
  name: `run ${trace_id}`,
  spans: [{ name: 'step', start_ns: at(0), end_ns: at(1_500) }],
  ...more,
})

test('an empty list has a command to copy', async () => {
  const empty = await startPages()
  const text = await empty.page('/replay')
  assert.match(text, /<code>guard run -- claude<\/code> <button data-copy="guard run -- claude">/)
  await empty.close()
})

test('the form chooses among values that the list takes', async () => {
  const text = await bench.page('/replay?failure_tag=none')
  const values = (name: string) => {
    const [, options = ''] = new RegExp(`<select name="${name}">(.*?)</select>`, 's').exec(text) ?? []
    return [...options.matchAll(/<option value="([^"]*)"( selected)?/g)].map(
      ([, value, selected]) => value + (selected ?? ''),
    )
  }
  assert.deepEqual(values('failure_tag').slice(0, 4), ['', 'any', 'none selected', 'loop'])
  assert.deepEqual(values('playground'), [' selected', 'false', 'true'])
  assert.deepEqual(values('status').slice(0, 2), [' selected', 'running'])
  for (const failure_tag of values('failure_tag')) await bench.page(`/replay?failure_tag=${failure_tag.split(' ')[0]}`)
})

test('a row has name, status, failure with evidence, duration, tokens, cost and session', async () => {
  await bench.trace(
    run('row', {
      project_id: 'demo',
      agent_name: 'coder',
      session_id: 'chat-1',
      status: 'error',
      spans: [
        {
          id: 'ask',
          name: 'gen_ai.request',
          start_ns: at(0),
          end_ns: at(12_400),
          attributes: {
            'gen_ai.usage.input_tokens': 8_000,
            'gen_ai.usage.output_tokens': 100,
            'guard.cost_micro': 21_000,
          },
          events: [{ name: 'loop.detected' }],
        },
      ],
    }),
  )
  const row = partOf(await bench.page('/replay?project_id=demo'), 'run-row')
  assert.match(textOf(row), /☆ run row coder demo ✕ error loop 12\.4 s 8\.1k 0\.021 2 chat-1$/)
  assert.match(row, /<a href="\/replay\/row\?span=ask#span-ask">loop<\/a>/)
  assert.match(row, /<a class="id" href="\/replay\?session_id=chat-1">/)
  assert.match(row, /<a href="\/agents\/coder"><bdi>coder<\/bdi><\/a>/)
  assert.match(row, /formaction="\/ui\/runs\/row\/pin" name="pinned" value="true"/)
})

test('an unnamed run has the model or tool of its first step as title', async () => {
  await bench.trace({
    trace_id: 'nameless',
    project_id: 'nameless',
    spans: [{ name: 'tool.call', attributes: { 'gen_ai.tool.name': 'read_file' } }],
  })
  assert.match(
    await bench.page('/replay?project_id=nameless'),
    /<a href="\/replay\/nameless"><bdi>read_file<\/bdi><\/a>/,
  )
})

test('the title of an unnamed run is its session, else its task', async () => {
  const row = { ...aSessionRow(), id: 'ses_titled', name: 'night shift' }
  await bench.gateway.storage.put('sessions', row)
  const spans = [{ name: 'tool.call', attributes: { 'gen_ai.tool.name': 'read_file' } }]
  const body = { project_id: 'titled', task_id: 'TASK-7', spans }
  await bench.trace({ ...body, trace_id: 'of-session', session_id: 'ses_titled' })
  await bench.trace({ ...body, trace_id: 'of-task' })
  const text = await bench.page('/replay?project_id=titled')
  assert.match(text, /<a href="\/replay\/of-session"><bdi>night shift<\/bdi><\/a>/)
  assert.match(text, /<a href="\/replay\/of-task"><bdi>TASK-7<\/bdi><\/a>/)
  assert.match(await bench.page('/replay/of-session'), /<h1>night shift<\/h1>/)
})

test('the filters equal those of the API, and the form retains them', async () => {
  await bench.trace(run('found', { spans: [{ name: 'step', attributes: { note: 'pelican' } }] }))
  const text = await bench.page('/replay?q=pelican&status=&sort=duration&agent_name=')
  assert.deepEqual(rowIds(text), ['run-found'])
  assert.match(text, /name="q" value="pelican"/)
  assert.match(text, /<input type="hidden" name="sort" value="duration">/)
  const none = await bench.page('/replay?q=albatross')
  assert.match(
    textOf(none),
    /No run matches\. Words are looked for whole; pars\* finds what begins so\. Clear the filters/,
  )
  assert.match(textOf(await bench.page('/replay?q=albat*&status=ok')), /No run matches\. Clear the filters/)
  assert.match(textOf(await bench.page('/replay?project_id=nam')), /No run matches\. Names are compared whole\./)
})

test('an invalid filter shows its error and the typed value', async () => {
  const text = await bench.page('/replay?q=%2C&model=m', 400)
  assert.match(text, /name="q" value="," aria-invalid="true" aria-describedby="fault"/)
  assert.match(text, /<p class="faults" id="fault" role="alert">&quot;q&quot; must be words/)
  assert.match(text, /name="model" list="models" value="m"/)
  await bench.page('/replay?colour=red', 400)
})

test('column heads sort, and reverse on a second click', async () => {
  const first = await bench.page('/replay?sort=cost')
  assert.match(first, /aria-sort="descending"><a href="\/replay\?sort=cost&amp;order=asc">Cost<\/a>/)
  assert.match(first, /aria-sort="none"><a href="\/replay\?sort=duration">Duration<\/a>/)
  assert.match(await bench.page('/replay?sort=cost&order=asc'), /aria-sort="ascending"><a href="\/replay\?sort=cost">/)
})

test('pages lead to older runs and back without repeats', async () => {
  for (let i = 0; i < 7; i++) await bench.trace(run(`page-${i}`, { project_id: 'paged' }))
  const seen: string[] = []
  const links: string[] = []
  let path: string | undefined = '/replay?project_id=paged&limit=3'
  let text = ''
  while (path !== undefined) {
    links.push(path)
    text = await bench.page(path)
    seen.push(...rowIds(text))
    path = /<a href="([^"]*)" rel="next">/.exec(text)?.[1]?.replaceAll('&amp;', '&')
  }
  assert.deepEqual(
    seen,
    [6, 5, 4, 3, 2, 1, 0].map((i) => `run-page-${i}`),
  )
  assert.equal(links.length, 3)
  for (const link of links.slice(0, -1).reverse()) {
    const newer = /<a href="([^"]*)" rel="prev">/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? ''
    text = await bench.page(newer)
    assert.deepEqual(rowIds(text), rowIds(await bench.page(link)))
  }
})

test('only the first page is live', async () => {
  const first = await bench.page('/replay?project_id=paged&limit=3')
  assert.match(first, /<div data-live="\*">/)
  const next = /<a href="([^"]*)" rel="next">/.exec(first)?.[1]?.replaceAll('&amp;', '&') ?? ''
  const later = await bench.page(next)
  assert.doesNotMatch(later, /data-live/)
  const said =
    '<p id="news" class="news" data-seen="run-page-6" data-what="run" hidden><a href="/replay?project_id=paged&amp;limit=3"></a></p>'
  assert.ok(later.includes(said))
  // other sort orders do not put new runs first
  const sorted = await bench.page('/replay?project_id=paged&limit=3&sort=cost')
  const link = /<a href="([^"]*)" rel="next">/.exec(sorted)?.[1]?.replaceAll('&amp;', '&') ?? ''
  assert.doesNotMatch(await bench.page(link), /id="news"/)
})

test('fifty rows are at most 60 KB', async () => {
  for (let i = 0; i < 50; i++)
    await bench.trace(
      run(i.toString(16).padStart(32, 'a'), { project_id: 'full', agent_name: 'worker', session_id: `session-${i}` }),
    )
  const text = await bench.page('/replay?project_id=full')
  assert.equal(rowIds(text).length, 50)
  assert.ok(Buffer.byteLength(text) <= 60_000, `${Buffer.byteLength(text)} bytes`)
})

test('hostile names are escaped, and invisible characters are shown', async () => {
  await bench.trace({
    trace_id: 'hostile',
    project_id: 'hostile',
    name: '"><img src=x onerror=alert(1)>\u202e</script>',
    agent_name: "javascript:alert('1')",
  })
  const text = await bench.page('/replay?project_id=hostile')
  assert.match(text, /&quot;&gt;&lt;img src=x onerror=alert\(1\)&gt;U\+202E&lt;\/script&gt;/)
  assert.doesNotMatch(text, /<img|\u202e|href="javascript:/)
})

test('the runs of a session are below its totals and actions', async () => {
  const row = {
    ...aSessionRow(),
    id: 'ses_sums',
    external_id: 'chat 7',
    requests: 12,
    total_tokens: 34_000,
    cost_micro: 5_000,
    flagged: 2,
    blocked: 1,
    created_at: NOON,
    last_seen_at: NOON + 90_000,
  }
  await bench.gateway.storage.put('sessions', row)
  await bench.trace(run('in-session', { session_id: 'ses_sums' }))
  const text = await bench.page('/replay?session_id=ses_sums')
  assert.deepEqual(rowIds(text), ['run-in-session'])
  assert.match(
    textOf(text),
    /Session ses_sums chat 7 .*1 min 30 s from first to last request · 12 requests · 34\.0k tokens · 0\.005 cost · 2 flagged · 1 blocked/,
  )
  assert.match(text, /action="\/ui\/sessions\/ses_sums\/pause"/)
  assert.match(textOf(await bench.page('/replay?session_id=chat+7')), /Session ses_sums chat 7/)
  assert.match(
    textOf(await bench.page('/replay?session_id=theirs')),
    /Runs of session theirs , which this gateway has not led itself/,
  )
})

test('a writer can send any status', async () => {
  const attributes = { decision: 'constructor' }
  const events = [{ name: 'policy.decision', attributes }]
  await bench.trace(run('odd', { project_id: 'odd', status: 'constructor', events }))
  assert.match(textOf(partOf(await bench.page('/replay?project_id=odd'), 'run-odd')), / · constructor /)
  assert.match(await bench.page('/replay/odd?view=events'), /<strong class="warning">constructor<\/strong>/)
})

test('a search retains every tag and model of the address', async () => {
  const text = await bench.page('/replay?tag=one&tag=two&model=small&model=big')
  assert.deepEqual(
    [...text.matchAll(/name="(tag|model)"(?: list="models")? value="(\w+)"/g)].map(
      ([, name, value]) => `${name} ${value}`,
    ),
    ['tag one', 'tag two', 'model small', 'model big'],
  )
})

test('an unknown status is an error, as in the API', async () => {
  const text = await bench.page('/replay?status=eror', 400)
  assert.match(text, /role="alert">No run has status &quot;eror&quot;; there is running/)
})

test('an unknown back cursor leads to the newest page, with a note', async () => {
  const text = await bench.page('/replay?project_id=paged&limit=3')
  const older = /<a href="([^"]*)" rel="next">/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? ''
  assert.match(await bench.page(older), /<a href="\/replay\?project_id=paged&amp;limit=3" rel="prev">← newest<\/a>/)
})

test('pages of other sort orders are not called newer or older', async () => {
  const text = await bench.page('/replay?project_id=paged&limit=3&order=asc')
  const next = /<a href="([^"]*)" rel="next">next →</.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? ''
  assert.match(await bench.page(next), / rel="prev">← first<\/a>/)
})
